# SPDX-License-Identifier: Apache-2.0
"""Files for ros2_control: of shipped robots and of one that is not."""

from dataclasses import replace
import json
import math
from xml.etree import ElementTree

import mujoco
from mujoco_place import HANDED_ON
import numpy as np
import pinocchio as pin
import pytest
from stranger import write_rabbit
import yaml

from walking_control.cli import main
from walking_control.loading import load_robot
from walking_control.models.base import Base
from walking_control.models.resources import robot_names
from walking_control.models.robot_file import World
from walking_control.models.urdf import differences, parse
from walking_control.ros.ros2_control.files import (
    CONTROLLERS,
    controllers_of,
    ros2_control_files,
    shipped_folder,
)
from walking_control.ros.ros2_control.gazebo import (
    gazebo_description,
    gazebo_model,
    gazebo_world,
    spawn_pose,
)
from walking_control.ros.ros2_control.mujoco import KEYFRAME, mujoco_description, write_mjcf
from walking_control.ros.ros2_control.names import wrench_broadcaster
from walking_control.ros.ros2_control.tags import GAZEBO, HARDWARE, MUJOCO, PLUGINS, tags
from walking_control.ros.ros2_control.wiring import wire

ROBOTS = [name for name in robot_names() if name != 'walker3d_point']
SOLID = {'compass': [('leg_inertia', 0.05), ('hip_mass', 5.0)]}  # simulators refuse point masses


@pytest.fixture(scope='module', params=ROBOTS)
def wired(request):
    """Return the robot file of a shipped robot and its `Wiring`."""
    robot_file = load_robot(request.param)
    return robot_file, wire(robot_file)


def test_a_link_of_any_name_rides_on_rails():
    """If it failed, a link named `a&b` would end the file in the middle."""
    robot_file = load_robot('dribbel')
    wiring = wire(robot_file)
    link = wiring.robot.base_link
    urdf = wiring.robot.urdf.replace(f'"{link}"', '"a&amp;b"')
    robot = replace(wiring.robot, urdf=urdf, base_link='a&b')
    root = parse(gazebo_model(replace(wiring, robot=robot), '/c.yaml'))
    assert root.find('joint[@name="rail_pitch"]/child').get('link') == 'a&b'


def lines(element):
    """Return what an XML element says, without layout."""
    return [(part.tag, part.attrib, (part.text or '').strip()) for part in element.iter()]


def own_tags(urdf):
    """Return the one ros2_control element of a URDF."""
    (element,) = parse(urdf).findall('ros2_control')
    return element


def test_shipped_files_are_what_the_generator_writes(wired):
    """If it failed, a robot would come up on files that no longer fit it."""
    robot_file, wiring = wired
    folder = shipped_folder(wiring.robot.name)
    texts = ros2_control_files(robot_file, wiring)
    assert {path.name for path in folder.iterdir()} == set(texts)
    for name, text in texts.items():
        assert (folder / name).read_text(encoding='utf-8') == text, (
            f'run walking_control ros2_control {wiring.robot.name} --out {folder}'
        )


def test_urdfs_carry_their_tags(wired):
    """If it failed, the controller manager would not find a joint or sensor of the robot."""
    _, wiring = wired
    own = own_tags(wiring.robot.urdf)
    assert lines(own) == lines(ElementTree.fromstring(tags(wiring, HARDWARE)))
    joints = {joint.get('name') for joint in own.findall('joint')}
    sensors = {sensor.get('name') for sensor in own.findall('sensor')}
    assert joints == set(wiring.robot.joints)
    assert sensors == {wiring.imu, *wiring.forces.values()} and len(sensors) == 3


def test_gazebo_switch_drops_locks(wired):
    """If it failed, gz_ros2_control would hold a joint with a lock at zero velocity for ever."""
    robot_file, wiring = wired
    section = 'robot.xacro_args'
    switched = load_robot(
        robot_file.path,
        [(f'{section}.gazebo', 'true'), (f'{section}.hardware_plugin', PLUGINS[GAZEBO])],
    ).robot.urdf
    own = own_tags(switched)
    assert lines(own) == lines(own_tags(gazebo_description(wiring)))
    assert not [state for state in own.iter() if state.get('name') == 'lock']
    assert own.find('hardware/plugin').text == 'gz_ros2_control/GazeboSimSystem'


def test_mock_sensors_begin_as_the_robot_does(wired):
    """If it failed, a dry run on mock components would begin with a fallen or floating robot."""
    robot_file, wiring = wired
    start = wiring.start
    for component in own_tags(wiring.robot.urdf):
        for state in component.findall('state_interface'):
            if state.get('name') != 'effort':
                value = float(state.find('param[@name="initial_value"]').text)
                assert value == start[f'{component.get("name")}/{state.get("name")}']
    attitude = [start[f'{wiring.imu}/orientation.{axis}'] for axis in 'xyzw']
    felt = [start[f'{wiring.imu}/linear_acceleration.{axis}'] for axis in 'xyz']
    assert np.linalg.norm(attitude) == pytest.approx(1.0, abs=1e-8)
    assert np.linalg.norm(felt) == pytest.approx(wiring.world.gravity, abs=1e-8)
    carried = sum(start[f'{sensor}/force.z'] for sensor in wiring.forces.values())
    assert carried == pytest.approx(robot_file.scale.mass * wiring.world.gravity)


def test_controllers_claim_what_the_tags_offer(wired):
    """If it failed, a controller could not be activated, or would move a joint nobody named."""
    _, wiring = wired
    descriptions = {
        HARDWARE: wiring.robot.urdf,
        GAZEBO: gazebo_description(wiring),
        MUJOCO: mujoco_description(wiring, '/model.xml'),
    }
    for target, description in descriptions.items():
        offered = {'command': set(), 'state': set()}
        for component in own_tags(description):
            for kind, names in offered.items():
                names |= {
                    f'{component.get("name")}/{interface.get("name")}'
                    for interface in component.findall(f'{kind}_interface')
                }
        claimed = []
        for plugin, parameters in controllers_of(wiring, target).values():
            if 'interface_name' in parameters:
                claimed += [
                    f'{joint}/{parameters["interface_name"]}' for joint in parameters['joints']
                ]
            elif 'joints' not in parameters and 'interfaces' in parameters:
                assert set(parameters['interfaces']) <= offered['state']
            elif 'interfaces' in parameters:
                assert {
                    f'{joint}/{name}'
                    for joint in parameters['joints']
                    for name in parameters['interfaces']
                } <= offered['state']
            else:
                word = 'force.z' if 'force_torque' in plugin else 'orientation.w'
                assert f'{parameters["sensor_name"]}/{word}' in offered['state']
        assert len(claimed) == len(set(claimed)) and set(claimed) == offered['command']


def test_every_controller_is_declared_and_configured(wired):
    """If it failed, a spawner would find no type or no parameters in the file."""
    _, wiring = wired
    for target, name in CONTROLLERS.items():
        tree = yaml.safe_load((shipped_folder(wiring.robot.name) / name).read_text())
        told = {key.removeprefix('/**/'): value['ros__parameters'] for key, value in tree.items()}
        manager = told.pop('controller_manager')
        expected = controllers_of(wiring, target)
        assert {name: manager[name]['type'] for name in expected} == {
            name: plugin for name, (plugin, _) in expected.items()
        }
        assert told == {name: parameters for name, (_, parameters) in expected.items()}
        assert told['effort_controller'] == {
            'joints': [name for name in wiring.robot.efforts if name in wiring.robot.joints],
            'interface_name': 'effort',
        }


def test_gazebo_model_keeps_its_feet_and_its_plane(wired):
    """If it failed, Gazebo would drop the feet with their sensors, or a flat robot would tip."""
    _, wiring = wired
    robot, root = wiring.robot, parse(gazebo_model(wiring, '/c.yaml', 'left'))
    for foot, sensor in wiring.forces.items():
        (link,) = root.findall(f'link[@name="{foot}"]')
        assert float(link.find('inertial/mass').get('value')) >= 1e-3
        (joint,) = (
            joint for joint in root.findall('joint') if joint.find('child').get('link') == foot
        )
        (above,) = root.findall(f'gazebo[@reference="{joint.get("name")}"]')
        assert joint.get('type') != 'fixed' or above.find('preserveFixedJoint').text == 'true'
        assert above.find('sensor').get('name') == sensor
        assert above.find('sensor/force_torque/measure_direction').text == 'child_to_parent'
    rails = [
        joint.get('name')
        for joint in root.findall('joint')
        if joint.get('name').startswith('rail_')
    ]
    assert rails == ([] if robot.base is Base.FREE else ['rail_x', 'rail_z', 'rail_pitch'])
    plugin = root.find('gazebo/plugin')
    assert plugin.find('parameters').text == '/c.yaml'
    assert plugin.find('ros/namespace').text == 'left'
    assert plugin.find('hold_joints').text == 'true'
    (imu,) = root.findall(f'gazebo/sensor[@name="{wiring.imu}"]')
    assert imu.find('imu/orientation_reference_frame/localization').text == 'ENU'


def test_gazebo_has_the_friction_of_the_robot_file(wired):
    """If it failed, feet would hold in Gazebo on a floor on which the robot slips, or slip."""
    robot_file, wiring = wired
    friction = robot_file.values(World).friction
    world = ElementTree.fromstring(gazebo_world(wiring))
    told = [mu.text for mu in world.findall('.//collision/surface/friction/ode/*')]
    root = parse(gazebo_model(wiring, '/c.yaml'))
    for foot in wiring.robot.feet:
        told += [
            mu.text
            for part in root.findall(f'gazebo[@reference="{foot}"]')
            for mu in part
            if mu.tag.startswith('mu')
        ]
    assert len(told) == 2 + 2 * len(wiring.robot.feet)
    assert set(map(float, told)) == {friction}


def felt(urdf, wiring, rotors=0.0):
    """Return what each joint accelerates with all others free, kg m^2, in the start posture."""
    model = pin.buildModelFromXML(urdf, pin.JointModelFreeFlyer())
    joints = [model.joints[model.getJointId(joint)] for joint in wiring.robot.joints]
    q = pin.neutral(model)
    q[[joint.idx_q for joint in joints]] = [
        wiring.start[f'{joint}/position'] for joint in wiring.robot.joints
    ]
    rows = [joint.idx_v for joint in joints]
    inertia = np.triu(pin.crba(model, model.createData(), q))
    inertia += np.triu(inertia, 1).T
    inertia[rows, rows] += rotors
    return 1.0 / np.diag(np.linalg.inv(inertia))[rows]


def test_rotors_weigh_in_gazebo():
    """If it failed, walker3d's ankles would be far too light there, or its links no bodies."""
    wiring = wire(load_robot('walker3d'))
    robot, told = wiring.robot, gazebo_model(wiring, '/c.yaml')
    rotors = np.array([robot.actuators[joint].armature for joint in robot.joints])
    exact = felt(robot.urdf, wiring, rotors)
    assert (felt(robot.urdf, wiring) / exact).min() < 0.01
    assert 0.7 < (felt(told, wiring) / exact).min() and (felt(told, wiring) / exact).max() < 1.7
    for link in parse(told).findall('link/inertial/inertia'):
        value = {name: float(text) for name, text in link.items()}
        moments = np.linalg.eigvalsh(
            [[value['i' + ''.join(sorted(a + b))] for b in 'xyz'] for a in 'xyz']
        )
        assert moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-9)


def test_descriptions_are_the_robot_itself(wired):
    """If it failed, the controller would refuse the robot_description of its own simulator."""
    _, wiring = wired
    for description in (gazebo_description(wiring), mujoco_description(wiring, '/model.xml')):
        assert differences(wiring.robot.urdf, description) == []
    if wiring.locks:
        limit = parse(gazebo_description(wiring)).find(f'joint[@name="{wiring.locks[0]}"]/limit')
        assert float(limit.get('effort')) > 0.0


def test_robots_are_spawned_where_they_start():
    """If it failed, a robot would fall onto the floor or grow out of it, on slopes too."""
    pose = spawn_pose(wire(load_robot('dribbel')))
    assert (pose['P'], pose['R'], pose['y']) == (pytest.approx(-0.15), 0.0, 0.0)
    level, sloped = (
        spawn_pose(wire(load_robot('humanoid', [('world.slope', slope)]))) for slope in (0.0, 0.1)
    )
    assert level['P'] == 0.0 and sloped['P'] == pytest.approx(0.1)
    assert sloped['z'] == pytest.approx(math.cos(0.1) * level['z'])


@pytest.mark.parametrize('name', ROBOTS)
def test_mjcf_senses_as_the_robot_does(name):
    """If it failed, mujoco_ros2_control would start elsewhere, or tell forces of another sign."""
    robot_file = load_robot(name, SOLID.get(name, ()))
    wiring = wire(robot_file)
    model = mujoco.MjModel.from_xml_string(write_mjcf(robot_file, wiring))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key(KEYFRAME).id)
    data.qpos[1 if robot_file.robot.base is Base.PLANAR else 2] -= 2e-4  # onto the floor
    data.qvel[:] = 0.0
    mujoco.mj_forward(model, data)
    sign = (
        controllers_of(wiring, MUJOCO)[wrench_broadcaster(robot_file.robot.feet[0])][1][
            'multiplier'
        ]['force']['z']
        * HANDED_ON
    )
    told = {
        foot: sign * data.sensor(f'{sensor}_force').data[2]
        for foot, sensor in wiring.forces.items()
    }
    pressed, force = dict.fromkeys(told, False), np.zeros(6)
    for i in range(data.ncon):
        body = model.body(model.geom_bodyid[data.contact.geom2[i]]).name
        mujoco.mj_contactForce(model, data, i, force)
        pressed[body] |= bool(force[0] > 1.0)  # a foot may touch the floor as it leaves it
    assert any(pressed.values())
    assert all((told[foot] > 1.0) == pressed[foot] for foot in told)
    attitude = data.sensor(f'{wiring.imu}_quat').data[[1, 2, 3, 0]]
    expected = [wiring.start[f'{wiring.imu}/orientation.{axis}'] for axis in 'xyzw']
    np.testing.assert_allclose(attitude, expected, atol=1e-6)
    for joint in wiring.robot.joints:
        assert data.joint(joint).qpos[0] == pytest.approx(
            wiring.start[f'{joint}/position'], abs=1e-6
        )
    assert [model.actuator(i).name for i in range(model.nu)] == [
        joint for joint in wiring.robot.joints if joint in (*wiring.motors, *wiring.locks)
    ]


def test_a_robot_from_outside_gets_its_files(tmp_path, capsys):
    """If it failed, only our own robots could be brought up."""
    sensors = (
        '<ros2_control name="mine" type="system"><hardware><plugin>mine/Arms</plugin>'
        '</hardware><sensor name="torso_unit"><state_interface name="orientation.x"/>'
        '</sensor><sensor name="left_foot_load"><state_interface name="force.z"/></sensor>'
        '</ros2_control></robot>'
    )
    path = write_rabbit(tmp_path, change_urdf=lambda urdf: urdf.replace('</robot>', sensors))
    out = tmp_path / 'out'
    assert main(['ros2_control', str(path), '--out', str(out), '--force-sign', '-1', '--json']) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result['imu'], result['forces']) == (
        'torso_unit',
        {'left_foot': 'left_foot_load', 'right_foot': 'right_foot_sensor'},
    )
    assert {str(path) for path in out.iterdir()} == set(result['files'])
    tree = yaml.safe_load((out / 'controllers.yaml').read_text())
    assert tree['/**/left_foot_broadcaster']['ros__parameters']['multiplier']['force']['z'] == -1.0
    gazebo = yaml.safe_load((out / 'gazebo_controllers.yaml').read_text())
    assert gazebo['/**/left_foot_broadcaster']['ros__parameters']['multiplier']['force']['z'] == 1.0
    launch = ElementTree.parse(out / 'bringup.launch.xml').getroot()
    assert launch.find('include/arg[@name="robot"]').get('value') == str(path)


def test_a_robot_without_motors_is_refused(capsys):
    """If it failed, files would be written that no hardware can be behind."""
    assert main(['ros2_control', 'walker3d_point']) == 2
    error = capsys.readouterr().err
    assert error.count('\n') == 1 and 'no motors' in error


def test_motes_and_emulated_locks_are_no_other_robot():
    """If it failed, real differences of mass and limit would pass, or those of simulators not."""
    urdf = load_robot('dribbel').robot.urdf
    heavier = urdf.replace(
        '<link name="outer_foot">',
        '<link name="outer_foot"><inertial><mass value="0.001"/></inertial>',
    )
    assert heavier != urdf and differences(urdf, heavier) == []
    assert differences(urdf, heavier.replace('"0.001"', '"0.1"'))
    assert differences(urdf, urdf.replace('effort="22.0"', 'effort="21.0"'))
    assert differences(urdf, urdf.replace('lower="-2.2"', 'lower="-2.0"'))
