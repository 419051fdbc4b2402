# SPDX-License-Identifier: Apache-2.0
"""A log of others is read strictly, and what is wrong with one is said in a line."""

import numpy as np
import pytest
import yaml

from walking_control.exceptions import InvalidInput
from walking_control.loading import load_robot
from walking_control.ros.recording.measured import import_log

ROWS = 40


def write_log(folder, step, truth):
    """Return paths of a log of a robot at rest, its base told, and of its layout."""
    robot_file = load_robot('walker3d')
    robot, weight = robot_file.robot, robot_file.scale.mass * 9.81
    columns = {'t': step * np.arange(ROWS)}
    for i, joint in enumerate(robot.joints):
        columns[joint] = np.full(ROWS, robot_file.start.posture[i])
    for axis, value in zip('xyzw', truth):
        columns[f'turn_{axis}'] = np.full(ROWS, value)
    for axis, value in zip('xyz', (0.0, 0.0, 0.8)):
        columns[axis] = np.full(ROWS, value)
    for foot in robot.feet:
        columns[f'{foot}_force'] = np.full(ROWS, weight / len(robot.feet))
    np.savetxt(
        folder / 'log.csv',
        np.column_stack(list(columns.values())),
        delimiter=',',
        header=','.join(columns),
        comments='',
    )
    names = list(robot.joints)
    layout = {
        'time': {'column': 't'},
        'joints': {'names': names, 'position': {'column': names}},
        'truth': {
            'position': {'column': ['x', 'y', 'z']},
            'orientation': {'column': [f'turn_{axis}' for axis in 'xyzw']},
        },
        'feet': {foot: {'column': f'{foot}_force'} for foot in robot.feet},
    }
    (folder / 'layout.yaml').write_text(yaml.safe_dump(layout), encoding='utf-8')
    return folder / 'log.csv', folder / 'layout.yaml', robot_file, folder / 'bag'


@pytest.mark.parametrize('step', [0.01, 0.5])
def test_a_base_without_imu_is_imported_however_slow_the_log_is(tmp_path, step):
    """A slow log, too short for its cubics, would end in a trace of the stack."""
    remarks = import_log(*write_log(tmp_path, step, (0.0, 0.0, 0.0, 1.0)))
    assert any('no IMU' in words for words in remarks)


def test_rows_without_orientation_are_refused_in_one_line(tmp_path):
    """Zeros, as a camera that lost the robot writes, would end in a trace of the stack."""
    with pytest.raises(InvalidInput, match=r'truth.orientation.*quaternions') as refused:
        import_log(*write_log(tmp_path, 0.01, (0.0, 0.0, 0.0, 0.0)))
    assert '\n' not in str(refused.value)
