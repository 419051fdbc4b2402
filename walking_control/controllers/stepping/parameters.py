# SPDX-License-Identifier: Apache-2.0
"""The parameters of the stepping law."""

from walking_control.controllers.parameters import LawParameters
from walking_control.exceptions import ParameterError, require
from walking_control.models.parameters import parameter


class SteppingParameters(LawParameters, section='stepping'):
    """Of stepping in space."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the control law.', 50.0, 2000.0)
    speed: float = parameter(
        0.0, 'm/s', 'Speed ahead until another is commanded.', -3.0, 3.0, live=True
    )
    sideways: float = parameter(0.0, 'm/s', 'Speed to the left, likewise.', -1.0, 1.0, live=True)
    turn: float = parameter(
        0.0, 'rad/s', 'Rate of turning to the left, likewise.', -1.0, 1.0, live=True
    )
    speed_limit: float = parameter(
        1.0, 'm/s', 'Fastest speed ahead or back that is taken.', 0.0, 3.0, live=True
    )
    sideways_limit: float = parameter(0.2, 'm/s', 'Fastest speed sideways.', 0.0, 1.0, live=True)
    turn_limit: float = parameter(0.3, 'rad/s', 'Fastest turning.', 0.0, 1.0, live=True)
    speed_rate: float = parameter(
        0.5,
        'm/s^2',
        'How fast the speed follows the command (turning in rad/s^2); it slows down three'
        ' times as fast.',
        0.01,
        10.0,
        live=True,
    )
    speed_trim: float = parameter(
        0.2,
        '1',
        'Share of the speed error of two steps by which the aim is corrected, once a step.',
        0.0,
        1.0,
        live=True,
    )
    step_time: float = parameter(0.335, 's', 'Nominal time of a step.', 0.1, 2.0, scaled=True)
    shortest_step: float = parameter(0.14, 's', 'Shortest time of a step.', 0.05, 1.0, scaled=True)
    longest_step: float = parameter(0.56, 's', 'Longest time of a step.', 0.1, 4.0, scaled=True)
    timing: str = parameter(
        'free',
        '',
        'Whether a disturbance may shorten or lengthen a step.',
        choices=('free', 'fixed'),
    )
    step_width: float = parameter(
        0.2, 'm', 'Nominal distance between the feet sideways.', 0.0, 1.0, scaled=True
    )
    narrowest: float = parameter(
        0.1,
        'm',
        'Least distance between the feet sideways: legs must not cross.',
        0.0,
        1.0,
        scaled=True,
    )
    widest: float = parameter(0.9, 'm', 'Farthest foothold sideways.', 0.0, 2.0, scaled=True)
    reach: float = parameter(0.75, 'm', 'Farthest foothold ahead or behind.', 0.0, 2.0, scaled=True)
    hip_reach: float = parameter(
        0.275,
        'm',
        'Farthest foothold from below the hip.',
        0.0,
        2.0,
        scaled=True,
    )
    height: float = parameter(
        0.825, 'm', 'Height of the base over the floor.', 0.05, 3.0, live=True, scaled=True
    )
    crouch_lean: float = parameter(
        0.0,
        'rad',
        'How far the trunk leans ahead (below 0: back) as a stop lowers it, per share of '
        'its height.',
        -10.0,
        10.0,
    )
    straightest: float = parameter(
        0.98, '1', 'Longest leg, in leg lengths; the base sinks before.', 0.5, 1.0
    )
    clearance: float = parameter(
        0.075,
        'm',
        'Height of the swing foot half-way; less in a hurried step.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    touchdown_speed: float = parameter(
        0.2, 'm/s', 'Downward speed of the foot at touchdown.', 0.0, 3.0
    )
    sinking: float = parameter(
        0.25, 'm/s', 'Downward speed of the foot while the floor is late.', 0.0, 3.0
    )
    early: float = parameter(
        0.03, 's', 'How long before touchdown foothold and time are kept.', 0.0, 0.5
    )
    swing_acceleration: float = parameter(
        120.0, 'm/s^2', 'Acceleration counted on to move the swing foot.', 1.0, 1e4
    )
    swing_share: float = parameter(
        0.6,
        '1',
        'Largest share counted on of the acceleration that the motors give the swing foot.',
        0.1,
        1.0,
    )
    lowering: float = parameter(0.7, 'm/s', 'Speed counted on to lower it.', 0.01, 10.0)
    edge_places: tuple[float, ...] = parameter(
        (),
        'm',
        'Known edges of the floor, ahead of the start.',
        0.0,
        1e4,
        live=True,
    )
    edge_rises: tuple[float, ...] = parameter(
        (),
        'm',
        'Rise at each of these; below 0 it steps down.',
        -1.0,
        1.0,
        live=True,
    )
    footholds: tuple[float, ...] = parameter(
        (),
        'm',
        'Where feet would better land, x and y of each in odom; a step near one is moved there.',
        -1e4,
        1e4,
        live=True,
    )
    highest_edge: float = parameter(
        0.15,
        'm',
        'Largest edge to step over; before a larger one the robot stands.',
        0.0,
        1.0,
        live=True,
        scaled=True,
    )
    trunk_stiffness: float = parameter(
        300.0, '1/s^2', 'Angular acceleration per tilt of the base.', 0.0, 1e4, live=True
    )
    trunk_damping: float = parameter(35.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    yaw_stiffness: float = parameter(
        50.0, '1/s^2', 'Angular acceleration per error of heading, on soles.', 0.0, 1e4, live=True
    )
    yaw_damping: float = parameter(15.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    pivot_stiffness: float = parameter(
        8.0,
        '1/s^2',
        'Points: the same per error of the mean heading of a stride.',
        0.0,
        1e3,
        live=True,
    )
    pivot_damping: float = parameter(10.0, '1/s', 'The same per rate.', 0.0, 1e3, live=True)
    height_stiffness: float = parameter(
        200.0, '1/s^2', 'Acceleration per error of height.', 0.0, 1e4, live=True
    )
    height_damping: float = parameter(28.0, '1/s', 'The same per speed.', 0.0, 1e3, live=True)
    swing_stiffness: float = parameter(
        900.0,
        '1/s^2',
        'Acceleration of the swing foot per error; angular too.',
        0.0,
        1e5,
        live=True,
    )
    swing_damping: float = parameter(60.0, '1/s', 'The same per speed.', 0.0, 1e4, live=True)
    balance_stiffness: float = parameter(
        30.0,
        '1/s^2',
        'Standing: acceleration of the centre of mass per distance from the middle of the feet.',
        0.0,
        1e4,
        live=True,
    )
    balance_damping: float = parameter(11.0, '1/s', 'The same per speed.', 0.0, 1e3, live=True)
    friction: float = parameter(0.5, '1', 'Friction relied on.', 0.01, 10.0)
    torsion: float = parameter(
        0.0, 'm', 'Points: radius at which friction resists turning.', 0.0, 1.0
    )
    sole_length: float = parameter(0.0, 'm', 'Length of sole relied on; 0: points.', 0.0, 1.0)
    sole_width: float = parameter(
        0.0,
        'm',
        'Width of sole relied on; 0: points, and soles that the leg cannot roll.',
        0.0,
        1.0,
    )
    effort_share: float = parameter(1.0, '1', 'Share of each effort limit that is used.', 0.05, 1.0)
    delay: float = parameter(
        0.0,
        's',
        'Time from measurement to effort, over which the state is predicted.',
        0.0,
        0.1,
    )
    rate_smoothing: float = parameter(
        0.0,
        's',
        'Time over which planned joint rates return to measured ones; 0: measured ones count.',
        0.0,
        0.1,
    )
    compiled: bool = parameter(
        True,
        '',
        'Compile the law when configured, 40 s once; without numba it stays plain.',
    )

    def check(self) -> None:
        """Refuse times, widths and edges out of order."""
        edges = self.edge_places
        require(
            self.shortest_step < self.step_time < self.longest_step,
            f'parameter {self.section}.step_time',
            value=self.step_time,
            limit=f'must lie between shortest_step ({self.shortest_step:g} '
            f's) and longest_step ({self.longest_step:g} s)',
            error=ParameterError,
        )
        require(
            len(edges) == len(self.edge_rises) and all(a < b for a, b in zip(edges, edges[1:])),
            f'parameter {self.section}.edge_places',
            value=list(edges),
            limit=f'must rise, as many as edge_rises ({len(self.edge_rises)})',
            error=ParameterError,
        )
        require(
            len(self.footholds) % 2 == 0,
            f'parameter {self.section}.footholds',
            value=list(self.footholds),
            limit='must be x and y of each',
            error=ParameterError,
        )
        require(
            self.narrowest <= self.step_width < self.widest,
            f'parameter {self.section}.step_width',
            value=self.step_width,
            limit=f'must lie between narrowest ({self.narrowest:g} m) and '
            f'widest ({self.widest:g} m)',
            error=ParameterError,
        )
