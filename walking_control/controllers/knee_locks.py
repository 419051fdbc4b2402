# SPDX-License-Identifier: Apache-2.0
"""When a knee lock is armed: in stance, and again once the swinging knee extends."""

import numpy as np

from walking_control.models import array_function, Command, Robot, WalkerState

# Phases of a knee lock over a stride: stance, early swing, flexed, extending.
STANCE, RELEASED, FLEXED, ARMED = 0, 1, 2, 3


@array_function
def next_lock_phase(
    phase: int, is_stance: bool, in_contact: bool, angle: float, rate: float, flexed: float
) -> int:
    """Return the phase of a knee lock ([DS09] sections 4.3.1 and 5.3).

    The lock of the stance leg is armed. It opens when the foot has left the floor as a swing foot,
    and is armed again, for the rest of the swing, once the knee has flexed and extends.

    Args:
        phase: STANCE, RELEASED, FLEXED or ARMED.
        is_stance: Whether the leg is the stance leg.
        in_contact: Whether its foot touches the floor.
        angle: Knee angle from the locked position, rad; flexion is negative.
        rate: Its rate, rad/s.
        flexed: Flexion that counts as flexed, rad.
    """
    if is_stance:
        return STANCE
    if phase == STANCE and not in_contact:
        return RELEASED
    if phase == RELEASED and angle < -flexed:
        return FLEXED
    if phase == FLEXED and rate > 0.0:
        return ARMED
    return phase


@array_function
def holds(phase: int, is_stance: bool, engaged: bool) -> bool:
    """Return whether a lock holds a knee from now on: engaged, and not about to open.

    At touchdown the lock of the leg that begins to swing is still engaged.

    Args:
        phase: As `next_lock_phase` returns it.
        is_stance: Whether the leg is the stance leg.
        engaged: Whether the lock holds at this instant.
    """
    return engaged and (is_stance or phase == ARMED)


class KneeLocks:
    """The phases of all knee locks of a robot, for any control law.

    Args:
        robot: The `Robot`.
        flexed: Flexion that counts as flexed, rad.

    Attributes:
        held: Which knees are held from now on, see `holds`.
    """

    def __init__(self, robot: Robot, flexed: float) -> None:
        self._locks = [
            (robot.joint_index(lock.joint), robot.feet.index(lock.foot), lock.angle)
            for lock in robot.locks
        ]
        self._flexed = flexed
        self.held = np.zeros(len(self._locks), bool)
        self.reset()

    def reset(self) -> None:
        """Start with every lock armed."""
        self._phases = [STANCE] * len(self._locks)
        self.held[:] = False

    def arm(self) -> None:
        """Arm every lock from here on, in the middle of a swing: a knee that extends is caught."""
        self._phases = [ARMED] * len(self._locks)

    def update(self, state: WalkerState, command: Command) -> None:
        """Fill the locks of a `Command` from a `WalkerState`.

        Args:
            state: What is known: which foot stands, the joints, which locks hold.
            command: Its locks are filled.
        """
        for i, (joint, foot, angle) in enumerate(self._locks):
            phase = next_lock_phase(
                self._phases[i],
                foot == state.support,
                bool(state.contact[foot]),
                float(state.position[joint]) - angle,
                float(state.velocity[joint]),
                self._flexed,
            )
            self._phases[i] = phase
            command.lock[i] = phase in (STANCE, ARMED)
            self.held[i] = holds(phase, foot == state.support, bool(state.locked[i]))
