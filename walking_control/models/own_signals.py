# SPDX-License-Identifier: Apache-2.0
"""Signals of a robot's own: rows of its robot file, each of a kind of this table or all its own.

A package adds a kind by an entry point of the group ``walking_control.signals``: its name is that
of the kind, its object a `Kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
import math
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from walking_control.exceptions import require, require_known, RobotFileError
from walking_control.models import mapping, parameter, Parameters, require_part
from walking_control.models.signals import (
    Bounds,
    JOINT_STATE_BROADCASTER,
    JOINTS,
    OWN,
    Sensor,
    Signal,
    STATE,
    topic_word,
)

if TYPE_CHECKING:
    from walking_control.models.robot import Robot

GROUP = 'walking_control.signals'
UNITS = tuple('rad,rad/s,rad/s^2,m,m/s,m/s^2,N,N m,A,V,W,J,K,degC,Pa,s,Hz,kg,1'.split(','))
RANGE, TEMPERATURE = 'sensor_msgs/msg/Range', 'sensor_msgs/msg/Temperature'


class Kind(NamedTuple):
    """What signals of a kind have in common; a row may say otherwise."""

    unit: str  # of `UNITS`
    message: str = STATE  # type in ROS; of a `STATE` the labels are joints
    field: str = 'effort'  # of the message, with dots between
    axes: str = ''  # of a vector in the field, such as ``'xyz'``; empty: a number
    lower: float = math.nan  # bounds; NaN: each row must say them
    upper: float = math.nan
    topic: str = ''  # relative; empty: under a broadcaster of its own
    meaning: str = ''  # half a sentence
    # of a plant and a `Sensor`: what an ideal one says; None: what ``at_rest`` says
    sense: Callable[[Any, Sensor], Any] | None = None


KINDS = {
    'effort': Kind(
        'N m',
        lower=-math.inf,
        upper=math.inf,
        topic='joint_states',
        meaning='effort that a drive measures, or a torque sensor in a joint; bounds, where not '
        'written, are 1.5 times the largest effort of the motor',
        sense=lambda plant, sensor: plant.motor_efforts(sensor),
    ),
    'current': Kind(
        'A',
        meaning='current of a motor',
        sense=lambda plant, sensor: plant.motor_currents(sensor),
    ),
    'temperature': Kind('degC', lower=-40.0, upper=150.0, meaning='temperature of a motor'),
    'link_temperature': Kind(
        'degC', TEMPERATURE, 'temperature', '', -40.0, 150.0, meaning='temperature of a link'
    ),
    'range': Kind(
        'm',
        RANGE,
        'range',
        meaning='distance along the x axis of a link to what it meets',
        sense=lambda plant, sensor: plant.floor_distance(sensor),
    ),
    'corner_force': Kind(
        'N',
        'geometry_msgs/msg/WrenchStamped',
        'wrench.force',
        'z',
        meaning='force on a part of a sole with a link of its own: a corner, heel or toe',
    ),
}


@cache
def signal_kinds() -> dict[str, Kind]:
    """Return name -> `Kind`, those of other packages, too; `InvalidInput`: one is unusable."""
    kinds = dict(KINDS)
    for point in entry_points(group=GROUP):
        found = point.load()
        require(
            isinstance(found, Kind) and point.name not in kinds,
            f'signal kind {point.name}',
            value=point.value,
            limit='is there twice' if point.name in kinds else 'is no Kind of own_signals',
        )
        kinds[point.name] = found
    return kinds


class SignalParameters(Parameters, section='signals'):
    """Of a row of ``robot.signals``, beside ``of``: joints or the link that it tells of."""

    kind: str = parameter('', '', 'Kind from which the row takes what it leaves out.')
    unit: str = parameter('', '', 'Unit of the numbers, in SI.')
    message: str = parameter('', '', 'Type of the message, such as sensor_msgs/msg/Range.')
    field: str = parameter('', '', 'Where in the message, with dots between.')
    topic: str = parameter('', '', 'Relative topic; empty: that of its own broadcaster.')
    lower: float = parameter(0.0, '1', 'Least number that can be, in the unit of the row.')
    upper: float = parameter(0.0, '1', 'Largest number that can be.')
    change: float = parameter(0.0, '1', 'Largest change between measurements; 0: any.', 0.0)
    noise: float = parameter(0.0, '1', 'Standard deviation of a simulated one.', 0.0)
    delay: float = parameter(0.0, 's', 'Age of a simulated one, in whole measurements.', 0.0, 1.0)
    at_rest: float = parameter(0.0, '1', 'What a simulated one says that no plant measures.')
    title: str = parameter('', '', 'Title of its plot, which rows may share; empty: its name.')


@dataclass(frozen=True)
class OwnSignal:
    """A row of ``robot.signals``, read and checked."""

    name: str
    of: tuple[str, ...]  # joints of a `STATE`, else a link
    kind: Kind
    values: SignalParameters

    def sensor(self, robot: Robot) -> Sensor:
        """Return it as a `Sensor`; one in ``joint_states`` has the name of the joint states."""
        kind, controller = self.kind, f'{topic_word(self.name)}_broadcaster'
        state, known = kind.message == STATE, kind.topic == 'joint_states'
        labels = self.of if state else tuple(kind.axes) or ('',)
        last = kind.field.rpartition('.')[2]
        title = self.values.title or self.name.replace('_', ' ')
        name = ('effort' if known else self.name) if state else last
        signal = Signal(
            name,
            kind.unit,
            labels,
            title,
            kind.field,
            self._judge,
            self.name if state else last,
            self.values.noise,
            row=self.name,
        )
        end = 'joint_states' if state else last
        return Sensor(
            JOINTS if known else self.name,
            JOINTS if known else OWN,
            kind.message,
            JOINT_STATE_BROADCASTER if known else controller,
            kind.topic or f'{controller}/{end}',
            '' if state else self.of[0],
            (signal,),
        )

    def _judge(self, robot: Robot, safety: Any, label: str) -> Bounds:
        """Judge it by its bounds; those of an effort without any are of the motor's."""
        lower, upper = self.kind.lower, self.kind.upper
        if math.isinf(upper):
            limits = dict(zip(robot.efforts, 1.5 * robot.effort_limits))
            upper = limits.get(label, robot.limits[label].effort)
            lower = -upper
        return Bounds(OWN, OWN, float(lower), float(upper), self.values.change or math.inf, 0.0)

    def ideal(self, plant: Any, sensor: Sensor) -> np.ndarray:
        """Return what an ideal one says of a plant now."""
        sense = self.kind.sense
        rest = min(max(self.values.at_rest, self.kind.lower), self.kind.upper)
        return np.asarray(rest if sense is None else sense(plant, sensor), float)


def read_signals(
    section: Mapping[str, Any],
    joints: tuple[str, ...],
    motors: Mapping[str, Any],
    links: set[str],
    taken: set[str],
) -> dict[str, OwnSignal]:
    """Return the rows of ``robot.signals`` by name.

    Args:
        section: As the robot file has it.
        joints: Of the robot.
        motors: By joint: what a row of joints tells of unless it says so.
        links: Of the URDF.
        taken: Names of other sensors.

    Raises:
        RobotFileError: A row has a name or topic of another's, no bounds or unit, or tells of
            nothing that is there.
    """
    rows: dict[str, OwnSignal] = {}
    for name, given in section.items():
        place = f'robot.signals.{name}'
        told = dict(mapping(given, place))
        of = told.pop('of', [])
        values = SignalParameters.read(told, place=place)
        kind = _kind(place, told, values)
        state = kind.message == STATE
        names = tuple([of] if isinstance(of, str) else of) or (tuple(motors) if state else ())
        for each in names:
            require_part(each, joints if state else links, 'joint' if state else 'link', place)
        require(
            names and (state or len(names) == 1) and len(set(names)) == len(names),
            f'{place}.of',
            value=list(names),
            limit='must name ' + ('joints, each once' if state else 'one link'),
            error=RobotFileError,
        )
        row = rows[name] = OwnSignal(name, names, kind, values)
        topics = [(other.kind.topic or other.name, other.kind.field) for other in rows.values()]
        require(
            topic_word(name) not in map(topic_word, taken) and len(set(topics)) >= len(topics),
            place,
            value=kind.topic or name,
            limit='is there twice: another signal has this name, or topic and field',
            remedy='give it a name or a topic of its own',
            error=RobotFileError,
        )
        taken = {*taken, row.name}
    return rows


def _kind(place: str, told: Mapping[str, Any], values: SignalParameters) -> Kind:
    """Return the `Kind` of a row with what the row says otherwise."""
    known = signal_kinds()
    require(
        not values.kind or values.kind in known,
        f'{place}.kind',
        value=values.kind,
        limit='unknown',
        remedy='known: ' + ', '.join(known) + '; or leave it out and write all of it',
        error=RobotFileError,
    )
    given = {key: getattr(values, key) for key in Kind._fields if key in told}
    plain = known.get(values.kind, Kind('', '', ''))
    kind = plain._replace(**given)
    require(
        kind.unit in (plain.unit, plain.unit.removesuffix(' m')) or not values.kind,
        f'{place}.unit',
        value=kind.unit,
        limit=f'must be {plain.unit}, as of every signal of the kind {values.kind}',
        remedy='convert it in the driver; or leave the kind out and write all of the row',
        error=RobotFileError,
    )
    for key in ('unit', 'message', 'field'):
        require(
            getattr(kind, key),
            f'{place}.{key}',
            limit='missing in a signal without a kind',
            error=RobotFileError,
        )
    require_known(kind.unit, UNITS, f'{place}.unit', RobotFileError, kind.unit)
    require(
        kind.lower < kind.upper,
        f'{place}.lower, upper',
        value=[kind.lower, kind.upper],
        limit='must be two bounds, lower below upper: without them nothing can judge it',
        error=RobotFileError,
    )
    require(
        'at_rest' not in told or kind.lower <= values.at_rest <= kind.upper,
        f'{place}.at_rest',
        value=values.at_rest,
        limit='must lie within lower and upper',
        error=RobotFileError,
    )
    return kind
