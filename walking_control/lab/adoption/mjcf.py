# SPDX-License-Identifier: Apache-2.0
"""MJCF to URDF, by what MuJoCo compiles of it: defaults, frames and units are resolved there."""

from collections.abc import Callable
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin

from walking_control.exceptions import refusing, require, UrdfError
from walking_control.lab.adoption import compile_mended, Guess, HIGH, LOW
from walking_control.models import add_joint, numbers_text, origin_of
from walking_control.simulation import import_mujoco

UNLIMITED = 1e9  # N m: no motor has it, so that another limit is guessed
_SHAPES: dict[str, Callable[[Any], tuple[str, dict[str, str]]]] = {
    'SPHERE': lambda s: ('sphere', {'radius': f'{s[0]:.9g}'}),
    'CAPSULE': lambda s: (
        'cylinder',
        {'radius': f'{s[0]:.9g}', 'length': f'{2.0 * (s[1] + s[0]):.9g}'},
    ),
    'CYLINDER': lambda s: ('cylinder', {'radius': f'{s[0]:.9g}', 'length': f'{2.0 * s[1]:.9g}'}),
    'BOX': lambda s: ('box', {'size': ' '.join(f'{2.0 * x:.9g}' for x in s)}),
}


def urdf_of_mjcf(path: Path) -> tuple[str, list[Guess], dict[str, float]]:
    """Return URDF text, guesses and joint -> armature, kg m^2, of an MJCF file.

    A body with several hinges becomes as many links, all but the last without mass. A mesh
    becomes the box around it along the axes of its link, in which its author drew it.

    Raises:
        UrdfError: MuJoCo cannot compile it, it has no body or a ball joint.
        MissingDependency: MuJoCo is not installed.
    """
    mj = import_mujoco('adopting MJCF', 'walking_control[sim]')
    mended: list[Guess] = []
    with refusing(ValueError, f'MJCF {path}', limit='MuJoCo refuses it: {error}', error=UrdfError):
        try:
            model = mj.MjModel.from_xml_path(str(path))
        except ValueError as error:
            model, mended = compile_mended(mj.MjModel.from_xml_string, path, str(error))
    require(model.nbody >= 2, f'MJCF {path}', limit='has no body', error=UrdfError)
    writer = _Writer(mj, model)
    guesses = [
        Guess('format', f'MJCF with {model.nbody - 1} bodies', HIGH, 'compiled by MuJoCo'),
        *mended,
    ]
    tops = [body for body in range(1, model.nbody) if model.body_parentid[body] == 0]
    if len(tops) > 1:
        heaviest = max(tops, key=lambda body: model.body_subtreemass[body])
        guesses.append(
            Guess('root', writer.body_name(heaviest), LOW, f'the heaviest of {len(tops)} trees')
        )
        tops = [heaviest]
    writer.add_tree(tops[0], root=True)
    if model.neq:
        guesses.append(
            Guess(
                'equality constraints',
                f'{model.neq} left out',
                LOW,
                'closed chains and couplings are not modelled',
            )
        )
    return (ElementTree.tostring(writer.root, encoding='unicode'), guesses, writer.armatures)


class _Writer:
    """Writes links and joints of a compiled model.

    Args:
        mj: The module mujoco.
    """

    def __init__(self, mj: Any, model: Any) -> None:
        self._mj, self._model = mj, model
        self.root = ElementTree.Element(
            'robot', name=model.names[: model.names.find(b'\0')].decode() or 'robot'
        )
        self.armatures: dict[str, float] = {}
        self._efforts = self._effort_limits()

    def _effort_limits(self) -> dict[int, float]:
        """Return joint id -> largest effort of its actuators, N m."""
        model, limits = self._model, {}
        for i in range(model.nu):
            if self._mj.mjtTrn(model.actuator_trntype[i]) != self._mj.mjtTrn.mjTRN_JOINT:
                continue
            joint = int(model.actuator_trnid[i, 0])
            gear = abs(float(model.actuator_gear[i, 0]))
            ranges = (
                [gear * float(np.abs(model.actuator_forcerange[i]).max())]
                if model.actuator_forcelimited[i]
                else []
            )
            if model.actuator_ctrllimited[i] and model.actuator_biastype[i] == 0:  # a torque
                ranges.append(
                    gear
                    * float(model.actuator_gainprm[i, 0])
                    * float(np.abs(model.actuator_ctrlrange[i]).max())
                )
            limits[joint] = min(ranges) if ranges else UNLIMITED
        for joint in range(model.njnt):
            if model.jnt_actfrclimited[joint]:
                most = float(np.abs(model.jnt_actfrcrange[joint]).max())
                limits[joint] = min(most, limits.get(joint, most))
        return limits

    def body_name(self, body: int) -> str:
        """Return a body's name."""
        return self._mj.mj_id2name(self._model, self._mj.mjtObj.mjOBJ_BODY, body) or f'body_{body}'

    def add_tree(self, body: int, root: bool = False) -> None:
        """Write a body, what hangs on it, and its joints."""
        model = self._model
        if not root:
            self._add_joints(body)
        self._add_link(body)
        for child in range(1, model.nbody):
            if model.body_parentid[child] == body:
                self.add_tree(child)

    def _add_joints(self, body: int) -> None:
        model, kinds = self._model, self._mj.mjtJoint
        ids = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        parent = self.body_name(int(model.body_parentid[body]))
        name = self.body_name(body)
        place = _se3(model.body_pos[body], model.body_quat[body])
        shift = np.zeros(3)  # from the body's frame to that of the last joint, in its axes
        if not ids:
            add_joint(self.root, f'{name}_fixed', 'fixed', parent, name, place)
        for order, joint in enumerate(ids):
            what = (
                self._mj.mj_id2name(model, self._mj.mjtObj.mjOBJ_JOINT, joint)
                or f'{name}_joint_{order}'
            )
            kind = kinds(model.jnt_type[joint])
            require(
                kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE),
                f'joint {what} of the MJCF',
                value='ball or free',
                limit='only hinges and slides inside a robot',
                error=UrdfError,
            )
            last = order == len(ids) - 1
            # MuJoCo turns the body about an anchor: a link there, then the body beside it
            child = f'{what}_link' if not last or np.any(model.jnt_pos[joint]) else name
            at = place * pin.SE3(np.eye(3), model.jnt_pos[joint] - shift)
            element = add_joint(
                self.root,
                what,
                'revolute' if kind == kinds.mjJNT_HINGE else 'prismatic',
                parent,
                child,
                at,
            )
            self._finish(element, joint, what)
            if child != name:
                ElementTree.SubElement(self.root, 'link', name=child)
            parent, place, shift = child, pin.SE3.Identity(), np.array(model.jnt_pos[joint])
            if last and child != name:
                add_joint(
                    self.root,
                    f'{name}_fixed',
                    'fixed',
                    child,
                    name,
                    pin.SE3(np.eye(3), -np.array(model.jnt_pos[joint])),
                )

    def _finish(self, element: ElementTree.Element, joint: int, name: str) -> None:
        model, dof = self._model, int(self._model.jnt_dofadr[joint])
        ElementTree.SubElement(element, 'axis', xyz=numbers_text(model.jnt_axis[joint]))
        low, high = model.jnt_range[joint] if model.jnt_limited[joint] else (-math.pi, math.pi)
        effort = self._efforts.get(joint, 0.0)
        ElementTree.SubElement(
            element,
            'limit',
            lower=f'{low:.9g}',
            upper=f'{high:.9g}',
            effort=f'{effort:.9g}',
            velocity='100',
        )
        ElementTree.SubElement(
            element,
            'dynamics',
            damping=f'{model.dof_damping[dof].item():.9g}',
            friction=f'{model.dof_frictionloss[dof]:.9g}',
        )
        if model.dof_armature[dof] > 0.0:
            self.armatures[name] = float(model.dof_armature[dof])

    def _add_link(self, body: int) -> None:
        model = self._model
        link = ElementTree.SubElement(self.root, 'link', name=self.body_name(body))
        if model.body_mass[body] > 0.0:
            inertial = ElementTree.SubElement(link, 'inertial')
            inertial.append(origin_of(_se3(model.body_ipos[body], model.body_iquat[body])))
            ElementTree.SubElement(inertial, 'mass', value=f'{model.body_mass[body]:.12g}')
            xx, yy, zz = model.body_inertia[body]
            ElementTree.SubElement(
                inertial,
                'inertia',
                ixx=f'{xx:.12g}',
                iyy=f'{yy:.12g}',
                izz=f'{zz:.12g}',
                ixy='0',
                ixz='0',
                iyz='0',
            )
        for geom in range(model.ngeom):
            if model.geom_bodyid[geom] == body:
                self._add_shape(link, geom)

    def _add_shape(self, link: ElementTree.Element, geom: int) -> None:
        model, kind = self._model, self._mj.mjtGeom(self._model.geom_type[geom]).name[7:]
        size, place = model.geom_size[geom], _se3(model.geom_pos[geom], model.geom_quat[geom])
        if kind == 'MESH':  # MuJoCo turns it to its axes of inertia, in which a foot is pitched
            mesh = model.geom_dataid[geom]
            first = model.mesh_vertadr[mesh]
            points = np.array(model.mesh_vert[first : first + model.mesh_vertnum[mesh]], float)
            points = points @ place.rotation.T + place.translation
            low, high = points.min(axis=0), points.max(axis=0)
            kind, size = 'BOX', 0.5 * (high - low)
            place = pin.SE3(np.eye(3), 0.5 * (low + high))
        elif kind == 'ELLIPSOID':
            kind = 'BOX'
        if kind not in _SHAPES:
            return
        touches = model.geom_contype[geom] or model.geom_conaffinity[geom]
        part = ElementTree.SubElement(link, 'collision' if touches else 'visual')
        part.append(origin_of(place))
        tag, attributes = _SHAPES[kind](size)
        ElementTree.SubElement(ElementTree.SubElement(part, 'geometry'), tag, attributes)


def _se3(position: np.ndarray, wxyz: np.ndarray) -> pin.SE3:
    w, x, y, z = (float(number) for number in wxyz)
    return pin.SE3(pin.Quaternion(w, x, y, z).normalized().matrix(), np.array(position, float))
