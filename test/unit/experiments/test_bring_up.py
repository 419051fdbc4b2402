# SPDX-License-Identifier: Apache-2.0
"""Steps of bringing a robot up: order, what stops them, what is not repeated."""

from dataclasses import make_dataclass
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from planar_strangers import compass_urdf
import pytest
from static_robots import real_path
from stranger import write_rabbit

from walking_control.cli import main
from walking_control.cli.robots import sentence
from walking_control.exceptions import InvalidInput, NotAchieved
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.adoption.guess import Told
from walking_control.lab.experiments.bring_up import margins, natural, planar, run, spatial, step
from walking_control.lab.experiments.bring_up.natural import first_best, natural_gait, search_family
from walking_control.lab.experiments.bring_up.planar import stand
from walking_control.lab.experiments.bring_up.run import bring_up, Journal, summarize
from walking_control.lab.experiments.bring_up.spatial import legs_alone
from walking_control.lab.experiments.bring_up.step import Outcome, Site, Step
from walking_control.lab.experiments.gait_search import scuff_length
from walking_control.lab.reports.pages import write_page
from walking_control.loading import load_robot
from walking_control.models.resources import gait_path, robot_path
from walking_control.search.space_parameters import SpaceSearchParameters
from walking_control.simulation.disturbance import parse_disturbance


@pytest.fixture
def site(tmp_path):
    """Return a `Site` of a planar robot."""
    path = write_rabbit(tmp_path)
    folder = tmp_path / 'up'
    folder.mkdir()
    return Site(path, folder, progress=lambda text: None)


@pytest.fixture
def steps(monkeypatch):
    """Return the names of steps as they are done; `first`, `second` and `third` stand in for all.

    The second writes a robot file to go on with.
    """
    done, fails = [], set()

    def do(name):
        def go(site):
            done.append(name)
            if name in fails:
                raise NotAchieved(name, value=0.3, limit='too little', remedy='more')
            if name == 'second':
                path = site.folder / 'next.yaml'
                site.load().write(path)
                return Outcome(True, name, robot_file=str(path))
            return Outcome(True, name)

        return go

    monkeypatch.setattr(run, 'CHECK', Step('check', (), do('check')))
    monkeypatch.setattr(
        run,
        'PLANAR_STEPS',
        (
            Step('first', ('check',), do('first')),
            Step('second', ('first',), do('second')),
            Step('third', ('second',), do('third')),
        ),
    )
    done_and_fails = type('Steps', (), {'done': done, 'fails': fails})
    return done_and_fails


def test_what_is_done_is_not_repeated(site, steps):
    """A second run would search everything again."""
    bring_up(site)
    assert steps.done == ['check', 'first', 'second', 'third']
    again = bring_up(site)
    assert len(steps.done) == 4 and all(known for _, _, known in again)
    assert site.current == site.folder / 'next.yaml'


def test_a_killed_run_goes_on(site, steps):
    """Who is interrupted would begin at the beginning."""
    steps.fails.add('third')
    interrupted = False

    def progress(text):
        if text.startswith('second ...'):
            raise KeyboardInterrupt

    site.progress = progress
    try:
        bring_up(site)
    except KeyboardInterrupt:
        interrupted = True
    assert interrupted and steps.done == ['check', 'first']
    site.progress = lambda text: None
    bring_up(site)
    assert steps.done == ['check', 'first', 'second', 'third']


def test_changed_robot_and_lost_files_are_done_again(site, steps):
    """An edited robot file would keep the results of the old one."""
    bring_up(site)
    (site.folder / 'next.yaml').unlink()
    bring_up(site)
    assert steps.done[4:] == ['second']
    site.path.write_text(site.path.read_text().replace('friction: 0.8', 'friction: 0.7'))
    bring_up(site)
    assert steps.done[5:] == ['check', 'first', 'second', 'third']


def test_what_stands_in_the_way_has_a_number(site, steps):
    """A step that fails would end the rest without a word, or the rest would go on regardless."""
    steps.fails.add('second')
    result = summarize(bring_up(site))
    assert not result['ok'] and result['stopped_at'] == 'second'
    second, third = result['steps'][2:]
    assert (second['value'], second['limit'], second['remedy']) == (0.3, 'too little', 'more')
    assert not third['ok'] and 'second did not pass' in third['what']
    page = write_page(site.folder / 'bring_up.html', **result)
    assert sentence(second).endswith('0.3 too little; more')
    assert sentence({**second, 'value': None}).endswith('too little; more')
    assert '0.3 too little' in (site.folder / 'bring_up.html').read_text() and page


def test_a_spoilt_journal_is_refused(site):
    """A file of that name that is something else would be overwritten."""
    (site.folder / 'bring_up.json').write_text('{"entries": 3}')
    with pytest.raises(InvalidInput, match='cannot be read'):
        Journal(site.folder)


def test_planar_statics_know_the_torque(site):
    """The torque that holds a planar robot would be that of another posture or weight."""
    adoption = adopt(site.path.parent / 'rabbit.urdf', Told())
    site.current, _ = adoption.write(site.folder)
    outcome = stand(site)
    assert outcome.ok and 0.05 < outcome.value < 0.5
    # half the motors: twice the share
    tree = site.current.read_text()
    site.current.write_text(tree.replace('current_limit: 150.0', 'current_limit: 75.0'))
    assert stand(site).value == pytest.approx(2.0 * outcome.value, abs=2e-3)
    site.current.write_text(tree.replace('current_limit: 150.0', 'current_limit: 2.0'))
    weak = stand(site)
    assert not weak.ok and weak.value > 1.0


def test_no_evaluations_tune_nothing(site, monkeypatch):
    """Tuning that was declined would go on for as long as a robot that falls lets it."""
    fell = Outcome(False, 'it fell', 0.4, 's of 5 s')
    monkeypatch.setattr(planar, 'walk', lambda *arguments: fell)
    monkeypatch.setattr(planar.tuning, 'tune', None)
    site.path = site.current = adopt(site.path.parent / 'rabbit.urdf', Told()).write(site.folder)[0]
    site.evaluations = 0
    assert planar.gains(site) is fell


def test_a_walk_that_costs_too_much_ends(monkeypatch):
    """A walk whose contacts chatter would hold the bring-up up without a word."""
    monkeypatch.setattr(step, 'PATIENCE', 0.0)
    with pytest.raises(NotAchieved, match='processor time'):
        step.walk(None, load_robot('dribbel'), 'mujoco', 1.0)


def test_the_scuff_to_forgive_is_a_number():
    """What straight legs need would have to be read from a sentence."""

    def found(path, robot='compass', **values):
        result = SimpleNamespace(judgement=SimpleNamespace(foot=np.array(path), step=(0.2,)))
        return SimpleNamespace(
            result=result,
            robot_file=load_robot(
                robot, [(f'rigid.{name}', value) for name, value in values.items()]
            ),
        )

    under = [(-0.1, -0.004), (0.03, -0.002), (0.05, -0.0005), (0.1, 0.01)]
    assert scuff_length(found(under, scuff_length=-10.0)) == pytest.approx(0.05)
    assert scuff_length(found(under, scuff_length=0.06)) is None
    assert scuff_length(found([(0.0, 0.02)], scuff_length=0.06)) is None


def test_what_static_torques_cannot_hold_may_stand_by_stepping(tmp_path, monkeypatch):
    """A robot that walks would not be tried, for it does not stand on static torques."""
    site = Site(robot_path('walker3d'), tmp_path)
    site.current = site.path
    real = spatial._stand_by
    monkeypatch.setattr(spatial, 'STANDS', 0.1)
    monkeypatch.setattr(
        spatial,
        '_stand_by',
        lambda robot_file, law, how: (
            Outcome(False, 'it falls') if law == 'static_torque' else real(robot_file, law, how)
        ),
    )
    outcome = spatial.stand(site)
    assert outcome.ok and outcome.figures['law'] == 'stepping' and 'it falls' in outcome.what


def test_a_way_of_stepping_walks_to_the_end(tmp_path, monkeypatch):
    """A way that falls after a few seconds would be taken, and no other tried."""
    site = Site(robot_path('walker3d'), tmp_path, duration=7.0)
    site.current, tried = site.path, []

    def walk(site, robot_file, plant, duration):
        tried.append(duration)
        return Outcome(len(tried) > 1, 'walked', value=spatial.speed_of(site, robot_file))

    monkeypatch.setattr(spatial, 'walk', walk)
    site.done['stepping'] = found = spatial.stepping(site)
    assert found.ok and tried == [7.0, 7.0]
    site.current = Path(found.robot_file)
    assert spatial.walk_mujoco(site).what == 'walked' and len(tried) == 2
    site.current = site.path  # gains have changed it
    spatial.walk_mujoco(site)
    assert len(tried) == 3


def test_a_way_of_stepping_that_walks_stands_by(tmp_path, monkeypatch):
    """If it failed, a law that breaks on an adopted robot would let it fall."""
    site = Site(robot_path('walker3d'), tmp_path)
    site.current = tmp_path / 'adopted.yaml'
    load_robot('walker3d', standby='').write(site.current)
    monkeypatch.setattr(
        spatial,
        'walk',
        lambda site, robot_file, *_: Outcome(True, '', spatial.speed_of(site, robot_file)),
    )
    assert load_robot(spatial.stepping(site).robot_file).standby == 'stepping'


def test_arms_are_held(tmp_path):
    """A humanoid's arms would swing through a law that knows of none."""
    path, held = legs_alone(load_robot('humanoid'), load_robot('humanoid').path, tmp_path)
    robot = load_robot(path).robot
    assert len(robot.joints) == 12 and 'waist_yaw' in held and len(held) == 7
    assert load_robot(path).scale.mass == pytest.approx(load_robot('humanoid').scale.mass)


def test_bad_input_is_one_line(tmp_path, capsys):
    """A missing file would end in a traceback."""
    assert main(['bring-up', str(tmp_path / 'no.yaml'), '--out', str(tmp_path / 'up')]) == 2
    assert capsys.readouterr().err.count('\n') == 1


def test_robots_without_a_gait_say_why(tmp_path):
    """Bring-up would end, or be silent, where no gait of the robot's own is known."""
    path = robot_path('walker3d_points')
    site = Site(path, tmp_path, progress=lambda text: None, current=path)
    outcome = natural_gait(site)
    assert outcome.what.startswith('none: ') and 'six joints' in outcome.what
    assert outcome.ok and outcome.verdict == 'not passed'


def test_a_family_has_no_hole():
    """A speed without a gait would end every walk on those beside it."""
    found = {
        speed: SimpleNamespace(reason=reason, summary={'speed': speed})
        for speed, reason in ((0.2, None), (0.4, 'none'), (0.6, None), (0.8, None), (1.0, 'none'))
    }
    members = tuple(found.values())
    assert natural.without_holes(members, found[0.6]) == (found[0.6], found[0.8])
    assert natural.without_holes(members, found[1.0]) == (found[0.6], found[0.8])
    assert natural.without_holes(members[1:2], found[0.4]) == ()


def test_what_is_written_can_be_moved(site):
    """A robot file with the paths of this machine would be lost on the next one."""
    site.current = site.path
    site.load().write(site.folder / 'walks.yaml')
    text = (site.folder / 'walks.yaml').read_text()
    assert str(site.path.parent) not in text and 'urdf: ../' in text
    moved = site.path.parent.rename(site.path.parent.parent / 'elsewhere')
    assert load_robot(moved / 'up' / 'walks.yaml').path.parent.parent == moved


def test_less_is_asked_where_there_is_no_gait(tmp_path, monkeypatch):
    """A robot whose motors are slow would get no gait, though it has one of shorter steps."""
    site = Site(robot_path('walker3d'), tmp_path, progress=lambda text: None)
    asked, robot_file = [], load_robot('walker3d')

    def find(robot_file, speeds, progress, slopes=(0.0,), **options):
        asked.append(robot_file.sections['space_search'].get('gait_time'))
        reason = None if asked[-1] else 'left_knee would need 31 N m'
        members = tuple(
            SimpleNamespace(
                reason=reason,
                result=SimpleNamespace(slope=slope, speed=v, gait=None),
                summary={'speed': v},
            )
            for slope in slopes
            for v in speeds
        )
        return make_dataclass('Found', ['members'])(members)

    monkeypatch.setattr(natural, 'find_gaits', find)
    found, eased, reason = search_family(site, robot_file)
    usual = SpaceSearchParameters.read({}, robot_file.scale).gait_time
    assert asked == [None, pytest.approx(0.8 * usual), pytest.approx(0.8 * usual)]
    assert len(found.members) == 15 and eased == 'gait_time x 0.8' and 'left_knee' in reason


def test_gaits_come_without_what_they_do_not_need(site, monkeypatch):
    """`bring-up --gaits` would tune and measure stepping for minutes before it finds a gait."""
    names = [step.name for step in spatial.GAIT_STEPS]
    assert names[-2:] == ['natural gait', 'gait margins'] and 'gains' not in names
    known = {step.name for step in spatial.GAIT_STEPS} | {'check'}
    assert all(set(step.needs) <= known for step in spatial.GAIT_STEPS)
    site.path, site.gaits = robot_path('walker3d'), True
    monkeypatch.setattr(run, 'CHECK', Step('check', (), lambda site: Outcome(False, 'no')))
    assert [step.name for step in bring_up(site)] == ['check', *names]


def test_gaits_that_do_not_walk_have_no_margins(site):
    """Bring-up would push a robot for a minute that falls without a push."""
    site.done['natural gait'] = Outcome(True, 'it falls', files=['r_natural.yaml'], share=0.0)
    outcome = natural.gait_margins(site)
    assert outcome.verdict == 'not passed' and 'not tried: it does not walk' in outcome.what


def test_a_no_is_not_passed():
    """A page would say that a robot passed what it fell at."""
    assert Outcome(True, 'sideways no, 3 s: it falls', share=0.3).verdict == 'passed in part'
    assert Outcome(True, 'turning no, sideways no', share=0.0).verdict == 'not passed'
    assert Outcome(True, '').verdict == 'passed' and Outcome(False, '').verdict == 'not passed'


@pytest.mark.long
def test_gaits_that_were_found_are_walked(tmp_path, monkeypatch):
    """Bring-up would leave gaits that nobody has tried, or a robot file that does not walk."""
    path = robot_path('walker3d')
    member = SimpleNamespace(
        reason=None,
        result=SimpleNamespace(slope=0.0, speed=0.6, gait=None),
        summary={natural.COST: 0.07, 'speed': 0.6, 'step_width': 0.22},
    )
    found = make_dataclass('Found', ['members', 'assumed'])((member,) * 3, None)
    monkeypatch.setattr(natural, 'find_gaits', lambda *arguments, **options: found)
    monkeypatch.setattr(natural, 'save_gaits', lambda *arguments: gait_path('walker3d'))
    monkeypatch.setattr(natural, 'BESIDE', 2.0)
    monkeypatch.setattr(natural, 'TRIED_ON_GAIT', 3.0)
    outcome = natural_gait(Site(path, tmp_path, progress=lambda text: None, current=path))
    assert outcome.ok and 0.0 < outcome.value < 0.2 and outcome.figures['on_gait'] > 0.1
    assert outcome.figures[natural.WORK] < 0.5 * outcome.figures['stepping']
    walks = load_robot(outcome.files[1])  # it starts with feet as far apart as on its gait
    assert walks.controller == 'natural_walking'
    assert walks.sections['natural_walking']['step_width'] == 0.22
    monkeypatch.setattr(natural, 'summarize', lambda run: {'steady': None})  # motors of no price
    outcome = natural_gait(Site(path, tmp_path, progress=lambda text: None, current=path))
    assert outcome.value is None and 'unknown' in outcome.what and 'on the gait' in outcome.what


@pytest.fixture
def walks(monkeypatch):
    """Return law -> (largest level of speed it walks at, cost), which stand in for walks."""
    limits = {}

    def walk(site, trial, plant, duration, disturb=()):
        speed = trial.sections[trial.controller]['speed']
        most, cost = limits[trial.controller]
        figures = {'steady_speed': 0.98 * speed, 'cost_of_transport_positive': cost}
        return Outcome(
            bool(speed <= most * spatial.pace(trial)),
            'a knee at 9 of 8 rad/s',
            speed,
            figures=figures,
        )

    monkeypatch.setattr(spatial, 'walk', walk)
    return limits


@pytest.mark.parametrize(
    'natural, law, level',
    [
        (0.42, 'natural_walking', 0.4),
        pytest.param(0.26, 'stepping', 0.3, marks=pytest.mark.long),
        (None, 'stepping', 0.3),
    ],
)
def test_the_faster_law_is_kept(tmp_path, walks, natural, law, level):
    """A robot would squat at a third of the speed at which it walks on a gait of its own."""
    path = robot_path('walker3d')
    site = Site(path, tmp_path, progress=lambda text: None, current=path)
    walks.update(stepping=(0.31, 0.9), natural_walking=(natural, 0.2))
    site.done['natural gait'] = Outcome(True, 'none: six joints')
    if natural is not None:
        file = tmp_path / 'walker3d_natural.yaml'
        load_robot(path, controller='natural_walking').write(file)
        site.done['natural gait'].files.append(str(file))
    lead = spatial.LEAD if law == 'natural_walking' else 1.0
    outcome = spatial.fastest(site)
    assert outcome.value == pytest.approx(0.98 * lead * level, abs=2e-3) == outcome.figures[law]
    assert '9 of 8 rad/s' in outcome.what and f'{law}:' in outcome.what
    assert outcome.what.count('sqrt(g L)') == (1 if natural is None else 2)
    fast = load_robot(outcome.files[0])
    assert fast.controller == law
    assert fast.sections[law]['speed'] == pytest.approx(lead * level * spatial.pace(fast))


@pytest.mark.slow
def test_bring_up_finds_gaits(tmp_path):
    """A biped on soles would squat after bring-up, though gaits of its own can be found."""
    path = robot_path('walker3d')
    site = Site(path, tmp_path, progress=lambda text: None, current=path)
    outcome = natural_gait(site)
    assert outcome.value < 0.1 and outcome.figures['on_gait'] > 0.6
    assert load_robot(outcome.files[1]).controller == 'natural_walking'


@pytest.mark.slow
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    'description',
    [
        'bolt_description/robots/bolt.urdf',
        'g1_description/urdf/g1_29dof_rev_1_0.urdf',
        'talos_data/robots/talos_reduced.urdf',
        'icub_description/robots/icub.urdf',
        'cassie_description/robots/cassie_v2.sdf',
    ],
)
def test_strangers_walk_from_two_commands(tmp_path, capsys, description):
    """Somebody's biped would need edits by hand before it walks."""
    assert main(['adopt', str(real_path(description)), '--out', str(tmp_path), '--json']) == 0
    file = json.loads(capsys.readouterr().out)['file']
    assert (
        main(['bring-up', file, '--out', str(tmp_path / 'up'), '--evaluations', '0', '--json']) == 0
    )
    steps = {step['name']: step for step in json.loads(capsys.readouterr().out)['steps']}
    assert steps['walk (MuJoCo)']['figures']['duration'] >= 20.0
    assert steps['walk (MuJoCo)']['figures']['speed'] > 0.05


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_straight_legs_walk(tmp_path):
    """A compass would find a gait whose foot passes under the floor, and make no step of it."""
    (tmp_path / 'compass.urdf').write_text(compass_urdf())
    path = adopt(tmp_path / 'compass.urdf', Told()).write(tmp_path)[0]
    site = Site(path, tmp_path, evaluations=0, progress=lambda text: None)
    steps = {name: outcome for name, outcome, _ in bring_up(site)}
    assert steps['gait'].figures['scuff_length'] > 0.0
    assert steps['walk (rigid)'].ok and steps['walk (rigid)'].value > 0.2


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_planar_stranger_walks(tmp_path, capsys):
    """Somebody's planar biped would need a gait or gains by hand before it walks."""
    description = Path(__file__).parents[3] / 'examples' / 'rabbit.urdf'
    assert main(['adopt', str(description), '--out', str(tmp_path), '--json']) == 0
    file = json.loads(capsys.readouterr().out)['file']
    assert (
        main(['bring-up', file, '--out', str(tmp_path / 'up'), '--evaluations', '0', '--json']) == 0
    )
    steps = {step['name']: step for step in json.loads(capsys.readouterr().out)['steps']}
    assert 0.5 < steps['walk (rigid)']['figures']['speed'] < 0.8


def test_the_first_walk_is_one_that_bears_noise():
    """A robot would be handed a speed at which noise fells it, though a slower one walks."""
    passed, tried = {0.8: 1, 0.5: 2, 0.3: 2}, []

    def attempt(speed):
        tried.append(speed)
        return passed[speed], speed

    assert first_best([0.8, 0.5, 0.3], attempt, 2) == 0.5 and tried == [0.8, 0.5]
    passed.update({0.5: 1, 0.3: 0})
    assert first_best([0.8, 0.5, 0.3], attempt, 2) == 0.8


def test_a_push_comes_when_it_is_said(tmp_path, monkeypatch):
    """Robots would be pushed at their eighth step, 2.5 s from the start and before their gait."""
    came = []
    monkeypatch.setattr(margins, 'walk', lambda *arguments: came.append(arguments[-1]))
    site = Site(robot_path('walker3d'), tmp_path)
    margins.noisy_walk(site, load_robot('walker3d'), 'natural_walking', 8.0, 5.0)
    (disturbance,) = map(parse_disturbance, came[0])
    assert disturbance.how.time == 5.0


def test_a_family_says_which_slopes_it_lacks():
    """A family that knows level floors alone would pass for one that walks on slopes."""

    def member(slope, reason=None):
        return SimpleNamespace(reason=reason, result=SimpleNamespace(slope=slope, speed=0.6))

    down, level, up = natural.SLOPES
    all_there = SimpleNamespace(members=(member(down), member(level), member(up)))
    assert natural._without_slopes(all_there, 0.0) == ''
    some = SimpleNamespace(members=(member(level), member(up, 'left_knee is too slow')))
    words = natural._without_slopes(some, 0.0)
    assert '-8 degrees: not all speeds were begun' in words and '+8 degrees: left_knee' in words
