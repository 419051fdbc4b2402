# SPDX-License-Identifier: Apache-2.0
"""What version 1.0 promises of the library stays until 2.0 (CONTRIBUTING.md, Versions)."""

import inspect

import pytest

import walking_control as wc

# name -> its arguments, or fields, of version 1.0
PROMISED = {
    'adopt': 'path told',
    'array_function': 'function',
    'ArrayLaw': 'function knowledge memory knee_flexed passive',
    'bare_robot': 'urdf name',
    'bring_up': 'site',
    'choose': 'kind order parameters',
    'Command': 'robot',
    'Contact': (
        'frame length width friction offset torsional_friction min_force max_force rotation '
        'adhesion shear twist'
    ),
    'Controller': 'args parameters',
    'ControlLoop': 'robot_file controller latch',
    'Dynamics': 'robot gravity slope',
    'Engine': 'args parameters',
    'Estimator': 'robot values slope gravity delay',
    'find_controllers': 'robot_file',
    'find_cycles': 'robot_file controller seed starts progress',
    'find_first_failure': 'robot_file kind largest resolution plant heavier progress',
    'find_hip': 'robot controller',
    'InvalidInput': 'what value limit remedy',
    'KneeLocks': 'robot flexed',
    'LawParameters': 'rate',
    'load_robot': 'name_or_path overrides parameters',
    'load_urdf': 'path xacro_args',
    'make_controller': 'robot_file name',
    'make_estimator': 'robot_file delay',
    'make_plant': 'robot_file name robot',
    'Measurement': 'robot',
    'parameter': 'default unit description minimum maximum choices live scaled',
    'Parameters': '',
    'Plant': 'engine sensors',
    'plot_run': 'run name',
    'read_route': 'name_or_path',
    'Reference': 'speed velocity posture support stop lower pace room',
    'Robot': (
        'name urdf base_link imu_link base joints limits feet mirror coordinates supports '
        'actuators locks springs friction thermal servos push_off ground_torque meshes '
        'more_imus signals effort_share foot_forces'
    ),
    'RobotFile': 'path robot start controller plant standby sections tree',
    'Route': 'segments noise posture controller',
    'Run': (
        'robot controller plant world fell fall_reason fault settings disturbances sensors '
        'telemetry units route columns'
    ),
    'search_gait': 'robot_file task optimise seed start progress alone',
    'simulate': 'robot_file controller plant duration disturb progress route listen',
    'Site': 'path folder speed duration evaluations seed gaits current done progress more',
    'Start': 'support q v posture',
    'StaticTorque': 'dynamics contacts objective effort_limits solver',
    'summarize': 'run',
    'Summary': (
        'robot controller plant fell fall_reason fault fault_time fault_reason duration '
        'steps distance speed cost_of_transport cost_of_transport_electrical peak_effort '
        'peak_current min_normal_force max_friction_ratio scuffs foot_depth foot_depth_ahead '
        'scuff_reach energy_injected squared_effort_per_step mass slope gravity friction '
        'sensors steady on_gait posture estimator'
    ),
    'Told': (
        'name feet base forward mirror fixed efforts armatures sole posture bend strict '
        'drives foot_forces'
    ),
    'Walk': 'plant loop start ticks before listen',
    'WalkerState': 'robot',
    'WalkingControlError': 'what value limit remedy',
    'write_report': 'run summary directory',
}


@pytest.mark.parametrize('name', PROMISED)
def test_what_is_promised_is_there(name):
    """Somebody's script would break, though the version says that it still works."""
    assert name in wc.__all__
    taken = inspect.signature(getattr(wc, name)).parameters
    missing = set(PROMISED[name].split()) - set(taken)
    assert not missing, f'{name} lost {missing}: keep the old name until the next major number'


def test_every_public_name_is_promised():
    """A name would be offered that nobody has promised to keep."""
    assert set(wc.__all__) - {'__version__'} == set(PROMISED)
