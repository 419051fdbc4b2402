# SPDX-License-Identifier: Apache-2.0
"""What several verbs are asked alike, and what the rooms take made of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
import math
from pathlib import Path
from typing import Any

from walking_control.cli.verb import (
    argument,
    count,
    duration,
    not_negative,
    numbers,
    option,
    Options,
    seed,
    setting,
)
from walking_control.controllers import Controller, CONTROLLERS
from walking_control.exceptions import InvalidInput, MissingDependency, refusing, require
from walking_control.lab import experiments
from walking_control.loading import load_robot, PLANTS
from walking_control.models import gait_path, RobotFile, World
from walking_control.simulation.sensors import noise_overrides, SensorParameters

ROBOT = 'name of a robot, or the path of a robot file'
OR_URDF = ROBOT + ', or of a URDF'
DISTURB = (
    'step_down, step_up (m), push, side_push (N s/kg) or slope_change (rad) at a touchdown; robots '
    'in space also at a part of a step after it (push=0.5@12.25), a time (push=0.5@4.5s) or a '
    'place (step_up=0.03@2m), their pushes with :direction=DEGREES, :duration=S (0.1), :link=NAME; '
    'repeatable'
)
RECORDED = ' (default: the one that was recorded)'


class Answered(Options):
    """Of every verb but monitor."""

    json: bool = option('print one JSON document')


class Writing(Answered):
    """Of verbs that write files."""

    out: Path | None = option('write plots, tables and a report', 'DIR')
    made: list[Path]  # folders made for it, innermost first

    def prepare(self) -> None:
        """Make the folder before the long run; note what was made."""
        if self.out is None or self.out.is_dir():
            return
        self.made = [folder for folder in (self.out, *self.out.parents) if not folder.exists()]
        with refusing(
            OSError,
            f'folder {self.out}',
            limit='cannot be made: {error.strerror}',
            remedy='choose another --out',
        ):
            self.out.mkdir(parents=True, exist_ok=True)


class Common(Writing):
    """Of most verbs."""

    set: list[tuple[str, Any]] = option(
        'override a parameter of the robot file (repeatable)', 'NAME=VALUE', setting
    )


class OnFloor(Common):
    """Of verbs that load a robot on its floor."""

    robot: str = argument(ROBOT)
    slope_deg: float | None = option('downhill positive', 'D')


class Learned(Options):
    """Of verbs to which a policy may be told."""

    controller: str | None = option(
        lambda: ', '.join(CONTROLLERS) + " (default: the robot file's)", 'C'
    )
    policy: Path | None = option('ONNX file of a learned policy, for controller policy', 'FILE')
    policy_config: str | None = option(
        'YAML that says what the policy takes and gives, or name of a shipped one (default: the '
        'one beside it, else its metadata)',
        'FILE',
    )


class Moved(OnFloor, Learned):
    """Of verbs in which a law moves a robot on a plant."""

    plant: str | None = option(lambda: ', '.join(PLANTS) + " (default: the robot file's)", 'P')


class Timed(Moved):
    """For a while."""

    duration: float = option('simulated time in s (default: 20)', 'S', duration, default=20.0)


class Following(Moved):
    """Along a gait."""

    gait: Path | None = option(
        'gait file the controller follows, or name of a shipped one (default: the one of the '
        'robot)',
        'FILE',
    )
    on_gait: bool = option(
        'begin on the gait, just after a touchdown, instead of where the robot file starts'
    )


class Disturbed(Options):
    """With disturbances."""

    disturb: list[str] = option(DISTURB, 'KIND=SIZE@WHEN')


class Sensed(Options):
    """With sensors that err."""

    noise: str | None = option(
        'how good the sensors are: none, lab, rough, or the path of a '
        "preset file (default: the robot file's sensors)",
        'PRESET',
    )
    delay: float | None = option(
        'from a command to its effect (sensors.command_delay)', 'S', not_negative
    )
    noise_seed: int | None = option(
        "seed of the sensors' errors (default: the robot file's, 0)", 'N', seed, '--seed'
    )


class Seeded(Options):
    """By chance."""

    seed: int = option('seed of random numbers (default: 0)', 'N', seed, default=0)


class Recorded(Options):
    """Kept as a bag."""

    record: Path | None = option(
        'write what the controller hears and answers as a rosbag2', 'FILE.mcap'
    )


class Enveloped(
    Options,
    group=(
        'robots in space',
        'pushes from all sides at all parts of a step, or floors that change '
        'at several places, by bisection; as many trials at once as there are processors',
    ),
):
    """Of an envelope."""

    directions: int | None = option('of pushes, evenly all around (default: 12)', 'N', count)
    direction: Sequence[float] | None = option(
        'these instead, degrees from ahead to the left', 'D[,D]', numbers
    )
    phases: int | None = option(
        'parts of a step, evenly; places of an edge within it (default: 8)', 'N', count
    )
    phase: Sequence[float] | None = option('these instead, 0 up to 1', 'P[,P]', numbers)
    after: float | None = option(
        'how long it has to walk afterwards (default: 20 s)', 'S', duration
    )
    settling: int | None = option(
        'least touchdowns before; more until it walks evenly (default: 12)', 'N', count
    )
    processes: int | None = option('trials at once', 'N', count)
    quick: bool = option('4 directions, 2 phases, 5 s afterwards, every other size')


class OfBag(Common):
    """Of verbs about a recording."""

    recording: Path = argument('.mcap or folder of a rosbag2', 'FILE')
    robot: str | None = option(ROBOT + RECORDED, 'ROBOT')


@contextmanager
def needing_ros(verb: str, otherwise: str = '') -> Iterator[None]:
    """Say what to install where an import of ROS 2 fails; otherwise: what serves without it."""
    with refusing(
        ImportError,
        verb,
        limit='needs ROS 2 ({error})',
        remedy=f'source a ROS 2 installation or pip install "walking_control[ros]"{otherwise}',
        error=MissingDependency,
    ):
        yield


def requested_robot(options: OnFloor) -> RobotFile:
    """Return the `RobotFile` a verb is about, overrides applied."""
    # first, so that the end of a name means a parameter of what was chosen
    overrides = [
        (name, chosen)
        for name in ('controller', 'plant')
        if (chosen := getattr(options, name, None)) is not None
    ]
    overrides += settings_of(options)
    if isinstance(options, Moved):
        overrides += policy_settings(options)
    robot_file = load_robot(options.robot, overrides)
    _check_seed(options, robot_file)
    if not isinstance(options, Following):
        return robot_file
    if options.gait is not None:
        overrides += gait_settings(options.gait, options.controller or robot_file.controller)
        robot_file = load_robot(options.robot, overrides)
    if options.on_gait:
        robot_file = load_robot(options.robot, [*overrides, *_start_on_gait(options, robot_file)])
    return robot_file


def policy_settings(options: Learned) -> list[tuple[str, Any]]:
    """Return the overrides that --policy and --policy-config stand for."""
    if options.policy is None:
        return []
    chosen = [] if options.controller else [('controller', 'policy')]
    config = [] if options.policy_config is None else [('policy.config', options.policy_config)]
    return [*chosen, ('policy.file', str(options.policy.resolve())), *config]


def settings_of(options: OnFloor) -> list[tuple[str, Any]]:
    """Return the overrides that options stand for; --set may change those of the sensors."""
    settings: list[tuple[str, Any]] = []
    if isinstance(options, Sensed):
        settings += noise_overrides(options.noise)
        settings += [
            (name, value)
            for name, value in (
                ('sensors.command_delay', options.delay),
                ('sensors.seed', options.noise_seed),
            )
            if value is not None
        ]
    slope = [] if options.slope_deg is None else [('world.slope', math.radians(options.slope_deg))]
    return [*settings, *options.set, *slope]


def walking_robot(options: Moved, speed: float | None) -> RobotFile:
    """Return the `RobotFile` of `requested_robot` in space with a speed above zero to walk at."""
    robot_file = requested_robot(options)
    law = CONTROLLERS.find(options.controller or robot_file.controller).parameters
    walks = robot_file.robot.is_free and 'speed' in law.rows
    require(
        speed is None or walks,
        'option --speed',
        value=speed,
        limit=f'has no effect: {law.section} on {robot_file.robot.name} takes none',
        remedy='leave it out',
    )
    if not walks or speed is None and robot_file.values(law).speed != 0.0:
        return robot_file
    usual = experiments.envelope.SPEED
    options.set = [(f'{law.section}.speed', usual if speed is None else speed), *options.set]
    return requested_robot(options)


def requested_grid(options: Enveloped) -> experiments.envelope.Grid:
    """Return the `Grid` of the envelope that is asked for."""
    even_grid = experiments.envelope.even_grid
    usual = experiments.envelope.QUICK if options.quick else even_grid()
    given: dict[str, Any] = {'after': options.after, 'settling': options.settling}
    if options.directions is not None:
        given['directions'] = even_grid(directions=options.directions).directions
    if options.phases is not None:
        given['phases'] = even_grid(phases=options.phases).phases
    if options.direction is not None:
        given['directions'] = tuple(math.radians(angle) for angle in options.direction)
    if options.phase is not None:
        given['phases'] = tuple(options.phase)
        for phase in options.phase:
            require(
                0.0 <= phase < 1.0,
                'option --phase',
                value=phase,
                limit='is a part of a step: from 0, below 1',
            )
    return usual._replace(**{name: value for name, value in given.items() if value is not None})


def refuse_grid(options: Enveloped, why: str) -> None:
    """Refuse options of envelopes where there is none."""
    for name in Enveloped.__annotations__:
        value = getattr(options, name)
        require(
            not value,
            f'option --{name}',
            value=None if value is True else value,
            limit=f'has no effect: {why}',
            remedy='leave it out',
        )


def _check_seed(options: OnFloor, robot_file: RobotFile) -> None:
    """Refuse a seed of errors that the sensors do not make."""
    seed = options.noise_seed if isinstance(options, Sensed) else None
    if seed is None:
        return
    perfect = vars(SensorParameters.read({'seed': seed}))
    require(
        vars(robot_file.values(SensorParameters)) != perfect,
        'option --seed',
        value=seed,
        limit='has no effect: sensors are perfect',
        remedy='choose --noise lab, or --set of a parameter of sensors',
    )


def gait_settings(gait: Path | None, *controllers: str) -> list[tuple[str, Any]]:
    """Return the overrides that --gait stands for, of those controllers that follow one."""
    if gait is None:
        return []
    laws = [CONTROLLERS.find(name) for name in controllers]
    followers = [law.parameters.section for law in laws if 'gait' in law.parameters.rows]
    if not followers:
        _require_follower(laws[0], 'option --gait', str(gait))
    return [(f'{name}.gait', str(gait_path(gait).resolve())) for name in dict.fromkeys(followers)]


def _require_follower(law: type[Controller], option: str, value: str | None) -> None:
    """Refuse an option about gaits for a controller that follows none."""
    if 'gait' not in law.parameters.rows:
        followers = sorted(
            name for name, other in CONTROLLERS.items() if 'gait' in other.parameters.rows
        )
        raise InvalidInput(
            option,
            value=value,
            limit=f'controller {law.name} follows no gait',
            remedy='choose --controller ' + ' or '.join(followers),
        )


def _start_on_gait(options: Following, robot_file: RobotFile) -> list[tuple[str, Any]]:
    """Return the overrides that let a walk begin on the gait its controller follows."""
    from walking_control.gaits.gait_file import fit_gait, read_gait

    law, robot = CONTROLLERS.find(options.controller or robot_file.controller), robot_file.robot
    _require_follower(law, 'option --on-gait', None)
    require(
        not robot.is_free,
        'option --on-gait',
        limit=f'has no effect: {law.name} begins standing and enters its gait by steps',
        remedy='leave it out',
    )
    path = gait_path(robot_file.values(law.parameters).gait or robot.name)
    q, v = fit_gait(read_gait(path), path, robot, robot_file.values(World), any_slope=True).start
    return [('start.support', robot.feet[0]), ('start.q', q.tolist()), ('start.v', v.tolist())]


def require_rigid(options: Moved) -> None:
    """Refuse a plant other than rigid."""
    require(
        options.plant in (None, 'rigid'),
        'plant',
        value=options.plant,
        limit='this verb runs on plant rigid',
    )
