# SPDX-License-Identifier: Apache-2.0
"""Change of support and posture control, tick by tick, without a plant."""

from dataclasses import replace
import math

import numpy as np
import pytest
from static_robots import humanoid_file

from walking_control.controllers.static_torque.controller import PostureControl
from walking_control.controllers.static_torque.parameters import StaticTorqueParameters
from walking_control.controllers.static_torque.routine import Key, PostureRoutine, shifting_routine
from walking_control.controllers.static_torque.support_change import SupportChange
from walking_control.exceptions import IncompatibleController, NotAchieved
from walking_control.loading import load_robot
from walking_control.models.signals import Command, Reference, WalkerState
from walking_control.statics.posture_search import search_posture

FEET = ('left_sole', 'right_sole')
DT = 0.002


def make(**values):
    """Return controller, state at the start posture, and command."""
    file = humanoid_file()
    control = PostureControl(file, StaticTorqueParameters.read({'ramp_time': 0.1, **values}))
    state, command = WalkerState(file.robot), Command(file.robot)
    state.position[:] = file.start.posture
    state.contact[:] = True
    control.reset(state)
    return control, state, command


def ticks(control, state, command, reference=None, count=1):
    """Advance the controller."""
    for _ in range(count):
        control.update(state, reference or Reference(), DT, command)


def over_left(control):
    """Return a posture with the centre of mass above the left sole."""
    return search_posture(
        control.dynamics,
        humanoid_file().start.posture,
        control.contacts,
        {FEET[0]: 1.0, FEET[1]: 0.0},
    )


def test_flicker_is_not_believed():
    """A contact that comes and goes faster than the debounce time would change the support."""
    change = SupportChange(FEET, debounce=0.02, ramp_time=0.0)
    for tick in range(200):
        change.update([True, tick % 9 != 0], None, DT)
        assert change.support == FEET
    for _ in range(10):
        change.update([True, False], None, DT)
    assert change.support == FEET[:1]


def test_share_moves_at_its_rate():
    """A leaving foot would give its load away faster than stated, or never all of it."""
    change = SupportChange(FEET, debounce=0.0, ramp_time=0.1)
    for tick in range(1, 50):
        change.update([True, True], FEET[:1], DT)
        assert change.share[1] == pytest.approx(1.0 - tick * DT / 0.1)
        assert change.caps(300.0) == {FEET[1]: pytest.approx(300.0 * change.share[1])}
    change.update([True, True], FEET[:1], DT)
    change.update([True, True], FEET[:1], DT)
    assert change.support == FEET[:1] and not change.caps(300.0) and not change.changing


def test_lost_floor_leaves_at_once():
    """A foot in the air would be planned to carry for the rest of a ramp."""
    change = SupportChange(FEET, debounce=0.01, ramp_time=10.0)
    for _ in range(5):
        change.update([False, True], None, DT)
    assert change.support == FEET[1:] and change.share == [0.0, 1.0]


def test_landing_foot_is_loaded_slowly():
    """A landing foot would take its whole load at its first contact."""
    change = SupportChange(FEET, debounce=0.0, ramp_time=0.1)
    change.reset([True, False])
    change.update([True, True], None, DT)
    assert change.support == FEET and change.share[1] == pytest.approx(0.02)


def test_feedforward_is_the_static_torque():
    """What is sent would differ from the static torques of the measured posture."""
    control, state, command = make()
    ticks(control, state, command, count=100)
    assert control.status == 'holding' and control.feasible
    assert control.feedforward == pytest.approx(control.solution.torque, abs=1e-9)
    expected = control.feedforward[control._to_command]
    assert command.effort == pytest.approx(expected, abs=1e-9)


def test_impedance_pulls_back():
    """A joint off its posture or in motion would not be pulled back."""
    control, state, command = make(delay=0.0)
    ticks(control, state, command, count=100)
    knee = humanoid_file().robot.joints.index('left_knee')
    state.position[knee] += 0.01
    state.velocity[knee] = 0.1
    ticks(control, state, command)
    limit, values = 90.0, control.values
    expected = -limit * (0.01 * values.stiffness + 0.1 * values.damping)
    index = control.dynamics.joints.index('left_knee')
    assert command.effort[knee] - control.feedforward[index] == pytest.approx(expected, rel=1e-6)


def test_effort_stays_within_the_motors():
    """A large error would command more than a motor's limit."""
    control, state, command = make(stiffness=100.0, delay=0.0)
    ticks(control, state, command)
    state.position += 0.5
    ticks(control, state, command)
    limits = [motor.effort_limit for motor in humanoid_file().robot.actuators.values()]
    assert (abs(command.effort) <= np.array(limits) + 1e-12).all()
    assert (abs(command.effort) == limits).any()


def test_feedforward_changes_at_its_rate():
    """A torque would jump when the support does."""
    control, state, command = make(effort_rate=200.0, debounce=0.0)
    state.position[:] = over_left(control)
    last = control.feedforward
    for tick in range(400):
        state.contact[1] = tick < 200
        ticks(control, state, command)
        assert abs(control.feedforward - last).max() <= 200.0 * DT * (1.0 + 1e-9)
        last = control.feedforward
    assert control.support.support == FEET[:1]
    assert control.feedforward == pytest.approx(control.solution.torque, abs=1e-9)


def test_commanded_change_of_support_ends_in_closed_form():
    """A commanded single support would keep a load on the leaving foot, or jump at the end."""
    control, state, command = make(effort_rate=1e6)
    state.position[:] = over_left(control)
    ticks(control, state, command, count=5)
    reference, last, jumps = Reference(support=FEET[:1]), control.feedforward, []
    while control.solution.solver != 'closed form':
        ticks(control, state, command, reference)
        assert control.feasible and len(jumps) < 80
        jumps.append(abs(control.feedforward - last).max())
        last = control.feedforward
    assert control.status == 'holding' and control.support.support == FEET[:1]
    assert jumps[-1] == pytest.approx(jumps[-2], rel=0.01)  # the end is one step like the others
    assert max(jumps) < 4.0


def test_change_of_support_waits_for_the_weight():
    """A foot would be unloaded while the centre of mass still needs it."""
    control, state, command = make()
    ticks(control, state, command, count=5)
    ticks(control, state, command, Reference(support=FEET[:1]), count=300)
    assert control.support.support == FEET and control.feasible
    load = control.solution.wrenches[FEET[1]][2]
    assert 0.1 * control.dynamics.weight < load < 0.45 * control.dynamics.weight
    state.position[:] = over_left(control)
    ticks(control, state, command, Reference(support=FEET[:1]), count=100)
    assert control.support.support == FEET[:1] and control.feasible


def lean(state, angle=0.3):
    """Turn the base and the soles with it until the floor cannot hold the robot."""
    state.base.orientation[:] = [0.0, math.sin(0.5 * angle), 0.0, math.cos(0.5 * angle)]
    for side in ('left', 'right'):
        state.position[humanoid_file().robot.joints.index(f'{side}_ankle_pitch')] = -0.3 - angle


def test_fading_then_reaction():
    """An impossible posture would be held by torques that no longer fit, or for ever."""
    control, state, command = make(fade_rate=2.0, fade_time=0.3, effort_rate=1e6)
    ticks(control, state, command, count=10)
    held = control.feedforward.copy()
    lean(state)
    ticks(control, state, command, count=50)  # 0.1 s: a fifth has faded
    assert control.status == 'infeasible' and not control.feasible
    assert control.shortfall.limit == 'centre_of_pressure'
    assert control.feedforward == pytest.approx(0.8 * held, rel=1e-6)
    ticks(control, state, command, count=101)
    assert control.status == 'reacting' and (control.feedforward == 0.0).all()
    state.velocity[:] = 0.1
    ticks(control, state, command)
    limits = np.array([m.effort_limit for m in humanoid_file().robot.actuators.values()])
    assert command.effort == pytest.approx(-control.values.damping * 0.1 * limits)


@pytest.mark.parametrize('reaction', ['impedance', 'zero'])
def test_other_reactions(reaction):
    """The configured reaction would be another one."""
    control, state, command = make(fade_time=0.0, reaction=reaction)
    ticks(control, state, command)
    lean(state)
    ticks(control, state, command, count=60)
    assert control.status == 'reacting'
    assert (command.effort == 0.0).all() == (reaction == 'zero')


def test_reaction_stays():
    """A robot that was let go would be held again when it happens to pass a good posture."""
    control, state, command = make(fade_time=0.0)
    ticks(control, state, command)
    upright = state.position.copy()
    lean(state)
    ticks(control, state, command, count=10)
    state.position[:], state.base.orientation[:] = upright, [0.0, 0.0, 0.0, 1.0]
    ticks(control, state, command, count=10)
    assert control.status == 'reacting'
    control.reset(state)
    ticks(control, state, command, count=10)
    assert control.status == 'holding'


def test_short_trouble_is_forgiven():
    """A moment of trouble would end in the reaction, or the feed-forward return in a jump."""
    control, state, command = make(fade_rate=2.0, fade_time=0.5)
    ticks(control, state, command, count=100)
    upright = state.position.copy()
    lean(state)
    ticks(control, state, command, count=100)
    state.position[:], state.base.orientation[:] = upright, [0.0, 0.0, 0.0, 1.0]
    ticks(control, state, command)
    assert control.status == 'holding' and not control.feasible
    ticks(control, state, command, count=101)
    assert control.feasible


def test_no_contact():
    """A robot in the air would be sent torques for a floor it does not touch."""
    control, state, command = make(fade_time=10.0, fade_rate=10.0)
    ticks(control, state, command, count=100)
    state.contact[:] = False
    ticks(control, state, command, count=100)
    assert control.shortfall.limit == 'no_contact' and not control.feasible
    assert (control.feedforward == 0.0).all()


def test_commanded_posture_moves_straight():
    """Joints would arrive one after the other and pass postures that fall."""
    control, state, command = make(posture_rate=0.1)
    ticks(control, state, command)
    first = control._held.copy()
    target = humanoid_file().start.posture + np.linspace(0.0, 0.2, 19)
    ticks(control, state, command, Reference(posture=target), count=500)
    moved = control._held - first
    aim = target - first
    assert abs(moved).max() == pytest.approx(0.1, rel=1e-6)
    assert moved == pytest.approx(aim * (0.1 / 0.2), abs=1e-9)


def test_moving_joint_is_not_held_back():
    """A leg that moves as it is told would lag, and a foot that lands go on pressing by its lag."""
    control, state, command = make(posture_rate=0.5)
    target = humanoid_file().start.posture.copy()
    elbow = control.dynamics.joints.index('left_elbow')
    target[elbow] -= 1.0
    ticks(control, state, command, count=10)
    state.position[:] = control._held
    ticks(control, state, command)
    rest = command.effort[elbow]
    for _ in range(100):  # long against the delay that smooths the start
        before = control._held.copy()
        ticks(control, state, command, Reference(posture=target))
        state.position[:], state.velocity[:] = control._held, (control._held - before) / DT
    ticks(control, state, command, Reference(posture=target))
    lag = control._held[elbow] - state.position[elbow]  # of the tick between
    assert state.velocity[elbow] == pytest.approx(-0.5)
    assert abs(lag) < 1.01 * 0.5 * DT
    assert command.effort[elbow] == pytest.approx(rest, abs=0.1)


def test_planar_robot_is_refused():
    """A planar walker would be driven by a law that needs feet with soles."""
    robot_file = load_robot('dribbel')
    with pytest.raises(IncompatibleController, match='needs a robot in space'):
        PostureControl(robot_file, StaticTorqueParameters.read({}))


def test_start_without_posture_is_refused():
    """A robot that begins in minimal coordinates would end the law in a traceback."""
    file = humanoid_file()
    file = replace(file, start=replace(file.start, posture=None))
    with pytest.raises(IncompatibleController, match='starts at rest'):
        PostureControl(file, StaticTorqueParameters.read({}))


def test_routine_is_smooth_and_returns():
    """A posture would jump between the moves of a routine, or when it begins again."""
    control, _, _ = make()
    posture = humanoid_file().start.posture
    routine = shifting_routine(control.dynamics, posture, control.contacts)
    rng = np.random.default_rng(0)  # feet touch and come off at any time
    touching = np.repeat(rng.random(240) < 0.7, 50)
    path, supports = zip(*(routine.advance(0.01, FEET if on else ()) for on in touching))
    assert abs(np.diff(path, axis=0)).max() < 0.01
    assert set(supports) == {FEET, FEET[:1], FEET[1:]}


def test_routine_rests_between_moves():
    """A pause would be skipped or a move cut short."""
    routine = PostureRoutine(
        [Key(1.0, 1.0, np.array([1.0]), 'a'), Key(1.0, 0.0, np.array([0.0]), 'b')], np.array([0.0])
    )
    seen = [routine.advance(dt, ()) for dt in (0.5, 0.5, 0.9, 0.1, 0.5)]
    assert seen == [(0.5, 'a'), (1.0, 'a'), (1.0, 'a'), (1.0, 'a'), (0.5, 'b')]
    assert routine.duration == 3.0


def test_foot_is_lowered_until_it_touches():
    """A foot would be pressed through the floor, which tilts the robot over its other foot, or
    weight be shifted on to one that hangs in the air."""
    routine = PostureRoutine(
        [Key(1.0, 0.1, np.array([1.0]), 'a', lands='foot'), Key(1.0, 0.0, np.array([2.0]), 'b')],
        np.array([0.0]),
    )
    assert routine.advance(0.5, ())[0] == 0.5
    touched = [routine.advance(0.05, ['foot']) for _ in range(3)]
    assert [support for _, support in touched] == ['a', 'a', 'b']
    assert touched[1][0] == 0.5 and touched[2][0] > 0.5  # it stays, rests, goes on from there
    at = routine.advance(0.05, ['foot'])[0]
    back = routine.advance(0.5, ())  # off the floor again: down from where it is
    assert back[1] == 'a' and at < back[0] == 0.5 * (at + 1.0)
    assert routine.advance(5.0, ()) == (1.0, 'a')  # and no further without the floor


def test_posture_search_meets_its_goals():
    """The centre of mass would not be above the foot, or a sole would slide."""
    control, _, _ = make()
    dynamics, posture = control.dynamics, humanoid_file().start.posture
    found = search_posture(
        dynamics, posture, control.contacts, {FEET[0]: 1.0, FEET[1]: 0.0}, {FEET[1]: 0.03}
    )
    q = dynamics.configuration(found)
    left, turn = dynamics.placement(q, dynamics.frame(FEET[0]))
    right, _ = dynamics.placement(q, dynamics.frame(FEET[1]))
    assert (turn.T @ (dynamics.center_of_mass(q) - left))[:2] == pytest.approx([0, 0], abs=1e-6)
    assert turn.T @ (right - left) == pytest.approx([0.0, -0.18, 0.03], abs=1e-6)


def test_posture_out_of_reach():
    """A foot that cannot rise so far would end in a posture that is not what was asked for."""
    control, _, _ = make()
    with pytest.raises(NotAchieved, match='out of reach'):
        search_posture(
            control.dynamics,
            humanoid_file().start.posture,
            control.contacts,
            {FEET[0]: 1.0, FEET[1]: 0.0},
            {FEET[1]: 0.9},
        )


def test_a_warm_leg_gives_its_load_to_the_other():
    """A motor near its limit of temperature would bear as much as one that is cold."""
    loads = {}
    for name, left in (('cold', 1.0), ('warm', 0.1)):
        control, state, command = make(objective='heat')
        reference = Reference(room=np.ones(len(command.effort)))
        reference.room[list(control.dynamics.joints).index('left_knee')] = left
        ticks(control, state, command, reference, 5)
        loads[name] = control.solution.wrenches[FEET[0]][2] / control.dynamics.weight
    assert loads['cold'] == pytest.approx(0.5, abs=0.01)
    assert loads['warm'] < 0.45


def test_weight_that_goes_from_foot_to_foot_cools_no_motor():
    """Shifting weight in time would be worth building: torques would not be affine in the load."""
    control, state, command = make(objective='heat')
    ticks(control, state, command)
    q, distributor = control._q, control.distributor
    weight = control.dynamics.weight
    even, *uneven = (
        distributor.solve(q, FEET, {FEET[0]: share * weight, FEET[1]: (1.0 - share) * weight})
        for share in (0.5, 0.3, 0.7)
    )
    sides = {
        side: [j.startswith(side) for j in control.dynamics.joints] for side in ('left', 'right')
    }
    for legs in sides.values():
        mean = np.mean([solution.torque[legs] ** 2 for solution in uneven], axis=0)
        assert (mean >= even.torque[legs] ** 2 - 1e-6).all() and mean.sum() > (
            even.torque[legs] ** 2
        ).sum()
