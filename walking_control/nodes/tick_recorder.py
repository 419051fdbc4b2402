# SPDX-License-Identifier: Apache-2.0
"""A recording of what a controller node hears and answers, from activate to deactivate."""

import itertools
from pathlib import Path

from walking_control.recording.bag import BagWriter


class TickRecorder:
    """One bag for every activation; after the first, names get a number.

    Args:
        logger: Of the node; what ends a recording is said there, once.
        path: Of the first ``.mcap``; ``''`` records nothing.
        robot_file: The `RobotFile`.
        controller: Name of the controller.
    """

    def __init__(self, logger, path, robot_file, controller):
        self._logger, self._path = logger, Path(path) if path else None
        self._parts = robot_file, controller
        self._bag = None

    def begin(self):
        """Open a bag.

        Raises:
            InvalidInput: It cannot be made.
        """
        if self._path is None:
            return
        path = self._path
        for number in itertools.count(2):
            if not path.exists():
                break
            path = self._path.with_name(f'{self._path.stem}-{number}{self._path.suffix}')
        self._bag = BagWriter(path, *self._parts)

    def add(self, measurement, loop):
        """Record a tick."""
        if self._bag is not None:
            self._bag.write(measurement, loop.command, loop.reference)
            if self._bag.problem is not None:
                self._logger.error(self._bag.problem)   # the robot walks on
                self._bag = None

    def end(self):
        """Finish the bag."""
        if self._bag is None:
            return
        bag, self._bag = self._bag, None
        path = bag.close()
        if path is None:
            self._logger.error(bag.problem)
        else:
            self._logger.info(f'recorded {path}')
