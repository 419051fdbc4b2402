# SPDX-License-Identifier: Apache-2.0
"""What several verbs are asked alike: robot, floor, law, plant, gait, sensors, disturbances."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from walking_control.cli.argument_types import count, duration, not_negative, numbers, seed, setting
from walking_control.cli.verb import argument, option, Options
from walking_control.controllers.registry import CONTROLLERS
from walking_control.simulation.registry import PLANTS

ROBOT = 'name of a robot, or the path of a robot file'
OR_URDF = ROBOT + ', or of a URDF'
DISTURB = (
    'step_down, step_up (m), push, side_push (N s/kg) or slope_change (rad) at a touchdown; robots '
    'in space also at a part of a step after it (push=0.5@12.25), a time (push=0.5@4.5s) or a '
    'place (step_up=0.03@2m), their pushes with :direction=DEGREES, :duration=S (0.1), :link=NAME; '
    'repeatable')
RECORDED = ' (default: the one that was recorded)'


class Answered(Options):
    """Of every verb but monitor."""

    json: bool = option('print one JSON document')


class Writing(Answered):
    """Of verbs that write files."""

    out: Path | None = option('write plots, tables and a report', 'DIR')


class Common(Writing):
    """Of most verbs."""

    set: list[tuple[str, Any]] = option(
        'override a parameter of the robot file (repeatable)', 'NAME=VALUE', setting)


class OnFloor(Common):
    """Of verbs that load a robot on its floor."""

    robot: str = argument(ROBOT)
    slope_deg: float | None = option('downhill positive', 'D')


class Moved(OnFloor):
    """Of verbs in which a law moves a robot on a plant."""

    controller: str | None = option(
        lambda: ', '.join(CONTROLLERS) + " (default: the robot file's)", 'C')
    plant: str | None = option(lambda: ', '.join(PLANTS) + " (default: the robot file's)", 'P')


class Timed(Moved):
    """For a while."""

    duration: float = option('simulated time in s (default: 20)', 'S', duration, default=20.0)


class Following(Moved):
    """Along a gait."""

    gait: Path | None = option(
        'gait file the controller follows, or name of a shipped one (default: the one of the '
        'robot)', 'FILE')
    on_gait: bool = option('begin on the gait, just after a touchdown, instead of where the robot '
                           'file starts')


class Disturbed(Options):
    """With disturbances."""

    disturb: list[str] = option(DISTURB, 'KIND=SIZE@WHEN')


class Sensed(Options):
    """With sensors that err."""

    noise: str | None = option('how good the sensors are: none, lab, rough, or the path of a '
                               "preset file (default: the robot file's sensors)", 'PRESET')
    delay: float | None = option('from a command to its effect (sensors.command_delay)', 'S',
                                 not_negative)
    noise_seed: int | None = option("seed of the sensors' errors (default: the robot file's, 0)",
                                    'N', seed, '--seed')


class Seeded(Options):
    """By chance."""

    seed: int = option('seed of random numbers (default: 0)', 'N', seed, default=0)


class Recorded(Options):
    """Kept as a bag."""

    record: Path | None = option('write what the controller hears and answers as a rosbag2',
                                 'FILE.mcap')


class Enveloped(Options, group=(
        'robots in space', 'pushes from all sides at all parts of a step, or floors that change '
        'at several places, by bisection; as many trials at once as there are processors')):
    """Of an envelope."""

    directions: int | None = option('of pushes, evenly all around (default: 12)', 'N', count)
    direction: Sequence[float] | None = option('these instead, degrees from ahead to the left',
                                               'D[,D]', numbers)
    phases: int | None = option('parts of a step, evenly; places of an edge within it (default: '
                                '8)', 'N', count)
    phase: Sequence[float] | None = option('these instead, 0 up to 1', 'P[,P]', numbers)
    after: float | None = option('how long it has to walk afterwards (default: 20 s)', 'S',
                                 duration)
    settling: int | None = option('touchdowns before (default: 12)', 'N', count)
    processes: int | None = option('trials at once', 'N', count)
    quick: bool = option('4 directions, 2 phases, 5 s afterwards, every other size')


class OfBag(Common):
    """Of verbs about a recording."""

    recording: Path = argument('.mcap or folder of a rosbag2', 'FILE')
    robot: str | None = option(ROBOT + RECORDED, 'ROBOT')
