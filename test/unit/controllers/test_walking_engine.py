# SPDX-License-Identifier: Apache-2.0
"""Laws are compositions on the walking engine: nobody reaches into another class."""

import ast
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
import re

from members import private_members
import numpy as np
import pytest

from walking_control import controllers
from walking_control.controllers.stepping.body import Body
from walking_control.controllers.stepping.controller import Stepping
from walking_control.controllers.stepping.engine import LEFT, RIGHT
from walking_control.controllers.stepping.law import WalkingLaw
from walking_control.controllers.stepping.parameters import SteppingParameters
from walking_control.controllers.stepping.stepping_tasks import (
    BACK,
    posture_tasks,
    standing_tasks,
    step_tasks,
)
from walking_control.exceptions import MeasurementError
from walking_control.loading import load_robot
from walking_control.models.dynamics import Dynamics
from walking_control.models.signals import Reference, WalkerState
from walking_control.simulation.simulate import simulate

ROOM = Path(controllers.__file__).parent


def test_no_private_member_of_another_class_is_touched():
    """A change within one class would break another, and no law could be written from outside."""
    touched = [
        f'{path.relative_to(ROOM)}:{node.lineno} {ast.unparse(node)}'
        for path in sorted(ROOM.rglob('*.py'))
        for node, mine, own in private_members(path)
        if not mine or not own
    ]
    assert not touched


def test_the_engine_stays_small():
    """What each part knows would gather in one class again, where nobody can read it alone."""
    robot_file = load_robot('walker3d')
    law = Stepping(robot_file, robot_file.values(SteppingParameters))
    assert len(vars(law.engine)) <= 15, sorted(vars(law.engine))


def test_no_private_method_is_overridden():
    """A subclass would change what its base does without the base saying that it may."""
    methods, bases = defaultdict(set), defaultdict(set)
    for path in ROOM.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                bases[node.name] = {ast.unparse(base) for base in node.bases}
                methods[node.name] = {
                    child.name
                    for child in node.body
                    if isinstance(child, ast.FunctionDef)
                    and child.name.startswith('_')
                    and not child.name.endswith('__')
                }
    for name, above in list(bases.items()):
        for base in above:
            assert not methods[name] & methods[base], f'{name} overrides what {base} keeps private'


SOLES = {'sole_length': 0.1, 'sole_width': 0.05}  # m


class OnTheSpotParameters(SteppingParameters, section='on_the_spot'):
    """Of the law below: those of stepping."""


class OnTheSpot(WalkingLaw):
    """A law from outside: three steps on the spot whatever is asked, then it stands."""

    name = 'on_the_spot'
    parameters = OnTheSpotParameters

    def update(self, state, reference, dt, command):
        """Fill the `Command` for this tick."""
        engine, values = self.engine, self.values
        engine.observe(state, values)
        engine.follow(Reference(velocity=np.zeros(3)), dt)
        if engine.walking:
            if engine.has_landed(state.contact, dt):
                engine.change_feet()
        elif engine.steps < 3:
            engine.begin_walking()
        if engine.walking:
            engine.find_fall()
            engine.plan.step = engine.step_to(engine.steady_aim(np.zeros(3)), dt=dt)
            engine.swing_on(values.clearance, dt)
            standing, tasks = [engine.stance], step_tasks(engine)
        else:
            standing, tasks = [LEFT, RIGHT], standing_tasks(engine)
        engine.act(standing, [*tasks, *posture_tasks(engine, values.height)], dt, command)


@pytest.mark.long
def test_a_third_law_is_written_from_outside():
    """Stops, caught policies and footsteps could not be written without private members."""
    run = simulate(
        load_robot('walker3d'), OnTheSpot(sole_length=0.1, sole_width=0.05), duration=4.0
    )
    assert run.fault is None and not run.fell
    assert 3 <= run.steps[-1] <= 6 and run.telemetry['walking'][-1] == 0.0


class AskingParameters(SteppingParameters, section='asking'):
    """Of the law below: those of stepping."""


class Asking(Stepping):
    """Stepping that asks each tick how it would stop."""

    name = 'asking'
    parameters = AskingParameters

    def update(self, state, reference, dt, command):
        """Fill the `Command` for this tick."""
        super().update(state, reference, dt, command)
        engine = self.engine
        if engine.walking:
            assert engine.step_to(engine.steady_aim(np.zeros(3))).remaining > 0.0


def test_asking_for_a_step_changes_nothing():
    """Whoever asked whether the robot can stop would change how it walks."""
    plain, asking = (
        simulate(load_robot('walker3d'), law(speed=0.4, **SOLES), duration=1.0)
        for law in (Stepping, Asking)
    )
    assert plain.steps[-1] > 1
    np.testing.assert_array_equal(asking.q, plain.q)


@pytest.mark.parametrize(
    'point, caught', [((0.08, -0.09), True), ((0.0, 0.0), True), ((0.05, 0.03), False)]
)
def test_a_fall_is_caught_within_the_hull_of_both_soles(point, caught):
    """If it failed, a robot on feet one ahead of the other would stand, and tip over sideways."""
    robot_file = load_robot('walker3d')
    engine = Stepping(robot_file, robot_file.values(SteppingParameters)).engine
    body, middle = engine.body, engine.divergent_point()  # at rest: the centre of mass
    for foot, side in zip(body.feet, (-1.0, 1.0)):  # the right one is ahead
        foot.position[:2] = middle - point + side * np.array([0.08, -0.09])
    assert engine.is_caught(0.9) == caught


@pytest.fixture
def striding():
    """Return an engine whose right foot is ahead, and the middle between its feet."""
    engine = Stepping(load_robot('walker3d'), SteppingParameters(**SOLES)).engine
    engine.observe(WalkerState(load_robot('walker3d').robot), engine.values)
    body = engine.body
    middle = body.com[:2].copy()
    for foot, side in zip(body.feet, (-1.0, 1.0)):
        foot.position[:2] = middle + side * np.array([0.125, -0.07])
    return engine


def test_one_that_has_just_stopped_is_not_thrown_aside(striding):
    """The pressure ahead of the feet became the nearest place there, and it took one more step."""
    fall = striding.gravity / (striding.body.com[2] - striding.body.feet[0].position[2])
    striding.body.momentum[:2] = striding.body.mass * np.array([0.5, 0.0])
    place = -standing_tasks(striding)[0].acceleration / fall
    axis = np.array([0.125, -0.07])
    half = 0.5 * np.array([SOLES['sole_length'], SOLES['sole_width']])
    most = half @ np.abs(axis[::-1])
    assert np.all(np.abs(place) <= half + np.abs(axis) + 1e-9)
    assert axis[0] * place[1] - axis[1] * place[0] == pytest.approx(most)


def test_one_that_stands_goes_back_over_its_feet_at_rest(striding):
    """Back at once, it would be too fast to count as standing for a second."""
    for foot in striding.body.feet:
        foot.position[0] -= 0.06
    striding.body.momentum[:2] = striding.body.mass * np.array([-BACK, 0.0])
    assert standing_tasks(striding)[0].acceleration == pytest.approx(np.zeros(2), abs=1e-3)


def test_arms_and_waist_stay_as_they_were():
    """A robot with arms would throw them at every step, and its waist turn by a radian."""
    soles = [('stepping.sole_length', 0.18), ('stepping.sole_width', 0.09)]
    robot_file = load_robot('humanoid', [*soles, ('plant', 'mujoco')], controller='stepping')
    run = simulate(robot_file, duration=0.8)
    joints = run.robot.joints
    held = [i for i, joint in enumerate(joints) if 'waist' in joint or 'shoulder' in joint]
    assert run.fault is None and len(held) == 5
    moved = run.q[:, -len(joints) :] - robot_file.start.posture
    assert abs(moved[:, held]).max() < 0.1


def test_joints_without_stops_keep_the_others_in_their_places():
    """Pinocchio takes cosine and sine of such a joint: every stop behind it would be of another."""
    robot = load_robot('walker3d').robot
    first = robot.joints[0]
    turning = re.sub(
        f'(<joint name="{first}" type=)"revolute"', r'\1"continuous"', robot.urdf, count=1
    )
    assert turning != robot.urdf
    angles = np.linspace(-0.2, 0.2, len(robot.joints))
    told = []
    for urdf in (robot.urdf, turning):
        body = Body(Dynamics(replace(robot, urdf=urdf)))
        body.update(body.dynamics.configuration(angles), np.zeros(body.nv))
        told.append(body.angles.copy())
    assert told[0].shape == told[1].shape == angles.shape
    assert np.sort(told[1]) == pytest.approx(np.sort(told[0]), abs=1e-12)


def test_angles_that_are_not_finite_are_refused_before_anything_is_planned():
    """Compiled code takes a number that is none for a place in memory."""
    robot_file = load_robot('walker3d')
    law = Stepping(robot_file, robot_file.values(SteppingParameters))
    state = WalkerState(robot_file.robot)
    state.position[2] = np.nan
    joint = robot_file.robot.joints[2]
    with pytest.raises(MeasurementError, match=f'position of joint {joint}'):
        law.engine.observe(state, law.values)
