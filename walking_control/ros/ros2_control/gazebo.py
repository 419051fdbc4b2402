# SPDX-License-Identifier: Apache-2.0
"""A robot in Gazebo: its model, its world, and what is bridged.

The model is the robot's URDF with what Gazebo asks beside it: ros2_control tags without locks, a
sensor at the joint above each foot, a gram in a foot that has no mass (Gazebo drops massless links
with all they carry), the inertia of rotors, friction of the feet, and for a robot in the plane the
joints that keep it there. It is spawned; robot_description stays the robot itself.
"""

from collections.abc import Iterator
import math
import re
from typing import Any
from xml.etree.ElementTree import Element, fromstring, indent, SubElement, tostring
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pinocchio as pin

from walking_control.exceptions import UrdfError
from walking_control.models.robot import Robot
from walking_control.models.urdf import parse
from walking_control.ros.ros2_control.tags import GAZEBO, tags, with_tags
from walking_control.ros.ros2_control.wiring import Wiring
from walking_control.simulation.terrain import lay_profile

PLUGIN_FILE = 'gz_ros2_control-system'
PLUGIN_NAME = 'gz_ros2_control::GazeboSimROS2ControlPlugin'
SYSTEMS = (
    ('gz-sim-physics-system', 'gz::sim::systems::Physics'),
    ('gz-sim-user-commands-system', 'gz::sim::systems::UserCommands'),
    ('gz-sim-scene-broadcaster-system', 'gz::sim::systems::SceneBroadcaster'),
    ('gz-sim-imu-system', 'gz::sim::systems::Imu'),
    ('gz-sim-forcetorque-system', 'gz::sim::systems::ForceTorque'),
)
WORLD = 'walking'
STEP = 0.001  # s, one update of the controller manager
MOTE, MOTE_INERTIA = 0.001, 1e-7  # kg, kg m^2: Gazebo drops links below 1e-5 kg
LOCK_EFFORT = 200.0  # N m, what an emulated lock may take; the joint itself has no motor
INERTIA = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
RAIL = 1e4  # m, how far a robot in the plane may go


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
    root = parse(gazebo_description(wiring))
    for foot, sensor in wiring.forces.items():
        _add_foot_sensor(root, foot, sensor)
    _keep_on_rails(root, wiring)
    robot = wiring.robot
    _add_rotors(root, robot)
    for foot in robot.feet:
        grip = _reference(root, foot)
        for name in ('mu1', 'mu2'):
            SubElement(grip, name).text = repr(wiring.friction)
    for link, name in wiring.imus.items():
        # else its orientation counts from that at its start
        own = (
            '<imu><orientation_reference_frame><localization>ENU</localization>'
            '</orientation_reference_frame></imu>'
        )
        _add_sensor(_reference(root, link), name, 'imu', own)
    root.append(
        fromstring(
            f'<gazebo><plugin filename="{PLUGIN_FILE}" name="{PLUGIN_NAME}">'
            f'<parameters>{escape(controllers)}</parameters>'
            # joints that take commands, until somebody commands them; passive ones swing
            '<hold_joints>true</hold_joints>'
            + (f'<ros><namespace>{escape(namespace)}</namespace></ros>' if namespace else '')
            + '</plugin></gazebo>'
        )
    )
    return _text(root)


def gazebo_world(wiring: Wiring) -> str:
    """Return the SDF of a world with the robot's floor, friction and gravity, at rest."""
    plugins = ''.join(f'<plugin filename="{file}" name="{name}"/>' for file, name in SYSTEMS)
    grip = ''.join(f'<{mu}>{wiring.friction!r}</{mu}>' for mu in ('mu', 'mu2'))
    surface = f'<surface><friction><ode>{grip}</ode></friction></surface>'
    parts = ''.join(
        f'<{kind} name="{kind}{number}">{shape}{more}</{kind}>'
        for kind, more in (('collision', surface), ('visual', ''))
        for number, shape in _shapes(wiring)
    )
    return _text(
        fromstring(
            f"""<sdf version="1.9"><world name="{WORLD}">
            <physics name="default" type="dart">
              <max_step_size>{STEP}</max_step_size><real_time_factor>1.0</real_time_factor>
            </physics>
            {plugins}
            <gravity>0 0 {-wiring.gravity!r}</gravity>
            <light type="directional" name="sun"><direction>-0.5 0.1 -0.9</direction></light>
            <model name="floor">
              <static>true</static><pose>0 0 0 0 {wiring.slope!r} 0</pose>
              <link name="floor">{parts}</link>
            </model>
            </world></sdf>"""
        )
    )


def _shapes(wiring: Wiring) -> Iterator[tuple[str, str]]:
    """Yield the shapes of the floor as SDF, behind what is put to their names."""
    if wiring.floor is None:
        yield '', '<geometry><plane><normal>0 0 1</normal><size>100 100</size></plane></geometry>'
        return
    for i, piece in enumerate(lay_profile(wiring.floor)):
        x, _, z = piece.middle
        size = ' '.join(repr(2.0 * half) for half in piece.size)
        yield (
            f'_{i}',
            f'<pose>{x!r} 0 {z!r} 0 {piece.pitch!r} 0</pose>'
            f'<geometry><box><size>{size}</size></box></geometry>',
        )


def at_speed(world: str, speed: float) -> str:
    """Return the SDF of a world that runs at a pace of real time."""
    return re.sub(r'(?<=<real_time_factor>)[^<]*', repr(speed), world)


def bridge_file() -> list[dict[str, Any]]:
    """Return the tree of bridge.yaml for ros_gz_bridge; sensors come by ros2_control."""
    return [
        {
            'ros_topic_name': '/clock',
            'gz_topic_name': '/clock',
            'ros_type_name': 'rosgraph_msgs/msg/Clock',
            'gz_type_name': 'gz.msgs.Clock',
            'direction': 'GZ_TO_ROS',
        }
    ]


def spawn_pose(wiring: Wiring) -> dict[str, float]:
    """Return x, y, z (m) and R, P, Y (rad) of the base in the world, where z is up."""
    tilt = pin.utils.rotate('y', wiring.slope)
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


def _add_foot_sensor(root: Element, foot: str, sensor: str) -> None:
    joint = next(
        (joint for joint in root.findall('joint') if _link_at(joint, 'child') == foot), None
    )
    if joint is None:
        raise UrdfError(
            f'foot {foot}',
            limit='has no joint above it for a force sensor',
            remedy='put the sole into a link of its own',
        )
    link = next(link for link in root.findall('link') if link.get('name') == foot)
    _give_mass(link)
    above = _reference(root, joint.get('name', ''))
    if joint.get('type') == 'fixed':  # else it would be lumped away, and the sensor with it
        SubElement(above, 'preserveFixedJoint').text = 'true'
    # what the foot does to the leg is what the floor does to the foot
    own = '<frame>child</frame><measure_direction>child_to_parent</measure_direction>'
    _add_sensor(above, sensor, 'force_torque', f'<force_torque>{own}</force_torque>')


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
        link = links[_link_at(joint, 'child')]
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


def _keep_on_rails(root: Element, wiring: Wiring) -> None:
    """Join a robot that moves in a plane, or does not turn, to the world by what it may do."""
    robot = wiring.robot
    if robot.is_free:
        return
    axes = [('prismatic', 'xyz'[axis], np.eye(3)[axis]) for axis in robot.base.axes]
    axes += [('continuous', angle, np.eye(3)[1]) for angle in robot.base.angles]
    above = 'world'
    SubElement(root, 'link', name=above)
    for i, (kind, name, axis) in enumerate(axes):
        below = robot.base_link if i == len(axes) - 1 else f'rail_{name}_link'
        if below != robot.base_link:
            _give_mass(SubElement(root, 'link', name=below))
        limit = f'<limit lower="{-RAIL!r}" upper="{RAIL!r}" effort="0.0" velocity="100.0"/>'
        root.append(
            fromstring(
                f"""<joint name="rail_{name}" type="{kind}">
                <parent link={quoteattr(above)}/><child link={quoteattr(below)}/>
                <axis xyz="{' '.join(f'{value:g}' for value in axis)}"/>
                {limit if kind == 'prismatic' else ''}</joint>"""
            )
        )
        above = below


def _reference(root: Element, name: str) -> Element:
    return SubElement(root, 'gazebo', reference=name)


def _add_sensor(above: Element, name: str, kind: str, own: str) -> None:
    above.append(
        fromstring(
            f'<sensor name={quoteattr(name)} type="{kind}"><always_on>true</always_on>'
            f'<update_rate>{1.0 / STEP:.0f}</update_rate>{own}</sensor>'
        )
    )


def _link_at(joint: Element, end: str) -> str | None:
    element = joint.find(end)
    return None if element is None else element.get('link')


def _text(root: Element) -> str:
    indent(root)
    return tostring(root, encoding='unicode') + '\n'


def spawn_arguments(wiring: Wiring) -> Iterator[str]:
    """Yield the arguments of ``ros_gz_sim create`` that place the robot."""
    for name, value in spawn_pose(wiring).items():
        if not math.isclose(value, 0.0, abs_tol=1e-9):
            yield f'-{name}'
            yield repr(value)
