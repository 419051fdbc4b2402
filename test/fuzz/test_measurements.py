# SPDX-License-Identifier: Apache-2.0
"""Whatever is measured: a command that is finite and within its limits, a fault that stays."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
import numpy as np
import pytest

from walking_control.control_loop import ControlLoop
from walking_control.loading import load_robot
from walking_control.models.signals import Measurement
from walking_control.simulation.registry import make_plant
from walking_control.simulation.simulate import BEYOND_THE_LAW

LOOPS = (
    ('compass', 'curve_tracking'),
    ('compass', 'time_pd'),
    ('compass', 'hip_pd'),
    ('dribbel', 'hip_switching'),
    ('dribbel', 'curve_tracking'),
    ('humanoid', 'static_torque'),
)
ANY = st.floats(width=64)
MILD = st.floats(-1e3, 1e3)


@pytest.fixture(scope='module', params=LOOPS, ids=' '.join)
def chain(request):
    """Return a control loop and the measurement of its start."""
    robot, controller = request.param
    if robot != 'compass':
        pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    robot_file = load_robot(robot)
    plant, good = make_plant(robot_file), Measurement(robot_file.robot)
    plant.reset(robot_file.start)
    plant.measure(good)
    return ControlLoop(robot_file, controller), good


@st.composite
def spoilt_measurements(draw, good):
    """Return stamps and copies of all measured values, mild or wild numbers among them."""
    series, stamp = [], 0.0
    for _ in range(draw(st.integers(1, 4))):
        stamp += draw(st.sampled_from((0.001, 0.01, 0.01, 0.02, 0.0, -0.01, 1.0)))
        values = good.values.copy()
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(values) - 1))
            values[place] = draw(st.one_of(MILD, ANY, st.just(values[place] + 0.01)))
        if draw(st.integers(0, 9)) == 0:
            values = draw(arrays.arrays(float, values.shape, elements=ANY))
        series.append((draw(st.sampled_from((stamp, stamp, stamp, stamp, float('nan')))), values))
    return series


@given(data=st.data())
def test_any_measurement_gets_a_safe_command(chain, data):
    """A torque that is not finite or beyond its limit would reach the motors, or nothing would."""
    loop, good = chain
    loop.reset()
    measurement, limits = Measurement(loop.robot), loop.supervisor.effort_limits
    latched = None
    for stamp, values in data.draw(spoilt_measurements(good)):
        measurement.stamp = stamp
        measurement.values[:] = values
        try:
            command = loop.tick(measurement)
        except BEYOND_THE_LAW as error:  # as scripts and the node do
            command = loop.stop('internal', str(error), measurement)
        assert np.isfinite(command.effort).all()
        assert (np.abs(command.effort) <= np.array(limits) + 1e-9).all()
        assert latched is None or loop.fault == latched, 'a fault stays until it is cleared'
        latched = loop.fault
