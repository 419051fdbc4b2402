# SPDX-License-Identifier: Apache-2.0
"""The parameters of the plants, apart from them: a robot file is read without engines."""

from walking_control.models import FADE, parameter, Parameters

FLOORS = ('kelvin_voigt', 'hunt_crossley')  # kinds of compliant floor, by these numbers


class EventParameters(Parameters):
    """Of plants of our own that go from event to event."""

    scuff_length: float = parameter(
        -10.0,
        'm',
        'Touchdowns less far ahead pass through the floor.',
        -10.0,
        1.0,
    )
    scuff_depth: float = parameter(
        0.001,
        'm',
        'A foot this deep, and further ahead than scuff_length, has tripped.',
        1e-6,
        10.0,
    )
    fall_height: float = parameter(
        0.3, '1', 'Fraction of the standing height that counts as fallen.', 0.01, 0.9
    )
    friction_fade: float = parameter(
        FADE,
        'rad/s',
        'Rate of a joint below which dry friction and gear losses fade.',
        1e-6,
        1.0,
    )


class RigidParameters(EventParameters, section='rigid'):
    """Of a planar walker with rigid contacts."""

    tolerance: float = parameter(1e-10, '1', 'Local error of the integration.', 1e-14, 1e-3)
    max_step: float = parameter(0.1, 's', 'Longest integration step.', 1e-5, 0.2)


class CompliantParameters(EventParameters, section='compliant'):
    """Of a compliant floor."""

    kind: str = parameter(
        'kelvin_voigt',
        '',
        'Damping of the floor: by the rate alone, or by rate times depth.',
        choices=FLOORS,
    )
    stiffness: float = parameter(
        1e5, 'N/m', 'Stiffness of the floor under a foot.', 100.0, 1e9, scaled=True
    )
    damping: float = parameter(
        500.0, 'N s/m', 'Damping of the floor, kelvin_voigt.', 0.0, 1e6, scaled=True
    )
    dissipation: float = parameter(
        2.0, 's/m', 'Damping over elastic force and rate, hunt_crossley.', 0.0, 100.0
    )
    sliding_stiffness: float = parameter(
        1e5, 'N/m', 'Stiffness along the floor.', 100.0, 1e9, scaled=True
    )
    sliding_damping: float = parameter(
        200.0, 'N s/m', 'Damping along the floor.', 0.1, 1e6, scaled=True
    )
    rolling_relief: float = parameter(
        0.0, '1/rad', 'Share of the deformation along the floor that rolling takes away.', 0.0, 1e4
    )
    foot_radius: float = parameter(
        0.0,
        'm',
        'Radius of round feet; 0: points.',
        0.0,
        2.0,
    )
    torsion: float = parameter(
        0.0,
        'm',
        'Balls for feet: radius at which friction resists their turning.',
        0.0,
        0.1,
    )
    tolerance: float = parameter(1e-8, '1', 'Local error of the integration.', 1e-13, 1e-4)
    timestep: float = parameter(
        0.004,
        's',
        'Longest integration step; of free bases the step itself (0.001 does well).',
        1e-6,
        0.1,
    )

    @property
    def max_step(self) -> float:
        """Longest integration step, s."""
        return self.timestep


class EngineParameters(Parameters):
    """Of an engine with contacts and a fixed step of the physics."""

    timestep: float = parameter(0.0005, 's', 'Step of the physics.', 1e-5, 0.01)


class MujocoParameters(EngineParameters, section='mujoco'):
    """Of MuJoCo."""

    contact_time: float = parameter(
        0.004, 's', 'Time constant of contacts, stops and locks.', 0.0002, 0.1
    )
    impratio: float = parameter(
        10.0, '1', 'Stiffness of friction over that of the normal direction.', 0.1, 1000.0
    )
    torsion: float = parameter(
        0.0,
        'm',
        'Radius at which friction resists the turning of a contact; 0: points turn freely.',
        0.0,
        0.1,
    )


class DartParameters(EngineParameters, section='dart'):
    """Of DART."""

    force_time: float = parameter(
        0.002,
        's',
        'Foot forces are averaged over this.',
        0.0,
        0.1,
    )
    lock_time: float = parameter(
        0.01, 's', 'Time in which a lock draws its joint to its angle.', 0.001, 1.0
    )
    torsion: float = parameter(
        0.0,
        'm',
        'Radius at which friction resists the turning of a foot; 0: points turn freely.',
        0.0,
        0.1,
    )
