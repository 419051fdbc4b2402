# SPDX-License-Identifier: Apache-2.0
"""The parameters of a gait search."""

from walking_control.models import parameter, Parameters


class SearchParameters(Parameters, section='search'):
    """Of the optimal-control problem and its solver."""

    degree: int = parameter(10, '1', 'Degree of the polynomials.', 3, 30)
    nodes: int = parameter(20, '1', 'Intervals of the quadrature in each phase.', 4, 400)
    quadrature: str = parameter(
        'lobatto',
        '',
        "Gauss-Lobatto, or the book's sum with both ends.",
        choices=('lobatto', 'riemann'),
    )
    speed: float = parameter(0.0, 'm/s', 'Walking speed; 0 leaves it free.', 0.0, 5.0)
    clearance: float = parameter(
        0.02,
        'm',
        'Height in mid-step of a swing foot whose leg can shorten; below 0 it may pass '
        'through the floor.',
        -1.0,
        1.0,
        scaled=True,
    )
    landing_speed: float = parameter(
        0.15,
        'm/s',
        'Least downward speed of the foot at touchdown; 0: it may graze.',
        0.0,
        5.0,
        scaled=True,
    )
    min_step_length: float = parameter(0.1, 'm', 'Shortest step.', 1e-3, 5.0, scaled=True)
    contact: bool = parameter(True, '', 'Whether the floor must push and hold by friction.')
    min_normal_force: float = parameter(0.0, 'N', 'Least normal force of the floor.', 0.0, 1e4)
    friction_share: float = parameter(
        0.7,
        '1',
        "Share of the floor's friction a gait may rely on.",
        0.01,
        1.0,
    )
    actuation: str = parameter(
        'joints',
        '',
        'Which coordinates have torques: full, all; joints, those with a motor; costly, '
        'all, without a motor at passive_cost.',
        choices=('full', 'joints', 'costly'),
    )
    passive_cost: float = parameter(1e4, '1', 'Cost of torque where there is no motor.', 0.0, 1e9)
    effort_cost: tuple[float, ...] = parameter(
        (), '1', 'Diagonal of the cost metric Q; ones if empty.', 0.0
    )
    starts: int = parameter(6, '1', 'First guesses to try.', 1, 1000)
    max_iterations: int = parameter(500, '1', 'Of the solver, for each attempt.', 1, 100000)
    mass_arguments: str = parameter(
        '', '', 'Names of xacro arguments that --optimise mass may change.'
    )
    min_mass: float = parameter(0.1, 'kg', 'Lower bound of each of them.', 0.0, 1e3, scaled=True)
