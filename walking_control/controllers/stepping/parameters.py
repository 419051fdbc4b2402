# SPDX-License-Identifier: Apache-2.0
"""The parameters of the stepping law and what they make: limits of a step, shape of a swing."""

from types import SimpleNamespace

from walking_control.controllers.stepping.step_plan import StepLimits
from walking_control.controllers.stepping.swing import SwingShape
from walking_control.exceptions import ParameterError
from walking_control.models.parameters import Parameter, ParameterTable


def _times_in_order(values: SimpleNamespace) -> None:
    if not values.shortest_step < values.step_time < values.longest_step:
        raise ParameterError('parameter stepping.step_time', value=values.step_time,
                             limit=f'must lie between shortest_step ({values.shortest_step:g} s) '
                             f'and longest_step ({values.longest_step:g} s)')


def _widths_in_order(values: SimpleNamespace) -> None:
    if not values.narrowest <= values.step_width < values.widest:
        raise ParameterError('parameter stepping.step_width', value=values.step_width,
                             limit=f'must lie between narrowest ({values.narrowest:g} m) and '
                             f'widest ({values.widest:g} m)')


def _placement_has_its_time(values: SimpleNamespace) -> None:
    if values.placement == 'velocity' and values.timing != 'fixed':
        raise ParameterError('parameter stepping.placement', value=values.placement,
                             limit='is known for steps of one time alone',
                             remedy='set stepping.timing to fixed')


PARAMETERS = ParameterTable('stepping', [
    Parameter('rate', 500.0, 'Hz', 'Rate of the control law.', 50.0, 2000.0),
    Parameter('speed', 0.0, 'm/s', 'Speed ahead until another is commanded.', -3.0, 3.0,
              live=True),
    Parameter('sideways', 0.0, 'm/s', 'Speed to the left, likewise.', -1.0, 1.0, live=True),
    Parameter('turn', 0.0, 'rad/s', 'Rate of turning to the left, likewise.', -1.0, 1.0,
              live=True),
    Parameter('speed_limit', 1.0, 'm/s', 'Fastest speed ahead or back that is taken.', 0.0, 3.0,
              live=True),
    Parameter('sideways_limit', 0.2, 'm/s', 'Fastest speed sideways.', 0.0, 1.0, live=True),
    Parameter('turn_limit', 0.3, 'rad/s', 'Fastest turning.', 0.0, 1.0, live=True),
    Parameter('speed_rate', 0.5, 'm/s^2', 'How fast the speed aimed at follows the command; of '
              'turning in rad/s^2; three times as fast when slowing down.', 0.01, 10.0, live=True),
    Parameter('speed_trim', 0.2, '1', 'Share of the speed error of the last two steps that the '
              'aim is corrected by, once a step.', 0.0, 1.0, live=True),
    Parameter('step_time', 0.335, 's', 'Nominal time of a step.', 0.1, 2.0, scaled=True),
    Parameter('shortest_step', 0.14, 's', 'Shortest time of a step.', 0.05, 1.0, scaled=True),
    Parameter('longest_step', 0.56, 's', 'Longest time of a step.', 0.1, 4.0, scaled=True),
    Parameter('timing', 'free', '', 'Whether a disturbance may shorten or lengthen a step.',
              choices=('free', 'fixed')),
    Parameter('placement', 'divergent', '', 'What places the foot: the divergent component by the '
              'angular momentum, or, as a rival, the velocity of the centre of mass.',
              choices=('divergent', 'velocity')),
    Parameter('velocity_gain', 1.0, '1', 'Placement by the velocity: share of the gain that ends '
              'its error in one step.', 0.0, 2.0, live=True),
    Parameter('step_width', 0.2, 'm', 'Nominal distance between the feet sideways.', 0.0, 1.0,
              scaled=True),
    Parameter('narrowest', 0.1, 'm', 'Least distance between the feet sideways: legs must not '
              'cross.', 0.0, 1.0, scaled=True),
    Parameter('widest', 0.9, 'm', 'Farthest foothold sideways.', 0.0, 2.0, scaled=True),
    Parameter('reach', 0.75, 'm', 'Farthest foothold ahead or behind.', 0.0, 2.0, scaled=True),
    Parameter('hip_reach', 0.275, 'm', 'Farthest foothold from below the hip: reaching too far is '
              'worse than an incomplete capture.', 0.0, 2.0, scaled=True),
    Parameter('height', 0.825, 'm', 'Height of the base over the floor.', 0.05, 3.0, scaled=True,
              live=True),
    Parameter('straightest', 0.98, '1', 'Longest a leg may get, in leg lengths; the base sinks '
              'before.', 0.5, 1.0),
    Parameter('clearance', 0.075, 'm', 'Height of the swing foot half-way; of a hurried '
              'step in proportion to its time.', 0.0, 1.0, scaled=True,
              live=True),
    Parameter('touchdown_speed', 0.2, 'm/s', 'Downward speed of the foot at touchdown.', 0.0,
              3.0),
    Parameter('sinking', 0.25, 'm/s', 'Downward speed of the foot while the floor is late.', 0.0,
              3.0),
    Parameter('early', 0.03, 's', 'How long before touchdown foothold and time are kept.', 0.0,
              0.5),
    Parameter('swing_acceleration', 120.0, 'm/s^2', 'Acceleration counted on to move the swing '
              'foot.', 1.0, 1e4),
    Parameter('lowering', 0.7, 'm/s', 'Speed counted on to lower it.', 0.01, 10.0),
    Parameter('trunk_stiffness', 300.0, '1/s^2', 'Angular acceleration per tilt of the base.',
              0.0, 1e4, live=True),
    Parameter('trunk_damping', 35.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True),
    Parameter('yaw_stiffness', 50.0, '1/s^2', 'Angular acceleration per error of heading, on '
              'soles.', 0.0, 1e4, live=True),
    Parameter('yaw_damping', 15.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True),
    Parameter('pivot_stiffness', 8.0, '1/s^2', 'Points: the same per error of heading on the '
              'average of a stride.', 0.0, 1e3, live=True),
    Parameter('pivot_damping', 10.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True),
    Parameter('height_stiffness', 200.0, '1/s^2', 'Acceleration per error of height.', 0.0, 1e4,
              live=True),
    Parameter('height_damping', 28.0, '1/s', 'The same per speed.', 0.0, 1e3, live=True),
    Parameter('swing_stiffness', 900.0, '1/s^2', 'Acceleration of the swing foot per error; '
              'angular too.', 0.0, 1e5, live=True),
    Parameter('swing_damping', 60.0, '1/s', 'The same per speed.', 0.0, 1e4, live=True),
    Parameter('balance_stiffness', 30.0, '1/s^2', 'Standing: acceleration of the centre of mass '
              'per distance from above the middle of the feet.', 0.0, 1e4, live=True),
    Parameter('balance_damping', 11.0, '1/s', 'The same per speed.', 0.0, 1e3, live=True),
    Parameter('friction', 0.5, '1', 'Friction that may be relied on.', 0.01, 10.0),
    Parameter('torsion', 0.0, 'm', 'Points: radius at which friction resists turning.', 0.0, 1.0),
    Parameter('sole_length', 0.0, 'm', 'Length of the sole that may be relied on; 0 for points.',
              0.0, 1.0),
    Parameter('sole_width', 0.0, 'm', 'Width of the sole that may be relied on; 0 for points.',
              0.0, 1.0),
    Parameter('effort_share', 1.0, '1', 'Share of each effort limit that is used.', 0.05, 1.0),
    Parameter('delay', 0.0, 's', 'Time from measurement to effort that is compensated: the state '
              'is predicted by it.', 0.0, 0.1),
], checks=[_times_in_order, _widths_in_order, _placement_has_its_time])


def step_limits(values: SimpleNamespace) -> StepLimits:
    """Return the `StepLimits` of validated values."""
    fixed = values.timing == 'fixed'
    return StepLimits(values.step_time, values.step_time if fixed else values.shortest_step,
                      values.step_time if fixed else values.longest_step,
                      values.step_width, values.reach, values.narrowest, values.widest,
                      values.hip_reach, values.swing_acceleration, values.lowering)


def swing_shape(values: SimpleNamespace) -> SwingShape:
    """Return the `SwingShape` of validated values."""
    return SwingShape(values.clearance, values.step_time, values.touchdown_speed, values.sinking,
                      values.early)
