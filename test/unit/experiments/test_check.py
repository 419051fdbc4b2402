# SPDX-License-Identifier: Apache-2.0
"""`check` is the place that knows what stands in the way of a robot, all of it, with a remedy."""

from pathlib import Path

import pytest
from stranger import rabbit_urdf, write_rabbit

from walking_control.cli.parser import make_parser
from walking_control.lab.experiments import check
from walking_control.lab.experiments.check import check_robot
from walking_control.models.resources import robot_names


def limits_of(result):
    """Return the problems of a check as text."""
    return [f'{p["what"]} is {p["value"]}: {p["limit"]}; {p["remedy"]}' for p in result['problems']]


def test_a_good_stranger_is_usable(tmp_path):
    """A robot with nothing wrong would be turned away."""
    result = check_robot(write_rabbit(tmp_path))
    assert result['ok'] and result['problems'] == []
    assert result['facts']['mass'] == pytest.approx(32.0)


@pytest.mark.parametrize(
    'name',
    [
        pytest.param(name, marks=pytest.mark.long) if name == 'walker3d_built' else name
        for name in robot_names()
    ],
)
def test_shipped_robots(name):
    """`check` would break, or find fault, with a robot that everybody walks."""
    result = check_robot(name)
    assert result['ok'] and result['problems'] == []


def test_a_urdf_may_be_named_in_capitals(tmp_path):
    """What SolidWorks calls .URDF would be read as YAML."""
    path = tmp_path / 'RABBIT.URDF'
    path.write_text(rabbit_urdf())
    assert check_robot(path)['facts']['links']


def test_the_remedy_is_that_of_the_cause():
    """Whose motor is too weak would be told to move the centre of mass."""
    weak = [('controller', 'static_torque'), ('static_torque.effort_share', 0.05)]
    (problem,) = check_robot('humanoid', weak)['problems']
    assert 'joint_torque' in problem['limit'] and 'stronger motor' in problem['remedy']


def edit_start(*q):
    """Return an edit of the start."""
    return lambda tree: tree['start'].update(q=list(q))


def low_threshold(tree):
    """Ask for more force than a dwarf weighs."""
    tree['estimator'] = {'contact_on': 15.0, 'contact_off': 5.0}


@pytest.mark.parametrize(
    'arguments, words',
    [
        ({'offset': 0.02}, ('robot.mirror', 'legs differ', 'make the legs equal')),
        ({'edit': edit_start(3.0, 0.3, -0.3, -0.5, 0.4)}, ('start.q', 'below the stance foot')),
        (
            {'edit': low_threshold, 'mass': 0.5 / 32.0},
            ('contact_on is 15.0', 'never count as standing', 'carries 2.45 N'),
        ),
        (
            {
                'change_urdf': lambda text: text.replace(
                    '<sphere radius="0.02"/>', '<mesh filename="package://no/such.stl"/>'
                )
            },
            ('collision meshes', 'package://no/such.stl', 'no such file, nor 1 others'),
        ),
        (
            {
                'change_urdf': lambda text: text.replace('"-1.5" upper="1.5"', '"0" upper="0"'),
                'edit': edit_start(0.3, 0.0, 0.0, 0.0, 0.0),
            },
            ('left_hip', 'leave no room'),
        ),
    ],
)
def test_what_stands_in_the_way(tmp_path, arguments, words):
    """`check` would say usable to a robot that cannot walk."""
    result = check_robot(write_rabbit(tmp_path, **arguments))
    assert not result['ok']
    assert any(all(word in text for word in words) for text in limits_of(result)), limits_of(result)
    assert all(problem['limit'] and problem['remedy'] for problem in result['problems'])


def test_swing_foot_in_the_floor(tmp_path):
    """The first touchdown of a run would never be seen."""
    result = check_robot(write_rabbit(tmp_path, edit=edit_start(0.0, 0.6, -0.3, 0.0, 0.0)))
    assert 'right_foot' in limits_of(result)[0] and 'into the floor' in limits_of(result)[0]


def test_meshes_are_found_where_they_may_lie(tmp_path, monkeypatch):
    """A mesh beside the URDF, in a package around it or in a workspace would be called missing."""
    from walking_control.models.resources import find_meshes, missing_meshes

    names = [
        'foot.stl',
        'package://here/foot.stl',
        'package://there/meshes/foot.stl',
        'no.stl',
        'http://[',
        'long' * 100,
    ]
    urdf = (
        '<robot name="r">'
        + ''.join(
            f'<link name="{i}"><visual><geometry>'
            f'<mesh filename="{name}"/></geometry></visual></link>'
            for i, name in enumerate(names)
        )
        + '</robot>'
    )
    folder, there = tmp_path / 'here', tmp_path / 'ws' / 'share' / 'there' / 'meshes'
    for place in (folder, there):
        place.mkdir(parents=True)
        (place / 'foot.stl').write_text('solid')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'ws'))
    found = find_meshes(urdf, folder)
    assert [name for _, name in missing_meshes(urdf, found)] == names[3:]
    assert found['package://there/meshes/foot.stl'] == str(there / 'foot.stl')


def test_lost_meshes_list_each_folder_once(tmp_path, monkeypatch):
    """A hundred lost meshes in a folder of ten thousand files would take minutes."""
    from walking_control.models.resources import find_meshes

    (tmp_path / 'FOOT.STL').write_text('solid')
    shapes = ''.join(
        f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
        for name in ('foot.stl', *(f'lost_{number}.stl' for number in range(9)))
    )
    listed, iterdir = [], Path.iterdir
    monkeypatch.setattr(Path, 'iterdir', lambda path: listed.append(path) or iterdir(path))
    found = find_meshes(f'<robot name="r"><link name="a">{shapes}</link></robot>', tmp_path)
    assert found == {'foot.stl': str(tmp_path / 'FOOT.STL')}
    assert listed == [tmp_path]


def test_meshes_beside_the_urdf_reach_mujoco(tmp_path, monkeypatch):
    """MuJoCo would seek relative names in the working directory and know no package://."""
    pytest.importorskip('mujoco')
    from walking_control.loading import load_robot
    from walking_control.simulation.registry import make_plant

    folder = tmp_path / 'rabbit'
    folder.mkdir()
    corners = [(0.0, 0.0, 0.0), (0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.02)]
    (folder / 'foot.obj').write_text(
        ''.join('v {} {} {}\n'.format(*corner) for corner in corners)
        + 'f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n'
    )
    monkeypatch.chdir(tmp_path)
    for name in ('foot.obj', 'package://rabbit/foot.obj'):
        path = write_rabbit(
            folder,
            change_urdf=lambda text, name=name: text.replace(
                '<sphere radius="0.02"/>', f'<mesh filename="{name}"/>', 1
            ),
        )
        plant = make_plant(load_robot(path), 'mujoco')
        assert plant.engine.model.nmesh == 1


def test_controllers_are_judged_by_the_file(tmp_path):
    """A file that walks would be said to fit no controller, or one that does not walk to fit."""
    from walking_control.models.resources import gait_path, robot_path

    text = Path(robot_path('dribbel')).read_text()
    urdf = (Path(robot_path('dribbel')).parent / '../../urdf/dribbel.urdf.xacro').resolve()
    path = tmp_path / 'renamed.yaml'
    path.write_text(
        text.replace('../../urdf/dribbel.urdf.xacro', str(urdf)).replace(
            'curve_tracking:', f'curve_tracking:\n      gait: {gait_path("dribbel")}'
        )
    )
    assert 'curve_tracking' in check_robot(path)['facts']['controllers']
    spoilt = check_robot(path, [('curve_tracking.gait', 'no_such_gait')])['facts']
    assert 'curve_tracking' not in spoilt['controllers']
    assert 'no_such_gait' in spoilt['not curve_tracking']


def test_the_own_law_alone(monkeypatch):
    """Who stands beside a robot with `--live` does not wait until all laws are made."""

    class AskedForError(Exception):
        pass

    def check_it(*_, all_laws):
        raise AskedForError(all_laws)

    for words, all_laws in (['--live'], False), ([], True):
        options = make_parser().parse_args(['check', 'dribbel', *words])
        with monkeypatch.context() as patched:
            patched.setattr(check, 'check_robot', check_it)
            with pytest.raises(AskedForError, match=str(all_laws)):
                options.run(options)
    facts = check_robot('dribbel', all_laws=False)['facts']
    assert facts['controllers'] == ['hip_switching']
    assert not any(name.startswith('not ') for name in facts if 'plant' not in name)
    told = check_robot('dribbel', [('controller', 'hip_swiching')], all_laws=False)['problems']
    assert 'hip_swiching' in str(told)


def test_all_problems_at_once(tmp_path):
    """A newcomer would meet one mistake after the other."""

    def edit(tree):
        low_threshold(tree)
        tree['controller'] = 'hip_pd'

    result = check_robot(write_rabbit(tmp_path, mass=0.5 / 32.0, offset=0.02, edit=edit))
    text = ' '.join(limits_of(result))
    assert (
        len(result['problems']) == 3
        and 'legs differ' in text
        and 'contact_on' in text
        and 'controller hip_pd on rabbit' in text
        and 'hip_switching' not in text
    )
