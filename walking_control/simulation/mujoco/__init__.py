# SPDX-License-Identifier: Apache-2.0
"""Robots in MuJoCo, built from their URDF."""

from typing import Any

from walking_control.exceptions import import_optional


def import_mujoco(what: str, package: str | None = None) -> Any:
    """Return MuJoCo, see `import_optional`; its warnings make no file in the working folder.

    What it warns of ends a walk, see `MujocoEngine.advance`, or is refused.
    """
    mujoco = import_optional('mujoco', what, package)
    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(lambda text: None)
    return mujoco
