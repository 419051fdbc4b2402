# SPDX-License-Identifier: Apache-2.0
"""Logs of robots: what is imported is what was measured, and the estimator is honest about it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import yaml

from walking_control.cli import main
from walking_control.lab.experiments.impact import analyse_impact
from walking_control.loading import load_robot
from walking_control.runs.kinematics import estimation_measures
from walking_control.simulation.sensors import noise_overrides
from walking_control.simulation.simulate import simulate

DATA = Path(
    os.environ.get('WALKING_CONTROL_DATA') or Path(__file__).parents[2].parent / 'shared' / 'data'
)
HONEST = {
    'gyro_sigma': 0.02,
    'acceleration_sigma': 0.3,
    'position_sigma': 0.005,
    'velocity_sigma': 0.16,
    'foot_motion': 0.02,
    'gyro_bias_sigma': 0.008,
    'acceleration_bias_sigma': 0.3,
    'orientation_sigma': 0.01,
}


@pytest.fixture(scope='module')
def log(tmp_path_factory):
    """Return the path of a table of a noisy walk, its layout and its `Run`."""
    folder, heard = tmp_path_factory.mktemp('log'), []
    robot_file = load_robot('walker3d', [*noise_overrides('lab'), ('stepping.speed', 0.4)])
    run = simulate(
        robot_file,
        controller='stepping',
        duration=1.6,
        listen=lambda measurement, *_: heard.append((measurement.stamp, measurement.values.copy())),
    )
    robot = robot_file.robot
    names, columns, layout = ['t'], [[stamp for stamp, _ in heard]], {'time': {'column': 't'}}

    def add(name, values, **told):
        width = values.shape[1]
        names.extend(f'{name}{i}' for i in range(width))
        columns.extend(values.T)
        return {'column': [f'{name}{i}' for i in range(width)], **told}

    values = np.array([row for _, row in heard])
    n = len(robot.joints)
    parts = np.split(values, np.cumsum([n, n, 4, 3, 3]), axis=1)
    layout['joints'] = {
        'names': list(robot.joints),
        'position': add('q', np.degrees(parts[0]), unit='deg'),
        'velocity': add('v', parts[1]),
    }
    layout['imu'] = {
        'orientation': add('o', parts[2]),
        'angular_velocity': add('w', parts[3]),
        'linear_acceleration': add('a', parts[4] / 9.80665, unit='g'),
    }
    layout['feet'] = {
        foot: add(foot, parts[5][:, 3 * i : 3 * i + 3]) for i, foot in enumerate(robot.feet)
    }
    layout['truth'] = {
        'position': add('p', run.base.position),
        'orientation': add('r', run.base.orientation),
    }
    path = folder / 'log.csv'
    np.savetxt(
        path, np.array(columns).T, delimiter=',', header=','.join(names), comments='', fmt='%.12g'
    )
    (folder / 'layout.yaml').write_text(yaml.safe_dump(layout))
    return path, layout, run


def read(log, tmp_path, change=lambda layout: None, **words):
    """Import a log by a changed layout; return the exit status."""
    path, layout, _ = log
    layout = json.loads(json.dumps(layout))
    change(layout)
    (tmp_path / 'layout.yaml').write_text(yaml.safe_dump(layout))
    robot = words.get('robot', 'walker3d')
    return main(
        [
            'import',
            str(path),
            str(tmp_path / 'layout.yaml'),
            '--robot',
            robot,
            '--out',
            str(tmp_path / 'bag'),
        ]
    )


def test_a_log_is_what_was_measured(log, tmp_path, capsys):
    """The estimator would be judged on other numbers than the robot's."""
    assert read(log, tmp_path) == 0
    noise = [
        word
        for name, value in noise_overrides('lab')
        for word in ('--set', f'{name}={value}')
        if name.startswith('estimator')
    ]
    capsys.readouterr()
    assert main(['estimate', str(tmp_path / 'bag'), '--json', *noise]) == 0
    whole = json.loads(capsys.readouterr().out)['whole']
    measures = estimation_measures(log[2])
    assert whole['rows'] == len(log[2].time)
    assert whole['tilt_rms'][0] == pytest.approx(measures['roll_rms'], rel=0.15)
    # the heading at first, which the truth is turned to, is no error here
    assert whole['place_final'] <= measures['position_final'] + 0.002


def test_a_folder_of_tables_without_an_imu_is_imported(log, tmp_path, capsys):
    """A humanoid's log of several files, and of no IMU, could not be read."""
    lines, folder = log[0].read_text('utf-8').splitlines(), tmp_path / 'tables'
    folder.mkdir()
    for name, part in (('motion', slice(0, 25)), ('rest', slice(25, None))):
        cells = (';'.join(line.split(',')[part]) for line in lines)
        (folder / f'{name}.csv').write_text('\n'.join(cells) + '\n', encoding='utf-8')
    table = {
        column: f'{path.stem}.{column}'
        for path in folder.iterdir()
        for column in path.read_text('utf-8').splitlines()[0].split(';')
    }

    def named(told):
        if isinstance(told, dict):
            for name, value in told.items():
                told[name] = named(value) if name != 'names' else value
            return told
        if isinstance(told, list):
            return [table[name] for name in told]
        return table.get(told, told)

    def change(layout):
        named(layout)
        del layout['imu']

    assert read((folder, *log[1:]), tmp_path, change) == 0
    assert 'no IMU' in capsys.readouterr().err
    assert main(['estimate', str(tmp_path / 'bag'), '--json']) == 0
    assert json.loads(capsys.readouterr().out)['whole']['tilt_rms'][0] < 0.02
    assert main(['measure', str(tmp_path / 'bag'), '--json']) == 0
    told = json.loads(capsys.readouterr().out)['indicators']
    assert told['distance_travelled']['value'] > 0.1


def other_unit(layout):
    layout['joints']['position']['unit'] = 'rad'


def other_sign(layout):
    layout['joints']['velocity']['factor'] = -1.0


def other_joints(layout):
    layout['joints']['names'][0] = 'tail'


def other_column(layout):
    layout['imu']['angular_velocity']['column'] = ['w0', 'w1', 'w9']


@pytest.mark.parametrize(
    'change, words',
    [
        (other_unit, 'is it told in degrees?'),
        (other_sign, 'its sign is the other one'),
        (other_joints, "'tail': no joints of walker3d"),
        (other_column, 'has no column w9'),
    ],
)
def test_what_cannot_be_is_named(log, tmp_path, capsys, change, words):
    """A wrong unit or order would be called a bad estimator."""
    assert read(log, tmp_path, change) == 2
    error = capsys.readouterr().err
    assert words in error and error.count('\n') == 1, error


@pytest.mark.long
def test_noise_is_fitted_to_a_part(log, tmp_path, capsys):
    """Whoever has a camera would have to guess what the sensors of his robot are worth."""
    assert read(log, tmp_path) == 0
    capsys.readouterr()
    from walking_control.ros.recording import log_estimate

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_estimate, 'EVALUATIONS', 10)
        assert main(['estimate', str(tmp_path / 'bag'), '--fit', '0.6', '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['held_out']['nees'] > 0.0 and set(found['parameters']) >= {'gyro_sigma'}


@pytest.mark.long
def test_a_real_icub_is_estimated_honestly(tmp_path, capsys):
    """What holds in simulation alone would be promised to real robots."""
    folder = DATA / 'icub_genova04'
    if not (folder / 'walking.mat').is_file():
        pytest.skip(
            'measurements of real robots are not here: set WALKING_CONTROL_DATA; iCub is '
            'in ami-iit/paper_ramadoss-2022-iros-humanoid-base-estimation'
        )
    assert main(['adopt', str(folder / 'model.urdf'), '--forward=-x', '--out', str(tmp_path)]) == 0
    file = tmp_path / 'iCub.yaml'
    file.write_text(
        file.read_text().replace('base: free', 'base: free\n      imu_link: root_link_imu_frame')
    )
    layout = Path(__file__).parents[2] / 'config' / 'logs' / 'icub_genova04.yaml'
    bag = str(tmp_path / 'bag')
    assert (
        main(
            ['import', str(folder / 'walking.mat'), str(layout), '--robot', str(file), '--out', bag]
        )
        == 0
    )
    noise = [
        word for name, value in HONEST.items() for word in ('--set', f'estimator.{name}={value}')
    ]
    capsys.readouterr()
    assert main(['estimate', bag, '--json', *noise, '--set', 'estimator.way_scale=1.035']) == 0
    whole = json.loads(capsys.readouterr().out)['whole']
    assert whole['place_share'] < 0.02 and 0.3 < whole['nees'] < 2.0
    assert np.degrees(whole['tilt_rms']) == pytest.approx([0.48, 0.51], abs=0.1)
    # no foot tells its force, and the log has no efforts: by the IMU
    settings = '--set', 'estimator.way_scale=1.035', '--set', 'robot.foot_forces=imu'
    assert main(['estimate', bag, '--json', *noise, *settings]) == 0
    whole = json.loads(capsys.readouterr().out)['whole']
    assert whole['place_share'] < 0.03 and 0.3 < whole['nees'] < 2.0


def test_torques_of_a_real_humanoid_tell_what_its_feet_bear(capsys):
    """Loads without sensors would be right in simulation alone."""
    import real_foot_loads

    if not (DATA / 'reemc' / 'robot.yaml').is_file():
        pytest.skip(
            'measurements of real robots are not here: set WALKING_CONTROL_DATA; REEM-C is in '
            'eurobench/eb_hum_bench'
        )
    shares = real_foot_loads.main(DATA / 'reemc')
    assert shares['torques and base'].max() < 0.11
    assert shares['base alone'].min() > 0.2  # it is the torques that tell


@pytest.mark.long
def test_a_real_compass_lands_as_the_impact_law_says(capsys):
    """The law that every walk here stands on would not be that of a real walker."""
    import real_compass

    path = DATA / 'sydney_compass' / 'SysID_data_12exp_120steps.mat'
    if not path.is_file():
        pytest.skip(
            'measurements of real robots are not here: set WALKING_CONTROL_DATA; the '
            'compass is in imanchester/SydneyCompassGait'
        )
    found = real_compass.main(path)
    plastic, locked = found[real_compass.FREE_HIP], found[real_compass.LOCKED_HIP]
    assert plastic['share'] < 0.1 and locked['share'] > 0.3
    elastic, sliding = found[real_compass.ELASTIC], found[real_compass.SLIDING]
    assert elastic['parameters'][4] < 0.02  # no rebound
    assert sliding['rms'] == pytest.approx(plastic['rms'], rel=0.02)  # no slip
    assert '114 impacts' in capsys.readouterr().out


def test_the_impact_of_the_example_is_the_one_of_the_plants():
    """The fit would judge another law than the one that walks here."""
    import real_compass

    impact = np.array(analyse_impact(load_robot('compass'), [-0.2, 0.4])['impact_map'])
    # stance leg and hip; a point mass in the middle of each leg, five at the hip
    for rates in np.eye(2):
        old, new = real_compass.hit(
            (-0.2, 0.2),
            (rates[0], rates.sum()),
            np.log([5.0, 0.5, 1e-12, 1.0, 1.0]),
            real_compass.FREE_HIP,
        )
        assert impact @ rates == pytest.approx([new, old - new], abs=1e-9)


def test_other_impacts_of_the_example_end_in_the_plastic_one():
    """The fit would compare the plastic law with something that is none of the book's."""
    import real_compass

    def after(law, last):
        return real_compass.hit((-0.2, 0.2), (-1.0, 0.4), np.log([1.6, 0.1, 0.01, 1.0, last]), law)

    plastic = after(real_compass.FREE_HIP, 1.0)
    assert after(real_compass.ELASTIC, 1e-12) == pytest.approx(plastic, abs=1e-9)
    assert after(real_compass.SLIDING, 1e3) == pytest.approx(plastic, abs=1e-12)
    rebound = after(real_compass.ELASTIC, 1.0)
    assert rebound - plastic == pytest.approx(plastic - [-1.0, 0.4], abs=1e-9)
    assert abs(after(real_compass.SLIDING, 1e-3) - plastic).max() > 0.01
