# SPDX-License-Identifier: Apache-2.0
"""A recording of what a controller node hears and answers, from activate to deactivate."""

from collections.abc import Callable
import os
from pathlib import Path
from typing import Any

from rclpy.logging import get_logging_directory

from walking_control.exceptions import MissingDependency
from walking_control.models.robot_file import RobotFile
from walking_control.ros.recording import numbered, Recorder, type_store

LOG = 'log'


def open_recorder(
    logger: Any, values: Any, robot_file: RobotFile, controller: str
) -> Callable[[], Recorder | None]:
    """Return what begins a recording, None where nothing is recorded.

    One bag for every activation, one for every fault; where one exists, names get a number. What
    is asked for by name and cannot be made is an `InvalidInput` then.

    Args:
        logger: Of the node; what ends a recording is said there, once.
        values: The node's parameters, with ``record``, ``record_faults`` and ``realtime``.
        controller: Name of the controller.

    Raises:
        MissingDependency: rosbags is not installed, and a file is asked for by name.
    """
    path = Path(values.record) if values.record else None
    faults = Path(values.record_faults) if values.record_faults else None
    if values.record_faults == LOG:
        name = f'{robot_file.robot.name}_fault.mcap'
        faults = _log_folder() / name if values.realtime else None
    try:
        if path or faults:
            type_store()  # now, not in the middle of a start
    except MissingDependency as error:
        if path or values.record_faults != LOG:
            raise
        faults = None
        logger.warning(f'faults are not recorded: {error}')

    def begin() -> Recorder | None:
        if path is None and faults is None:
            return None
        free = path and next(each for each in numbered(path) if not each.exists())
        return Recorder(
            robot_file,
            controller,
            free,
            faults,
            lambda words, complaint: (logger.error if complaint else logger.info)(words),
        )

    return begin


def _log_folder() -> Path:
    """Return the folder of ROS logs, or, without a home, one that cannot be written."""
    try:
        return Path(get_logging_directory())
    except RuntimeError:
        return Path(os.devnull)
