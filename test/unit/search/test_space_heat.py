# SPDX-License-Identifier: Apache-2.0
"""A gait asks no motor for more than it bears for good, where its thermal data are told."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from walking_control.loading import load_robot
from walking_control.models.actuators import MotorThermal
from walking_control.models.thermal import heating
from walking_control.search import space
from walking_control.search.optimisation import Attempt
from walking_control.search.space import SpaceResult, SpaceSearch
from walking_control.search.space_parameters import SpaceSearchParameters


def heated(price_of, monkeypatch, told):
    """Return a search whose gaits ask a joint for efforts that fall with the price of its heat."""
    robot_file = load_robot('walker3d')
    motor = MotorThermal(1.0, 1.0, 1.0, 10.0, 90.0)
    robot = replace(robot_file.robot, thermal={joint: motor for joint in told})
    case = object.__new__(SpaceSearch)
    case.robot, case.gravity = robot, 9.81
    case.equations = SimpleNamespace(n=len(robot.joints))
    seen = []

    def search(values, speed, start, slope, strength, price):
        seen.append(price.copy())
        attempt = Attempt(True, 'Solve_Succeeded', 0.1, 0.0, '', 10, np.zeros(1))
        return SpaceResult(attempt, price, speed, slope, values, {}, 0.0, 0.0)

    monkeypatch.setattr(case, '_search', search, raising=False)
    monkeypatch.setattr(
        space, 'judge_step', lambda robot, gait, *_: SimpleNamespace(rms_effort=price_of(gait))
    )
    return case, seen


def test_a_gait_stays_within_continuous_efforts(monkeypatch):
    """A gait would be found that its motors bear for some minutes."""
    asked = np.array([30.0] + 11 * [1.0])
    told = load_robot('walker3d').robot.joints[:1]
    case, seen = heated(lambda price: asked * price**-0.15, monkeypatch, told)
    borne = heating(case.robot).continuous(25.0)[0]
    found = case.find(SpaceSearchParameters(), 0.8)
    assert borne < 30.0 and found.attempt.converged
    assert 30.0 * seen[-1][0] ** -0.15 == pytest.approx(borne, rel=0.01)
    assert (seen[-1][1:] == 1.0).all(), 'heat of motors that bear it costs what it did'


def test_a_gait_that_overheats_a_motor_at_any_price_is_none(monkeypatch):
    """A walk would be promised that a motor bears for some minutes."""
    told = load_robot('walker3d').robot.joints[2:3]
    case, _ = heated(lambda price: np.full(12, 30.0), monkeypatch, told)
    found = case.find(SpaceSearchParameters(), 0.8)
    assert (
        not found.attempt.converged and 'continuous effort of left_hip_pitch' in found.attempt.worst
    )


def test_guessed_thermal_data_bound_no_gait(monkeypatch):
    """A robot of which nobody knows the cooling would be denied gaits by a guess."""
    case, seen = heated(lambda price: np.full(12, 1e3), monkeypatch, ())
    assert case.find(SpaceSearchParameters(), 0.8).attempt.converged and len(seen) == 1
