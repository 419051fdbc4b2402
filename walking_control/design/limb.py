# SPDX-License-Identifier: Apache-2.0
"""The dissipative equation of motion of a limb ([SR20] (12)).

With ``K = [1; (D G)^-1]``, which makes velocities of joints and rotors of those of the joints, and
E, ones for the links and for each motor the share its gear passes (``eta_f`` forwards,
``1 / eta_b`` backwards), the equation of motion is

    K^T E M K a + K^T E c = J^T f + (D G)^-T E tau

where M and c know links and rotors apart. Rotors may count as armature (they spin about their own
axes only) or fully coupled (their carrier's rotation adds to their spin).
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pinocchio as pin

from walking_control.design import AXES, Mechanism, require_inertia, SINGULAR, Transmission
from walking_control.exceptions import require, require_known

ROTORS = ('armature', 'coupled')


class Limb:
    """The joints between the base and a frame, in a posture, with their transmission.

    All other joints are held, as if their bodies were part of the base or of the limb.

    Args:
        frame: Name of the frame at the limb's end.
        transmission: The `Transmission` of its joints.
        axes: Directions of the world that count, such as ``'xz'``; None takes those along which
            the limb can move its end.
        rotors: ``'armature'`` or ``'coupled'``.
        carriers: joint -> link on which its motor sits, for coupled rotors; None: on the link
            before the joint.

    Attributes:
        axes: The directions, as text.
        jacobian: Of the end along them, ``(d, n)``: base, then limb.
        links: Inertia without rotors' spin, ``(n, n)``.

    Raises:
        InvalidInput: The frame is not behind any joint, the transmission is of other joints, the
            axes cannot be read, or the limb cannot move its end along one of them.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        frame: str,
        transmission: Transmission,
        axes: str | None = None,
        rotors: str = ROTORS[0],
        carriers: Mapping[str, str] | None = None,
    ) -> None:
        self.mechanism, self.transmission = mechanism, transmission
        self.rotors, self.carriers = rotors, carriers
        self.frame = mechanism.dynamics.frame(frame)
        self.frame_name = frame
        require(
            mechanism.joints_to(self.frame) == list(transmission.joints),
            f'joints of the limb to {frame}',
            value=list(transmission.joints),
            limit='must be ' + ', '.join(mechanism.joints_to(self.frame)),
        )
        require(transmission.joints, f'frame {frame}', limit='no joint moves it against the base')
        require_known(rotors, ROTORS, 'rotors', value=rotors)
        self.n_base, self.m = mechanism.n_base, len(transmission.joints)
        self.columns = np.concatenate(
            [np.arange(self.n_base), mechanism.velocity_places(transmission.joints)]
        )
        full = mechanism.point_jacobian(self.frame)[:3][:, self.columns]
        self.axes = _axes(axes, full[:, self.n_base :], frame)
        self.rows = [AXES.index(axis) for axis in self.axes]
        self.jacobian = full[self.rows]
        self.own_jacobian = self.jacobian[:, self.n_base :]
        singular = np.linalg.svd(self.own_jacobian, compute_uv=False)
        least = singular[-1] if len(singular) == len(self.axes) else 0.0
        require(
            least >= SINGULAR * singular[0] and least > 0.0,
            f'smallest singular value of the Jacobian of {frame} along {self.axes}',
            value=float(least),
            limit=f'must be above {SINGULAR:g} of the largest: in this '
            'posture the limb cannot move its end in every direction',
            remedy='choose other joint positions, or fewer --axes',
        )
        self.links = mechanism.inertia(rotors=False)[np.ix_(self.columns, self.columns)]
        if rotors == 'coupled':
            self.rotor_model = RotorModel(mechanism, transmission, carriers)
        require_inertia(self.inertia(np.ones(self.m)), mechanism.name)

    @property
    def redundant(self) -> bool:
        """Whether the limb has more joints than directions count."""
        return self.m > len(self.axes)

    @cached_property
    def coupling(self) -> np.ndarray:
        """Inertia between links and rotors' spin, ``(n, m)``; zero of rotors as armature."""
        if self.rotors == 'armature':
            return np.zeros((len(self.columns), self.m))
        return np.asarray(self.rotor_model.coupling()[self.columns])

    def inertia(self, shares: np.ndarray, symmetric: bool = False) -> np.ndarray:
        """Return ``H = K^T E M K`` of finite shares, ``(n, n)``.

        Args:
            shares: Diagonal of E, one a motor.
            symmetric: Take ``E^1/2 M E^1/2`` in place of E M ([SR20], appendix).
        """
        spin = np.zeros((self.m, len(self.columns)))
        spin[:, self.n_base :] = self.transmission.to_rotors
        right = self.coupling @ spin
        root = np.sqrt(shares)
        if symmetric:
            across = self.coupling @ (root[:, None] * spin)
            own = across + across.T
        else:
            own = right + spin.T @ (shares[:, None] * self.coupling.T)
        rotors = (shares * self.transmission.rotor_inertia)[:, None] * spin
        return np.asarray(self.links + own + spin.T @ rotors)

    def motor_map(self, shares: np.ndarray) -> np.ndarray:
        """Return joint torques per torque of the motors times reductions, ``D^-T E``, (m, m)."""
        return np.asarray(np.linalg.inv(self.transmission.topology).T * shares)


def _axes(axes: str | None, jacobian: np.ndarray, frame: str) -> str:
    """Return the axes asked for, or those along which a limb moves its end."""
    if axes is None:
        norms = np.linalg.norm(jacobian, axis=1)
        return (
            ''.join(axis for axis, norm in zip(AXES, norms) if norm > SINGULAR * norms.max())
            or AXES
        )
    require(
        axes and set(axes) <= set(AXES) and len(set(axes)) == len(axes),
        'axes',
        value=axes,
        limit='must be one or more of x, y, z',
        remedy='give them as xz',
    )
    dead = [
        axis
        for axis in axes
        if np.linalg.norm(jacobian[AXES.index(axis)]) < SINGULAR * np.linalg.norm(jacobian)
    ]
    require(
        not dead,
        'axes',
        value=axes,
        limit=f'the limb to {frame} cannot move along ' + ' or '.join(dead),
    )
    return ''.join(sorted(axes))


class RotorModel:
    """A robot whose rotors are bodies of their own, each on its carrier about its joint's axis.

    The mass of a rotor and its inertia while it does not spin against its carrier are part of the
    links, as in a URDF; so only what its spin adds is taken from here.

    Args:
        carriers: joint -> link that carries its motor; None: the one before the joint.

    Raises:
        InvalidInput: A joint does not turn, or a carrier is unknown.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        transmission: Transmission,
        carriers: Mapping[str, str] | None = None,
    ) -> None:
        self.mechanism, dynamics = mechanism, mechanism.dynamics
        self.model = dynamics.model.copy()
        self.model.armature[:] = 0.0
        data = self.model.createData()
        self._q = dynamics.to_pinocchio(mechanism.q).copy()
        pin.forwardKinematics(self.model, data, self._q)
        for joint, inertia in zip(transmission.joints, transmission.rotor_inertia):
            number = dynamics.model.getJointId(joint)
            require(
                dynamics.robot.limits[joint].kind != 'prismatic',
                f'rotor of {joint}',
                limit='the joint slides: its rotor counts as armature only',
                remedy='choose --rotors armature',
            )
            turn = pin.computeJointJacobians(self.model, data, self._q)
            column = dynamics.model.joints[number].idx_v
            axis = turn[3:, column] / np.linalg.norm(turn[3:, column])
            carrier = dynamics.model.parents[number]
            if carriers and joint in carriers:
                carrier = dynamics.model.frames[dynamics.frame(carriers[joint])].parentJoint
            own = data.oMi[carrier].rotation.T @ axis
            rotor = self.model.addJoint(
                carrier, pin.JointModelRevoluteUnaligned(own), pin.SE3.Identity(), f'{joint} rotor'
            )
            self.model.appendBodyToJoint(
                rotor,
                pin.Inertia(0.0, np.zeros(3), inertia * np.outer(own, own)),
                pin.SE3.Identity(),
            )
            data = self.model.createData()
            self._q = np.append(self._q, 0.0)
        self._data, self._count = data, len(transmission.joints)
        self._places = np.concatenate(
            [dynamics.pinocchio_order[mechanism.moving], np.arange(dynamics.nv, self.model.nv)]
        )

    def efforts(self, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return efforts on the mechanism's velocities and on rotors, ``(n + m,)``, of both.

        Args:
            velocity: Of the mechanism, ``(n,)``.
            acceleration: Likewise, ``(n,)``.
        """
        # of the whole: by recursion from the bodies, which asks for no order of the joints
        v, a = np.zeros(self.model.nv), np.zeros(self.model.nv)
        v[self._places], a[self._places] = velocity, acceleration
        return np.asarray(pin.rnea(self.model, self._data, self._q, v, a)[self._places])

    def coupling(self) -> np.ndarray:
        """Return the inertia between velocities and rotors' spin, ``(n, m)``."""
        rest, m = np.zeros(len(self._places)), self._count
        still = self.efforts(rest, rest)
        return np.asarray(
            np.array([self.efforts(rest, unit) - still for unit in np.eye(len(rest))[-m:]]).T[:-m]
        )
