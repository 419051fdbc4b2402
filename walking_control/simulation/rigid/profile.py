# SPDX-License-Identifier: Apache-2.0
"""An uneven floor under the rigid walker: the straight piece that the swing foot is over.

The compiled motion knows a floor by its drop and tilt at each touchdown. Here they are set, tick by
tick, to those of the piece below the swing foot, which is thus the one it lands on. A foot that
gets over another piece within a tick finds it at the next.

Simplifications: whether a swing foot trips is judged by the piece it is over and by that of the
stance foot, drawn on, whichever is lower; after 62 steps that of the stance foot leans as the one
below the swing foot does. A robot in flight lands on the piece of its last foothold.
"""

import math

from walking_control.models.floor import FloorProfile
from walking_control.models.support.layout import terms_places
from walking_control.simulation.rigid import model as rm


def lay_ahead(model: rm.RigidModel, state: rm.RigidState, work: rm.Workspace,
              profile: FloorProfile) -> None:
    """Put the piece of a floor below the swing foot where the next touchdown finds it.

    Args:
        model: Its drops and tilts are changed in place.
        work: With the support terms of the state.
    """
    foot, memo = terms_places(model.n).foot, state.memo
    x, z = state.y[0] + work.terms[foot], state.y[1] + work.terms[foot + 1]
    piece = int(profile.piece(x))
    slope, steps = float(profile.slopes[piece]), int(state.mode[rm.STEPS])
    height = float(profile.height(x))
    # the plane over the next touchdown is z = anchor - drop - tan(tilt) (x - anchor)
    drop = memo[rm.ANCHOR_Z] - height + slope * (x - memo[rm.ANCHOR_X])
    step = min(steps + 1, len(model.drops) - 1)
    before = z - memo[rm.ANCHOR_Z] + model.drops[step] \
        + math.tan(model.tilts[step]) * (x - memo[rm.ANCHOR_X])
    if before > 0.0 >= z - height:
        return   # it is about to land on the piece it comes from
    model.drops[step], model.tilts[step] = drop, -math.atan(slope)
    # the next but one begins as this one goes on, until it is known
    later = slice(step + 1, None)
    model.drops[later], model.tilts[later] = 0.0, -math.atan(slope)


def begin_uneven(model: rm.RigidModel, profile: FloorProfile) -> None:
    """Begin a run on the piece at the start."""
    model.drops[:] = 0.0
    model.tilts[:] = -math.atan(float(profile.slopes[profile.piece(0.0)]))
