# SPDX-License-Identifier: Apache-2.0
"""The golden walks: short, and together through every plant, law, kind of support."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.robot_file import World
from walking_control.runs.route import read_route
from walking_control.runs.run import Run
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

UNEVEN = {
    'world.floor_places': [0.0, 0.2, 0.5, 1.0],
    'world.floor_heights': [0.0, 0.004, -0.003, 0.0],
}
PLAIN = {'stepping.compiled': False}  # compiled code has other last digits
AHEAD = {'stepping.speed': 0.4, **PLAIN}


class Walk(NamedTuple):
    """One golden walk.

    Attributes:
        robot: Name of a robot.
        controller: Name of its law.
        plant: Name of its plant.
        duration: Simulated time, s.
        set: Parameters that differ from the robot file's.
        noise: Preset of sensor errors.
        disturb: Disturbances.
        route: Name of a route.
        way: ``'simulate'``, ``'ros'`` (lockstep over topics) or ``'compiled'`` (as sweeps walk).
    """

    robot: str
    controller: str
    plant: str
    duration: float
    set: Mapping[str, Any] = {}
    noise: str | None = None
    disturb: tuple[str, ...] = ()
    route: str | None = None
    way: str = 'simulate'

    def walk(self, **more: Any) -> Run:
        """Walk and return the record; more: parameters that differ besides, `__` for the dot."""
        chosen = {**self.set, **{name.replace('__', '.'): value for name, value in more.items()}}
        robot_file = load_robot(self.robot, [*noise_overrides(self.noise), *chosen.items()])
        if self.way == 'ros':
            from walking_control.ros.nodes.demo import run_demo

            robot_file = replace(robot_file, controller=self.controller, plant=self.plant)
            return run_demo(robot_file, self.duration, disturb=self.disturb).run
        if self.way == 'compiled':
            from walking_control.simulation.rigid.compiled import record_run, Walker

            world = robot_file.values(World)
            return record_run(
                Walker(robot_file, self.controller),
                robot_file,
                self.controller,
                self.duration,
                Dynamics(robot_file.robot, world.gravity, world.slope),
            )
        route = None if self.route is None else read_route(self.route)
        return simulate(
            robot_file, self.controller, self.plant, self.duration, self.disturb, route=route
        )


WALKS = {
    'hip_switching_rigid': Walk('dribbel', 'hip_switching', 'rigid', 2.0),
    'hip_switching_mujoco_lab': Walk(
        'dribbel', 'hip_switching', 'mujoco', 2.0, noise='lab', disturb=('push=0.05@2',)
    ),
    'hip_switching_compiled': Walk('dribbel', 'hip_switching', 'rigid', 4.0, way='compiled'),
    'curve_tracking_mujoco_lab': Walk('dribbel', 'curve_tracking', 'mujoco', 1.2, noise='lab'),
    'curve_tracking_compliant_uneven': Walk('compass', 'curve_tracking', 'compliant', 1.2, UNEVEN),
    'curve_tracking_compiled': Walk('compass', 'curve_tracking', 'rigid', 3.0, way='compiled'),
    'hip_pd_compliant': Walk('dribbel', 'hip_pd', 'compliant', 1.5),
    'time_pd_dart': Walk('dribbel', 'time_pd', 'dart', 1.0),
    'time_pd_rigid': Walk('compass', 'time_pd', 'rigid', 1.0),
    'none_step_down': Walk('compass', 'none', 'rigid', 2.0, disturb=('step_down=0.005@1',)),
    'foot_placement_point': Walk(
        'walker3d_point',
        'foot_placement',
        'rigid',
        2.0,
        {'foot_placement.speed': 0.4},
        disturb=('side_push=0.1@2',),
    ),
    'push_off_point': Walk('walker3d_point', 'push_off', 'rigid', 2.0),
    'stepping_soles_mujoco_lab': Walk(
        'walker3d',
        'stepping',
        'mujoco',
        1.6,
        AHEAD,
        noise='lab',
        disturb=('push=0.3@0.8s:direction=60',),
    ),
    'stepping_soles_route': Walk(
        'walker3d', 'stepping', 'mujoco', 3.0, PLAIN, noise='lab', route='walker3d'
    ),
    'stepping_soles_dart': Walk('walker3d', 'stepping', 'dart', 1.0, AHEAD),
    'stepping_points_compliant': Walk('walker3d_points', 'stepping', 'compliant', 1.0, AHEAD),
    'stepping_points_uneven': Walk(
        'walker3d_points', 'stepping', 'mujoco', 1.2, {**AHEAD, **UNEVEN}
    ),
    'natural_walking_mujoco_lab': Walk(
        'walker3d',
        'natural_walking',
        'mujoco',
        2.4,
        {'natural_walking.speed': 0.6, 'natural_walking.compiled': False},
        noise='lab',
        disturb=('push=0.6@1.6s:direction=60',),
    ),
    'static_torque_shift': Walk(
        'humanoid', 'static_torque', 'mujoco', 1.5, {'static_torque.routine': 'shift'}
    ),
    'ros_lockstep': Walk('dribbel', 'hip_switching', 'mujoco', 1.5, noise='lab', way='ros'),
}
