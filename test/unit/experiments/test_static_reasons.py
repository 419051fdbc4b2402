# SPDX-License-Identifier: Apache-2.0
"""Reasons for postures that cannot be held: right under the noise of encoders, and curing."""

from lifting import lift
import pytest
from static_reasons import judge_reasons, KINDS
from static_robots import linear_program

from walking_control.exceptions import InvalidInput
from walking_control.statics import solvers
from walking_control.statics.contacts import NO_BALANCE, Shortfall
from walking_control.statics.distributor import StaticTorque


@pytest.mark.parametrize('noise', [0.0, 1e-5, 1e-3, 1e-2])
def test_reasons_cure(noise):
    """A reason would fall apart under noise: not name what is wrong, ask for more than is needed,
    or for less than makes the posture possible."""
    found = list(judge_reasons(noise, 5 * len(KINDS), seed=3))
    for verdict in found:
        said = f'{verdict.case.kind}: ' + '; '.join(map(str, verdict.shortfalls))
        assert verdict.cured and verdict.least and verdict.named, said
    weight = found[0].case.distributor.dynamics.weight
    leaning = [v.shortfalls for v in found if v.case.kind == 'lean']
    assert all({s.limit for s in shortfalls} == {'centre_of_pressure'} for shortfalls in leaning)
    hanging = [v.shortfalls[0].amount for v in found if v.case.kind == 'hanging']
    assert max(hanging) < 3.0 * weight  # nobody presses with thousands of newtons


def test_cure_holds_for_a_linear_program():
    """Lifted limits would make a posture possible by our own inequalities alone."""
    for verdict in judge_reasons(1e-3, 4 * len(KINDS), seed=4):
        if verdict.case.kind not in ('lean', 'weak'):
            continue
        loose = 1.0 + 1e-9  # of amounts that are the least there are
        for factor, expected in ((loose, True), (0.98, False)):
            some = [Shortfall(s.limit, s.where, factor * s.amount) for s in verdict.shortfalls]
            cured, _ = lift(verdict.case.distributor, some)
            assert (
                linear_program(
                    cured.dynamics,
                    verdict.q,
                    cured.contacts.values(),
                    cured.frames.values(),
                    cured.effort_limits,
                )
                == expected
            )


@pytest.mark.parametrize('solver', solvers.available())
def test_every_solver_finds_the_reason(solver):
    """The choice of solver would change the reason, or end it in a traceback."""
    verdicts = list(judge_reasons(1e-3, len(KINDS), seed=5))
    for verdict in verdicts:
        case = verdict.case
        other = StaticTorque(
            case.distributor.dynamics,
            case.distributor.contacts,
            effort_limits=dict(
                zip(case.distributor.dynamics.joints, case.distributor.effort_limits)
            ),
            solver=solver,
        )
        found = other.solve(verdict.q, case.support, case.caps).shortfalls
        assert found[0].limit in KINDS[case.kind][0]
        cured, caps = lift(other, found, case.caps)
        assert cured.solve(verdict.q, case.support, caps).feasible


def test_reason_is_found_step_by_step():
    """The reason would be sought within the tick that finds a posture impossible."""
    verdict = next(judge_reasons(1e-3, 1, seed=6))
    explanation = verdict.case.distributor.solve(verdict.q).explanation
    assert not explanation.done and not explanation.step()
    again = verdict.case.distributor.solve(verdict.q)  # other questions in between
    assert again.shortfalls == explanation.shortfalls and explanation.done and explanation.step()


def test_what_nothing_lifts():
    """A centre of mass beside a point would be said to be cured by something."""
    verdict = next(judge_reasons(0.0, 1))
    with pytest.raises(InvalidInput, match='cannot be lifted'):
        lift(verdict.case.distributor, [Shortfall(NO_BALANCE, 'left and right', 0.02)])
