# SPDX-License-Identifier: Apache-2.0
"""A robot in Gazebo: its model, its world, and what is bridged.

The model is the robot's URDF with what Gazebo asks beside it: ros2_control tags without locks, a
sensor at the joint above each foot, a gram in a foot that has no mass (Gazebo drops massless links
with all they carry), the inertia of rotors, friction of the feet, and for a robot in the plane the
joints that keep it there. It is spawned; robot_description stays the robot itself.
"""

import re
from xml.etree.ElementTree import Element, fromstring, indent, tostring

import numpy as np
import pinocchio as pin

from walking_control.exceptions import given, UrdfError
from walking_control.models import fill, parse, Robot
from walking_control.ros.ros2_control.tags import GAZEBO, tags, with_tags
from walking_control.ros.ros2_control.wiring import Wiring
from walking_control.simulation.terrain import lay_profile

WORLD = 'walking'
STEP = 0.001  # s, one update of the controller manager
MOTE, MOTE_INERTIA = 0.001, 1e-7  # kg, kg m^2: Gazebo drops links below 1e-5 kg
LOCK_EFFORT = 200.0  # N m, what an emulated lock may take; the joint itself has no motor
INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
_AXES = '1 0 0', '0 1 0', '0 0 1'


def gazebo_description(wiring: Wiring) -> str:
    """Return the robot_description for Gazebo: the robot's URDF, tags of the target."""
    root = parse(with_tags(wiring.robot.urdf, tags(wiring, GAZEBO)))
    _open_locks(root, wiring)
    return _text(root)


def gazebo_model(wiring: Wiring, controllers: str, namespace: str = '') -> str:
    """Return the URDF that is spawned in Gazebo.

    Args:
        controllers: Path of controllers.yaml.
        namespace: Of the controller manager.

    Raises:
        UrdfError: A foot has no joint that a sensor could sit in.
    """
    root, robot, rails = parse(gazebo_description(wiring)), wiring.robot, []
    if not robot.is_free:
        rails = [('xyz'[i], 'prismatic', _AXES[i]) for i in robot.base.axes]
        rails += [(angle, 'continuous', _AXES[1]) for angle in robot.base.angles]
    added = fill(
        __package__,
        'gazebo.urdf',
        wiring=wiring,
        above={foot: _joint_above(root, foot) for foot in wiring.forces},
        rails=rails,
        controllers=controllers,
        namespace=namespace,
        rate=f'{1.0 / STEP:.0f}',
    )
    root.extend(fromstring(added))
    for link in root.findall('link'):
        if link.get('name') in wiring.forces or (link.get('name') or '').startswith('rail_'):
            _give_mass(link)
    _add_rotors(root, robot)
    return _text(root)


def gazebo_world(wiring: Wiring) -> str:
    """Return the SDF of a world with the robot's floor, friction and gravity, at rest."""
    return fill(
        __package__,
        'world.sdf',
        name=WORLD,
        step=STEP,
        gravity=wiring.world.gravity,
        slope=wiring.world.slope,
        friction=wiring.world.friction,
        pieces=[None] if wiring.floor is None else lay_profile(wiring.floor),
    )


def at_speed(world: str, speed: float) -> str:
    """Return the SDF of a world that runs at a pace of real time."""
    return re.sub(r'(?<=<real_time_factor>)[^<]*', repr(speed), world)


def spawn_pose(wiring: Wiring) -> dict[str, float]:
    """Return x, y, z (m) and R, P, Y (rad) of the base in the world, where z is up."""
    tilt = pin.utils.rotate('y', wiring.world.slope)
    place = tilt @ np.array(wiring.base[:3])
    turn = tilt @ pin.Quaternion(np.array(wiring.base[3:])).matrix()
    return {
        name: round(float(value), 9) + 0.0
        for name, value in zip(('x', 'y', 'z', 'R', 'P', 'Y'), (*place, *pin.rpy.matrixToRpy(turn)))
    }


def _open_locks(root: Element, wiring: Wiring) -> None:
    """Let joints with a lock take the effort that emulates it."""
    for joint in root.findall('joint'):
        limit = joint.find('limit')
        if joint.get('name') in set(wiring.locks) - set(wiring.motors) and limit is not None:
            limit.set('effort', repr(LOCK_EFFORT))


def _joint_above(root: Element, foot: str) -> Element:
    return given(
        root.find(f'joint/child[@link="{foot}"]/..'),
        f'foot {foot}',
        limit='has no joint above it for a force sensor',
        remedy='put the sole into a link of its own',
        error=UrdfError,
    )


def _give_mass(link: Element) -> None:
    mass = link.find('inertial/mass')
    if mass is not None and float(mass.get('value', '0')) >= MOTE:
        return
    for old in link.findall('inertial'):
        link.remove(old)
    turning = ' '.join(
        f'{name}="{MOTE_INERTIA if name[1] == name[2] else 0.0!r}"' for name in INERTIA
    )
    link.append(fromstring(f'<inertial><mass value="{MOTE!r}"/><inertia {turning}/></inertial>'))


def _add_rotors(root: Element, robot: Robot) -> None:
    """Add what rotors weigh against turning, J about the joint's axis, to the links they drive.

    J/2 goes about the other two axes: an inertia about one alone is none of a body (no principal
    one exceeds the sum of the others), and Gazebo refuses it. A simplification: a rotor turns with
    its joint and not with the robot; here the link resists what turns it in any way.
    """
    links = {link.get('name'): link for link in root.findall('link')}
    for joint in root.findall('joint'):
        motor = robot.actuators.get(joint.get('name', ''))
        if motor is None or not motor.armature:
            continue
        link = links[next(joint.iterfind('child')).get('link')]
        _give_mass(link)
        inertia = next(link.iterfind('inertial/inertia'))
        origin = link.find('inertial/origin')
        axis, of_joint = np.array([1.0, 0.0, 0.0]), joint.find('axis')
        if of_joint is not None:
            axis = np.array(of_joint.get('xyz', '1 0 0').split(), float)
        if origin is not None:
            turn = pin.rpy.rpyToMatrix(*map(float, origin.get('rpy', '0 0 0').split()))
            axis = turn.T @ axis
        added = 0.5 * motor.armature * (np.eye(3) + np.outer(axis, axis) / (axis @ axis))
        for name in INERTIA:
            row, column = map('xyz'.index, name[1:])
            inertia.set(name, repr(float(inertia.get(name, '0')) + float(added[row, column])))


def _text(root: Element) -> str:
    indent(root)
    return tostring(root, encoding='unicode') + '\n'


def spawn_arguments(wiring: Wiring) -> list[str]:
    """Return the arguments of ``ros_gz_sim create`` that place the robot."""
    moved = {name: value for name, value in spawn_pose(wiring).items() if value != 0.0}
    return [word for name, value in moved.items() for word in (f'-{name}', repr(value))]
