# SPDX-License-Identifier: Apache-2.0
"""The parameters of a compliant floor."""

from types import SimpleNamespace

from walking_control.exceptions import IncompatiblePlant
from walking_control.models.parameters import Parameter, ParameterTable
from walking_control.simulation.compliant.law import KINDS
from walking_control.simulation.rigid.plant import RIGID

CONTACT = (
    Parameter('kind', 'kelvin_voigt', '', 'Damping of the floor: by the rate alone, or by rate '
              'times depth.', choices=KINDS),
    Parameter('stiffness', 1e5, 'N/m', 'Stiffness of the floor under a foot.', 100.0, 1e9,
              scaled=True),
    Parameter('damping', 500.0, 'N s/m', 'Damping of the floor, kelvin_voigt.', 0.0, 1e6,
              scaled=True),
    Parameter('dissipation', 2.0, 's/m', 'Damping over elastic force and rate, hunt_crossley.',
              0.0, 100.0),
    Parameter('sliding_stiffness', 1e5, 'N/m', 'Stiffness along the floor.', 100.0, 1e9,
              scaled=True),
    Parameter('sliding_damping', 200.0, 'N s/m', 'Damping along the floor.', 0.1, 1e6,
              scaled=True),
)
COMPLIANT = ParameterTable('compliant', [
    *CONTACT,
    Parameter('rolling_relief', 0.0, '1/rad', 'Share of the deformation along the floor that '
              'rolling takes away.', 0.0, 1e4),
    Parameter('foot_radius', 0.0, 'm', 'Radius of round feet, their lowest point at the end of '
              'the leg; 0: points.', 0.0, 2.0),
    Parameter('torsion', 0.0, 'm', 'Free bases with balls for feet: radius at which friction '
              'resists their turning about the normal.', 0.0, 0.1),
    Parameter('tolerance', 1e-8, '1', 'Local error of the integration.', 1e-13, 1e-4),
    Parameter('timestep', 0.004, 's', 'Longest integration step; the error makes it shorter, but '
              'for free bases, which do well with 0.001.',
              1e-6, 0.1),
    *(RIGID.parameters[name] for name in ('scuff_length', 'scuff_depth', 'fall_height',
                                          'friction_fade')),
])


def require_plain_feet(values: SimpleNamespace) -> None:
    """Refuse round feet, which the plant in space does not have."""
    if values.foot_radius > 0.0:
        raise IncompatiblePlant('plant compliant of a free base', value='foot_radius',
                                limit='its feet are those of the URDF')
