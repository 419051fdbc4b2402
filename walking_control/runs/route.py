# SPDX-License-Identifier: Apache-2.0
"""Routes: what a walker is asked for, one segment after the other, and how it is pushed."""

from collections.abc import Mapping
import itertools
from pathlib import Path
from typing import NamedTuple

from walking_control.exceptions import ParameterError, require
from walking_control.models import finite, mapping, parameter, Parameters, read_yaml, route_path

PUSH_TIME = 0.1  # s a push lasts


class SegmentParameters(Parameters, section='segments'):
    """Of a segment, as a route file writes it."""

    name: str = parameter('', '', 'What it is called in the report.')
    duration: float = parameter(2.0, 's', 'How long it lasts.', 0.1, 3600.0)
    ahead: float = parameter(0.0, 'm/s', 'Speed ahead asked for.', -10.0, 10.0)
    left: float = parameter(0.0, 'm/s', 'Speed to the left.', -10.0, 10.0)
    turn: float = parameter(0.0, 'rad/s', 'Rate of turning to the left.', -10.0, 10.0)
    stop: bool = parameter(False, '', 'Ask to stop instead; a later segment asks to start again.')
    push: float = parameter(0.0, 'N s/kg', 'Push on the base, per mass of the robot.', -10.0, 10.0)
    push_at: float = parameter(0.0, 's', 'When, since the segment began.', 0.0, 3600.0)
    push_direction: float = parameter(
        0.0, 'deg', 'Where it points: 0 ahead, 90 to the left.', -360.0, 360.0
    )

    def check(self) -> None:
        """Refuse a push that outlasts its segment, and a stop with a velocity."""
        require(
            not self.push or self.push_at + PUSH_TIME <= self.duration,
            'parameter segments.push_at',
            value=self.push_at,
            limit=f'the push, which lasts {PUSH_TIME:g} s, must be over '
            f'before the segment ({self.duration:g} s)',
            error=ParameterError,
        )
        require(
            not self.stop or (not self.ahead and not self.left and not self.turn),
            'parameter segments.stop',
            value=self.stop,
            limit='a segment that stops has no velocity',
            error=ParameterError,
        )


class Segment(NamedTuple):
    """A part of a route.

    Attributes:
        name: Of it.
        begin, end: When, s since the route began.
        velocity: Asked for: ahead (m/s), to the left (m/s), turning to the left (rad/s).
        stop: Whether to stop instead.
        push: N s per kg of robot; 0: none.
        push_at: When, s since the route began.
        push_direction: Where it points, deg from ahead to the left.
    """

    name: str
    begin: float
    end: float  # when, s since the route began
    # asked for: ahead (m/s), to the left (m/s), turning to the left (rad/s)
    velocity: tuple[float, float, float]
    stop: bool
    push: float
    push_at: float
    push_direction: float


class Route(NamedTuple):
    """What a walker is asked for.

    Attributes:
        segments: The `Segment` list, without gaps.
        noise: Preset of noise it is meant to be walked with, or None.
        posture: (joint, rad) of the posture it begins in; else that of the robot file.
        controller: Name of the law it is meant to be walked with; else that of the robot file.
    """

    segments: tuple[Segment, ...]  #: the `Segment` list, without gaps
    noise: str | None = None  #: preset of noise it is meant to be walked with, or None
    #: (joint, rad) of the posture it begins in; else that of the robot file
    posture: tuple[tuple[str, float], ...] = ()
    #: name of the law it is meant to be walked with; else that of the robot file
    controller: str | None = None

    @property
    def overrides(self) -> list[tuple[str, float | str]]:
        """Its controller and posture as overrides for `load_robot`."""
        law = [] if self.controller is None else [('controller', self.controller)]
        return [*law, *((f'start.posture.{joint}', angle) for joint, angle in self.posture)]

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return self.segments[-1].end


def read_route(name_or_path: str | Path) -> Route:
    """Return the route of a file, or the shipped one of this name.

    Args:
        name_or_path: Name of a shipped route or path of a YAML file.

    Raises:
        InvalidInput: There is none, it cannot be read, or it holds what no segment has.
    """
    what = f'route {name_or_path}'
    content = read_yaml(route_path(name_or_path), what)
    require(
        isinstance(content, Mapping)
        and isinstance(content.get('segments'), list)
        and content['segments']
        and set(content) <= {'segments', 'noise', 'posture', 'controller'},
        what,
        limit='must hold segments, a list, and perhaps noise, controller and posture',
    )
    noise, controller = content.get('noise'), content.get('controller')
    for key, value in (('noise', noise), ('controller', controller)):
        require(
            isinstance(value, (str, type(None))),
            f'{key} of {what}',
            value=value,
            limit='must be a name',
        )
    posture = mapping(content.get('posture', {}), f'posture of {what}')
    values = [SegmentParameters.read(entry) for entry in content['segments']]
    ends = list(itertools.accumulate(entry.duration for entry in values))
    return Route(
        tuple(
            Segment(
                entry.name or f'segment {number}',
                end - entry.duration,
                end,
                (entry.ahead, entry.left, entry.turn),
                entry.stop,
                entry.push,
                end - entry.duration + entry.push_at,
                entry.push_direction,
            )
            for number, (entry, end) in enumerate(zip(values, ends, strict=True), 1)
        ),
        noise,
        tuple(
            (str(joint), finite(angle, f'posture of {what}, joint {joint}'))
            for joint, angle in posture.items()
        ),
        controller,
    )
