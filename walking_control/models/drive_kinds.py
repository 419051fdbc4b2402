# SPDX-License-Identifier: Apache-2.0
"""The kinds of drives: what each takes of a command, and what it makes of it. A new one is a row.

A drive adds ``stiffness (position - q) + damping (velocity - v)`` to the effort it is given. What
it does not take counts as zero; a drive that takes no stiffness has one of its own, or none.
"""

from typing import NamedTuple

FIELDS = ('effort', 'position', 'velocity', 'stiffness', 'damping')  # of a `Command`


class DriveKind(NamedTuple):
    """What a drive takes.

    Attributes:
        takes: Those of `FIELDS` that it is told.
        simulated: What Gazebo and MuJoCo are told instead: their joints have no gains.
        meaning: Half a sentence.
        chained: Whether a controller of ros2_control plays it, on a joint that takes efforts.
    """

    takes: tuple[str, ...]
    simulated: tuple[str, ...]
    meaning: str
    chained: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether it makes the effort it is told, and nothing else."""
        return self.takes == ('effort',)

    @property
    def takes_gains(self) -> bool:
        """Whether a law may give it gains."""
        return 'stiffness' in self.takes

    @property
    def has_own_gains(self) -> bool:
        """Whether its own stiffness alone makes the effort, from a position."""
        return 'position' in self.takes and 'effort' not in self.takes


KINDS = {
    'effort': DriveKind(('effort',), ('effort',), 'efforts'),
    'position': DriveKind(('position',), ('position',), 'positions alone, as a hobby servo'),
    'impedance': DriveKind(
        FIELDS, ('effort',), 'position, velocity, effort, stiffness and damping'
    ),
    'linear_feedback': DriveKind(
        FIELDS, ('effort',), "the same to LAAS's linear_feedback_controller", chained=True
    ),
}
