# SPDX-License-Identifier: Apache-2.0
"""Where the links of a robot are, joint by joint, from a JointState."""

from collections.abc import Iterator, Sequence

import numpy as np
import pinocchio as pin

from walking_control.models.urdf import parse


class RobotFrames:
    """Transforms from parent to child link of every joint of a URDF, fixed ones too.

    Args:
        urdf: URDF text.
    """

    def __init__(self, urdf: str) -> None:
        self._model = model = pin.buildModelFromXML(urdf)
        self._data = model.createData()
        self._q = pin.neutral(model)
        self._joints = {
            name: (
                model.joints[model.getJointId(name)].idx_q,
                model.joints[model.getJointId(name)].nq,
            )
            for name in model.names[1:]
        }
        self._edges = []
        for joint in parse(urdf).findall('joint'):
            ends = [
                link.get('link', '') for tag in ('parent', 'child') for link in joint.findall(tag)
            ]
            self._edges.append((*ends, *(model.getFrameId(link, pin.BODY) for link in ends)))

    def transforms(
        self, names: Sequence[str], positions: Sequence[float]
    ) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
        """Yield (parent, child, translation ``(3,)`` in m, quaternion xyzw ``(4,)``).

        Args:
            names: Of joints, in any order; those of other robots are ignored.
            positions: Theirs, rad or m; what is not finite leaves a joint where it was.
        """
        for name, position in zip(names, positions):
            where, size = self._joints.get(name, (0, 0))
            if size == 1 and np.isfinite(position):
                self._q[where] = position
            elif size == 2 and np.isfinite(position):  # a continuous joint, on the unit circle
                self._q[where : where + 2] = np.cos(position), np.sin(position)
        pin.framesForwardKinematics(self._model, self._data, self._q)
        for parent, child, above, below in self._edges:
            pose = self._data.oMf[above].actInv(self._data.oMf[below])
            yield parent, child, pose.translation, pin.Quaternion(pose.rotation).coeffs()
