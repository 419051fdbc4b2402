# SPDX-License-Identifier: Apache-2.0
"""What the walker on a compliant floor is made of, beside a `RigidModel` that never stands.

The robot is that of plant rigid in flight: the first foot is the reference for good, joint stops
and locks are its constraints. The floor's forces are applied, not constraints. The state is
``y = [z, dz/dt, s, energies]``: support coordinates, the deformation along the floor at each foot,
and what has become of the energy so far, integrated with the rest.
"""

from typing import NamedTuple

import numpy as np

from walking_control.simulation.rigid.model import (
    make_state,
    make_workspace,
    RigidModel,
    RigidState,
    Workspace,
)

FEET = 2
# energies so far, in this order behind the deformations: work of the efforts; taken by the floor's
# dampers; by slipping and rolling; stored when a foot left; taken by the joints
WORK, DAMPED, SLIPPED, RELEASED, PASSIVE, ENERGIES = range(6)
EXTRA = FEET + ENERGIES
# places in Feet.flags: relation of each foot to the floor, then the foot that landed last, ahead
OUTSIDE, INSIDE, PASSING = range(3)
LAST = FEET
# places in a row of Feet.touch
FORCE_X, FORCE_Z, GAP, GAP_RATE, PLACE, NORMAL, TOUCHES = range(7)


class Floor(NamedTuple):
    """Constants of a compliant floor and of the feet on it."""

    kind: int   # of damping, see `law`
    stiffness: float   # N/m
    damping: float   # N s/m
    dissipation: float   # s/m
    sliding_stiffness: float   # along the floor, N/m
    sliding_damping: float   # N s/m
    relief: float   # share of the deformation along the floor that rolling takes away, 1/rad
    radius: float   # of round feet, m
    # rate of rotation about +y of each foot per rate of the coordinates, ``(2, n)``
    turns: np.ndarray
    places: np.ndarray   # where the height of the floor is given, m
    heights: np.ndarray   # the height there, m; straight in between, and beyond
    # height of the floor from each touchdown on, m; the last entry serves all later ones
    levels: np.ndarray
    joint_damping: np.ndarray   # of the dampers beside joint springs, N m s/rad, ``(n_joints,)``


class Feet(NamedTuple):
    """How the feet stand, changed in place."""

    flags: np.ndarray  # relation of each foot to the floor, and the foot that landed last, integers
    level: np.ndarray   # height of the floor's step under each foot, m
    # of each foot the force of the floor, gap, its rate and the place, ``(2, TOUCHES)``
    touch: np.ndarray
    power: np.ndarray   # rates of the energies, W
    force: np.ndarray   # generalised forces before friction and gears, working memory


def make_soft_state(model: RigidModel) -> tuple[RigidState, Feet]:
    """Return a `RigidState` with room for deformations and energies, and the `Feet`."""
    size = model.n + 2
    state = make_state(model)._replace(y=np.zeros(2 * size + EXTRA))
    return state, Feet(np.zeros(FEET + 1, dtype=np.int64), np.zeros(FEET),
                       np.zeros((FEET, TOUCHES)), np.zeros(ENERGIES), np.zeros(size))


def make_soft_workspace(model: RigidModel, terms_size: int) -> Workspace:
    """Return a `Workspace` for such states."""
    count = 2 * (model.n + 2) + EXTRA
    return make_workspace(model, terms_size)._replace(
        k=np.zeros((13, count)), trial=np.zeros(count), start=np.zeros(count))
