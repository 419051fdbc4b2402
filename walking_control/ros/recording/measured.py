# SPDX-License-Identifier: Apache-2.0
"""Logs of real robots as recordings: MATLAB 5 and 7.3, CSV, by a layout that names the columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from walking_control.estimation.leg_chains import find_leg_chains
from walking_control.exceptions import import_optional, InvalidInput, refusing, require
from walking_control.models import Command, Dynamics, Measurement, read_yaml, RobotFile
from walking_control.ros.recording import Messages, PACKAGE, ROBOT_FILE, robot_file_text, type_store
from walking_control.ros.ros2_control import judge_record, LiveRecord, names, RECORDED
from walking_control.runs.tables import read_columns

UNITS = {
    's': 1.0,
    'ms': 1e-3,
    'us': 1e-6,
    'ns': 1e-9,
    'rad': 1.0,
    'deg': math.radians(1.0),
    'rad/s': 1.0,
    'deg/s': math.radians(1.0),
    'm': 1.0,
    'mm': 1e-3,
    'm/s^2': 1.0,
    'g': 9.80665,
    'N': 1.0,
    'kg': 9.80665,
    '1': 1.0,
}
SHAKEN = 0.5  # s: over which cubics tell how a base without an IMU accelerates
REST = 0.5  # s at the beginning in which a robot rests, whose IMU tells no orientation
SPACING = 0.04  # s between rows that are compared with each other
WIDTHS = {'xyzw': 4, 'wxyz': 4, 'rpy': 3}


def import_log(path: Path, layout: Path, robot_file: RobotFile, out: Path) -> list[str]:
    """Write a log as a rosbag2 (MCAP) that `replay`, `plot` and `estimate` read.

    Args:
        path: Of the log: ``.mat`` or text with a header, separated by commas.
        layout: YAML that names columns, units and frames; see doc/measurements.md.
        out: Folder of the rosbag2; it must not exist yet.

    Returns:
        What could not be judged of the log, or was left out.

    Raises:
        MissingDependency: h5py or rosbags is not installed.
        InvalidInput: A file cannot be read, does not hold what the layout names, or what it holds
            cannot be of this robot.
    """
    require(not out.exists(), f'recording {out}', limit='exists', remedy='choose another --out')
    log = _Log(path, read_yaml(layout, f'layout {layout}'), robot_file)
    problems, remarks = log.judge()
    if problems:
        raise problems[0]
    _write(out, robot_file, log)
    return remarks


class _Log:
    """The numbers of a log in our units and orders, T rows, named as in a `Measurement`."""

    def __init__(self, path: Path, layout: Any, robot_file: RobotFile) -> None:
        require(
            isinstance(layout, dict),
            'layout',
            value=layout,
            limit='must map time, joints, imu and feet to columns',
        )
        self._layout, self._robot_file, self._robot = layout, robot_file, robot_file.robot
        self._dynamics, self._column = Dynamics(robot_file.robot), _reader(path)
        self.remarks: list[str] = []
        self.time = self._take(('time',), 's', None)[:, 0]
        self._check_stamps()
        self.position, self.velocity = self._joints()
        self.truth = self._read_truth()
        if 'imu' in layout or self.truth is None:
            self.angular_velocity = self._take(('imu', 'angular_velocity'), 'rad/s', 3)
            self.linear_acceleration = self._take(('imu', 'linear_acceleration'), 'm/s^2', 3)
            self.orientation = self._orient()
        else:
            self._imagine_imu(self.truth)
        self.foot_force = self._forces()
        self.own = {
            name: self._take(
                ('signals', name), row.kind.unit, len(Measurement(self._robot).own[name])
            )
            for name, row in self._robot.signals.items()
        }
        if self.truth is not None:
            self._align()

    def judge(self) -> tuple[list[InvalidInput], list[str]]:
        """Return what cannot be, by rates all along and by gravity at rest; and remarks."""
        found, remarks = [], list(self.remarks)
        # stamps that jitter would make rates of next to nothing
        even = np.arange(self.time[0], self.time[-1], SPACING)
        nearest = np.searchsorted(self.time, even)
        for times in (even[:12], even):
            position, velocity, angular = (
                np.column_stack([np.interp(times, self.time, column) for column in values.T])
                for values in (self.position, self.velocity, self.angular_velocity)
            )
            rows = nearest[: len(times)]
            problems, left_out = judge_record(
                self._robot_file,
                LiveRecord(
                    list(times),
                    list(position),
                    list(velocity),
                    list(self.orientation[rows]),
                    list(angular),
                    list(self.linear_acceleration[rows]),
                    list(self.foot_force[rows]),
                ),
            )
            # what no cause is known of is for whoever reads it: real sensors are no better
            found += [problem for problem in problems if problem.remedy]
            left_out += [str(problem) for problem in problems if not problem.remedy]
            remarks += [words for words in left_out if words not in remarks]
        return found, remarks

    def _take(self, keys: Sequence[str], unit: str, width: int | None) -> np.ndarray:
        """Return ``(T, width)`` of what the layout names, in a unit of ours."""
        told: Any = self._layout
        where = '.'.join(keys)
        for key in keys:
            told = told.get(key) if isinstance(told, Mapping) else None
        require(
            isinstance(told, Mapping) and 'column' in told,
            f'layout {where}',
            value=told,
            limit='must name its column: {column: NAME, unit: UNIT}',
        )
        given = told.get('unit', unit)
        require(
            given in UNITS or given == unit,
            f'layout {where}.unit',
            value=given,
            limit='must be among ' + ', '.join(UNITS),
        )
        columns = told['column'] if isinstance(told['column'], list) else [told['column']]
        values = np.column_stack([self._column(str(name)) for name in columns])
        values = values * UNITS.get(given, 1.0) * float(told.get('factor', 1.0))
        require(
            width in (None, values.shape[1]),
            f'layout {where}',
            value=values.shape[1],
            limit=f'columns; must be {width}',
        )
        column, rows = f'column {told["column"]}', len(values if where == 'time' else self.time)
        require(
            np.isfinite(values).all(),
            column,
            value='NaN or infinity',
            limit='must hold numbers in all rows',
        )
        require(len(values) == rows, column, value=len(values), limit=f'rows; time has {rows}')
        return values

    def _check_stamps(self) -> None:
        steps = np.diff(self.time)
        if len(steps) < 10 or (steps < 0.0).any():
            row = int(np.argmax(steps < 0.0)) if len(steps) else 0
            raise InvalidInput(
                'stamps of the log',
                value=len(self.time) if len(steps) < 10 else f'row {row + 2} before row {row + 1}',
                limit='must be ten at least and never go back',
            )
        kept = np.append(True, steps > 0.0)
        if not kept.all():
            self.remarks.append(f'{int((~kept).sum())} rows repeat a stamp')
        if steps.max() > 0.1:
            self.remarks.append(f'a gap of {steps.max():.3g} s')

    def _joints(self) -> tuple[np.ndarray, np.ndarray]:
        robot, told = self._robot, self._layout.get('joints')
        listed: Any = told.get('names') if isinstance(told, Mapping) else None
        require(
            listed and isinstance(listed, list),
            'layout joints.names',
            value=listed,
            limit='must list the joints in the order of their columns',
        )
        unknown = [str(name) for name in listed if name not in robot.joints]
        require(
            not unknown,
            'layout joints.names',
            value=', '.join(unknown),
            limit=f'no joints of {robot.name}',
            remedy='choose another --robot',
        )
        own = [robot.joints.index(name) for name in listed]
        legs = {robot.joints[i] for i in find_leg_chains(self._dynamics).joint.flat if i >= 0}
        missing = [joint for joint in robot.joints if joint not in listed]
        require(
            not (set(missing) & legs),
            'layout joints.names',
            value='without ' + ', '.join(joint for joint in missing if joint in legs),
            limit='must hold all joints of legs',
        )
        if missing:
            self.remarks.append('not in the log, held at zero: ' + ', '.join(missing))
        position = np.zeros((len(self.time), len(robot.joints)))
        velocity = position.copy()
        position[:, own] = self._take(('joints', 'position'), 'rad', len(listed))
        if isinstance(told, Mapping) and 'velocity' in told:
            velocity[:, own] = self._take(('joints', 'velocity'), 'rad/s', len(listed))
        else:
            velocity[:, own] = np.gradient(position[:, own], self.time, axis=0)
            self.remarks.append(
                'joint velocities are differences of positions: set estimator.tachometers=false'
            )
        return position, velocity

    def _forces(self) -> np.ndarray:
        force = np.zeros((len(self.time), len(self._robot.feet), 3))
        for i, foot in enumerate(self._robot.feet):
            values = self._take(('feet', foot), 'N', None)
            require(
                values.shape[1] in (1, 3),
                f'layout feet.{foot}',
                value=values.shape[1],
                limit='columns; must be 1, the normal force, or 3',
            )
            force[:, i, -values.shape[1] :] = values
        return force

    def _rotations(self, *keys: str) -> Rotation:
        """Return rotations of a frame to the world, T of them."""
        told = self._layout
        for key in keys:
            told = told[key]
        form = told.get('form', 'xyzw')
        require(
            form in WIDTHS,
            f'layout {".".join(keys)}.form',
            value=form,
            limit='must be among ' + ', '.join(WIDTHS),
        )
        values = self._take(keys, 'rad' if form == 'rpy' else '1', WIDTHS[form])
        if form == 'rpy':
            return Rotation.from_euler('xyz', values)
        require(
            values.any(axis=1).all(),
            f'layout {".".join(keys)}',
            value=[0.0] * 4,
            limit='must be quaternions in all rows',
            remedy='leave out the rows in which nothing was seen',
        )
        return Rotation.from_quat(values if form == 'xyzw' else np.roll(values, -1, axis=1))

    def _read_truth(self) -> np.ndarray | None:
        """Return pose and twist of the base as `names.TRUTH` tells them, ``(T, 13)``."""
        if 'truth' not in self._layout:
            return None
        frame = str(self._layout['truth'].get('frame', self._robot.base_link))
        at, turned = self._placed(frame)
        rotation = self._rotations('truth', 'orientation') * Rotation.from_matrix(turned.T)
        position = self._take(('truth', 'position'), 'm', 3) - rotation.apply(at)
        turns = (rotation[:-1].inv() * rotation[1:]).as_rotvec()
        steps = np.maximum(np.diff(self.time), 1e-6)[:, None]
        return np.hstack(
            (
                position,
                rotation.as_quat(),
                np.gradient(
                    position,
                    np.maximum.accumulate(self.time + 1e-9 * np.arange(len(self.time))),
                    axis=0,
                ),
                np.vstack((turns / steps, turns[-1:] / steps[-1])),
            )
        )

    def _placed(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return where a link that rests in the base is, in its axes."""
        dynamics = self._dynamics
        return dynamics.placement(
            dynamics.configuration(np.zeros(len(self._robot.joints))), dynamics.frame(link)
        )

    def _orient(self) -> np.ndarray:
        """Return the orientation of the IMU, xyzw; from gravity and the gyroscope if not told."""
        if 'orientation' in self._layout['imu']:
            return np.asarray(self._rotations('imu', 'orientation').as_quat())
        rest = self.time < self.time[0] + REST
        up = np.median(self.linear_acceleration[rest], axis=0)
        turns = [pin.Quaternion.FromTwoVectors(up, np.array([0.0, 0.0, 1.0])).matrix()]
        bias = np.median(self.angular_velocity[rest], axis=0)
        for w, h in zip(self.angular_velocity, np.diff(self.time)):
            turns.append(turns[-1] @ pin.exp3((w - bias) * h))
        self.remarks.append(
            'the IMU tells no orientation: from gravity at the beginning, then by the gyroscope'
        )
        return np.asarray(Rotation.from_matrix(np.array(turns)).as_quat())

    def _imagine_imu(self, truth: np.ndarray) -> None:
        """Let the IMU say what one on a base that moves as told would say."""
        from scipy.signal import savgol_filter  # takes a second to import

        at, turned = self._placed(self._robot.imu_link)
        base = Rotation.from_quat(truth[:, 3:7])
        place, turns = truth[:, :3] + base.apply(at), base * Rotation.from_matrix(turned)
        step = max(float(np.median(np.diff(self.time))), 1e-6)
        window = min(max(2 * round(0.5 * SHAKEN / step) + 1, 5), len(place))
        pull = savgol_filter(place, window, 3, deriv=2, delta=step, axis=0)
        self.linear_acceleration = turns.inv().apply(pull + [0.0, 0.0, UNITS['g']])
        self.orientation = np.asarray(turns.as_quat())
        self.angular_velocity = truth[:, 10:] @ turned
        self.remarks.append('no IMU: made of how the base moves, so it tells an estimator nothing')

    def _align(self) -> None:
        """Turn the world of the truth so that it has the robot head at first as the IMU has it."""
        assert self.truth is not None
        _, imu = self._placed(self._robot.imu_link)
        seen = Rotation.from_quat(self.orientation[0]) * Rotation.from_matrix(imu.T)
        true = Rotation.from_quat(self.truth[:, 3:7])
        (x, y, _), (a, b, _) = seen.as_matrix()[:, 0], true[0].as_matrix()[:, 0]
        turn = Rotation.from_euler('z', math.atan2(y, x) - math.atan2(b, a))
        for part in (slice(0, 3), slice(7, 10)):
            self.truth[:, part] = turn.apply(self.truth[:, part])
        self.truth[:, 3:7] = (turn * true).as_quat()


def _reader(path: Path) -> Callable[[str], np.ndarray]:
    """Return a function from the name of a column to ``(T, n)``."""
    with refusing(
        (OSError, ValueError, TypeError, NotImplementedError),
        f'log {path}',
        limit='cannot be read: {error}',
    ):
        if path.is_dir():
            held: Mapping[str, Any] = {
                f'{file.name.partition(".")[0]}.{name}': values
                for file in sorted(path.glob('*.csv*'))
                for name, values in read_columns(file).items()
            }
        elif path.suffix != '.mat':
            table = np.genfromtxt(
                path, delimiter=',', names=True, deletechars='', dtype=float, encoding='utf-8'
            )
            held = {name: table[name] for name in table.dtype.names or ()}
        elif path.read_bytes()[:10] == b'MATLAB 7.3':
            file = import_optional('h5py', 'MATLAB 7.3').File(path)
            held = {name: file[name][()] for name in file if hasattr(file[name], 'shape')}
        else:
            from scipy.io import loadmat

            held = {name: values for name, values in loadmat(path).items() if name[:2] != '__'}

    def column(name: str) -> np.ndarray:
        require(
            name in held,
            f'log {path}',
            limit=f'has no column {name}',
            remedy='it has ' + ', '.join(sorted(held)[:30]),
        )
        values = np.atleast_2d(np.asarray(held[name], dtype=float))
        return values.T if values.shape[0] < values.shape[1] else values

    return column


def _write(out: Path, robot_file: RobotFile, log: _Log) -> None:
    rosbag2 = import_optional('rosbags.rosbag2', 'a recording', PACKAGE)
    with rosbag2.Writer(out, version=8, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        store, channels = type_store(), {}
        for topic, message, stamp in _messages(robot_file, log):
            kind = message.__msgtype__
            if topic not in channels:
                channels[topic] = writer.add_connection(f'/{topic}', kind, typestore=store)
            writer.write(channels[topic], stamp, store.serialize_cdr(message, kind))


def _messages(robot_file: RobotFile, log: _Log) -> Iterator[tuple[str, Any, int]]:
    """Yield topic, message and stamp in ns of all rows."""
    robot = robot_file.robot
    make, measurement, command = Messages(robot), Measurement(robot), Command(robot)
    measurement.locked[:] = True
    begin = round(1e9 * float(log.time[0]))
    yield ROBOT_FILE, make.string(robot_file_text(robot_file)), begin
    yield names.ROBOT_DESCRIPTION, make.string(robot.urdf), begin
    for row, time in enumerate(log.time.tolist()):
        stamp = round(1e9 * time)
        for name in RECORDED:
            getattr(measurement, name)[:] = getattr(log, name)[row]
        for name, values in log.own.items():
            measurement.own[name][:] = values[row]
        if log.truth is not None:
            yield names.TRUTH, make.odometry(log.truth[row], divmod(stamp, 10**9)), stamp
        for topic, message in make.tick(measurement, command, divmod(stamp, 10**9), 0):
            if not topic.endswith('_controller/commands'):
                yield topic, message, stamp
