# SPDX-License-Identifier: Apache-2.0
"""A robot in space in MuJoCo: the planar plant with a free joint and flat soles."""

import math

import numpy as np

from walking_control.models.spatial import SpatialDynamics
from walking_control.simulation.mujoco.plant import MujocoPlant
from walking_control.simulation.plant import Truth


class SpatialMujocoPlant(MujocoPlant):
    """The robot and a flat, possibly sloped floor; see `simulation.plant.Plant`.

    `Truth.q` is the base position, its quaternion xyzw and the joints; `Truth.v` the velocity of
    the base in the floor frame, its angular velocity in base axes, and the joint rates.
    """

    def _make_truth(self):
        robot = self.robot
        self._dynamics = SpatialDynamics(robot.urdf, self.world.gravity, robot.name)
        self._to_model = [robot.joints.index(joint) for joint in self._dynamics.joints]
        self._soles = [self._dynamics.frame(foot) for foot in robot.feet]
        self.truth = Truth(robot, 7)
        self.truth.v = np.zeros(6 + len(robot.joints))

    def _add_root(self, spec):
        spec.body(self.robot.base_link).add_freejoint(name='root')

    def _index_joints(self):
        mj, model = self._mj, self.model
        ids = [mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, name) for name in self.robot.joints]
        root = mj.mj_name2id(model, mj.mjtObj.mjOBJ_JOINT, 'root')
        self._joint_qpos, self._joint_dof = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        first, dof = int(model.jnt_qposadr[root]), int(model.jnt_dofadr[root])
        # MuJoCo's quaternion is wxyz, ours xyzw
        self._qpos = np.array([*range(first, first + 3), *range(first + 4, first + 7), first + 3,
                               *self._joint_qpos])
        self._dof = np.array([*range(dof, dof + 6), *self._joint_dof])

    def _place(self, start):
        """Put the base upright, the lowest sole on the floor."""
        q = self._dynamics.configuration(start.posture[self._to_model])
        height = -min(self._dynamics.placement(q, sole)[0][2] for sole in self._soles)
        self.data.qpos[self._qpos] = [0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0, *start.posture]
        self.data.qvel[self._dof] = 0.0

    def push(self, impulse, direction=0.0):
        """Add an impulse in N s along the floor to the base, at once.

        Args:
            impulse: N s.
            direction: Where it points, rad from x towards y.
        """
        generalised = np.zeros((1, self.model.nv))
        generalised[0, self._dof[0]] = impulse * math.cos(direction)
        generalised[0, self._dof[1]] = impulse * math.sin(direction)
        change = np.zeros((1, self.model.nv))
        self._mj.mj_solveM(self.model, self.data, change, generalised)
        self.data.qvel += change[0]
        self._refresh()
