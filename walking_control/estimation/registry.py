# SPDX-License-Identifier: Apache-2.0
"""The estimator that fits a robot."""

from walking_control.estimation.planar import ESTIMATOR, PlanarEstimator
from walking_control.estimation.spatial import SpatialEstimator
from walking_control.models.robot_file import WORLD


def make_estimator(robot_file):
    """Return the estimator of a robot file's robot: planar or in space."""
    robot = robot_file.robot
    estimator = PlanarEstimator if robot.planar else SpatialEstimator
    return estimator(robot, robot_file.values(ESTIMATOR), robot_file.values(WORLD).slope)
