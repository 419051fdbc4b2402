# SPDX-License-Identifier: Apache-2.0
"""A recording of what a controller node hears and answers, from activate to deactivate."""

import os
from pathlib import Path
from typing import Any

from rclpy.logging import get_logging_directory

from walking_control.control_loop import ControlLoop
from walking_control.exceptions import MissingDependency
from walking_control.models.robot_file import RobotFile
from walking_control.models.signals import Measurement
from walking_control.ros.recording.recorder import numbered, Recorder
from walking_control.ros.recording.ticks import type_store

LOG = 'log'


class TickRecorder:
    """One bag for every activation, one for every fault; where one exists, names get a number.

    Args:
        logger: Of the node; what ends a recording is said there, once.
        values: The node's parameters, with ``record``, ``record_faults`` and ``realtime``.
        controller: Name of the controller.

    Raises:
        MissingDependency: rosbags is not installed, and a file is asked for by name.
    """

    def __init__(self, logger: Any, values: Any, robot_file: RobotFile, controller: str) -> None:
        self._logger = logger
        self._parts = robot_file, controller
        self._path = Path(values.record) if values.record else None
        self._faults = Path(values.record_faults) if values.record_faults else None
        self._recorder: Recorder | None = None
        if values.record_faults == LOG:
            self._faults = (
                _log_folder() / f'{robot_file.robot.name}_fault.mcap' if values.realtime else None
            )
        try:
            if self._path or self._faults:
                type_store()  # now, not in the middle of a start
        except MissingDependency as error:
            if self._path or values.record_faults != LOG:
                raise
            self._faults = None
            logger.warning(f'faults are not recorded: {error}')

    def begin(self) -> None:
        """Begin to record.

        Raises:
            InvalidInput: What was asked for by name cannot be made.
        """
        path = (
            None
            if self._path is None
            else next(path for path in numbered(self._path) if not path.exists())
        )
        if path is None and self._faults is None:
            return
        self._recorder = Recorder(*self._parts, path, self._faults, self._say)

    def add(self, measurement: Measurement, loop: ControlLoop) -> None:
        """Record a tick."""
        if self._recorder is not None:
            self._recorder.write(measurement, loop.command, loop.reference)

    def save_fault(self) -> None:
        """Save what was before a fault and comes after."""
        if self._recorder is not None:
            self._recorder.save_fault()

    def end(self) -> None:
        """Finish the bags."""
        if self._recorder is None:
            return
        recorder, self._recorder = self._recorder, None
        path = recorder.close()
        if path is not None:
            self._logger.info(f'recorded {path}')

    def _say(self, words: str, complaint: bool) -> None:
        (self._logger.error if complaint else self._logger.info)(words)


def _log_folder() -> Path:
    """Return the folder of ROS logs, or, without a home, one that cannot be written."""
    try:
        return Path(get_logging_directory())
    except RuntimeError:
        return Path(os.devnull)
