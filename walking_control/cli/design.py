# SPDX-License-Identifier: Apache-2.0
"""Verbs for robots that are still to be built: design transmission, design rotom."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from walking_control.cli.common import Common, OR_URDF, Seeded
from walking_control.cli.output import Answer, save_figures, text
from walking_control.cli.verb import argument, numbers, option, positions, ratios, verb, words
from walking_control.design import (
    Contacts,
    Limb,
    load_mechanism,
    make_transmission,
    Mechanism,
    study_rotom,
    study_transmission,
    usual_contacts,
)
from walking_control.exceptions import given, refusing, require
from walking_control.lab import experiments
from walking_control.lab.reports import plots
from walking_control.lab.reports.pages import write_design_page

CURVES = 6  # joints over which the index is drawn if nobody says which


class _Design(Common):
    robot: str = argument(OR_URDF)
    q: dict[str, float] | str | None = option(
        'joint positions, rad or m, or a YAML file (default: start posture, or zero)',
        'J=V,...',
        positions,
    )
    base: str | None = option('default: free, held of a URDF alone', choices=('held', 'free'))
    direction: Sequence[float] = option(
        'of the force, in the world (default: 0,0,1)', 'X,Y,Z', numbers, default=[0.0, 0.0, 1.0]
    )


def _of_gears(words: str) -> Any:
    return option(
        words + '; one for all joints of the limb or one each, from the base outwards',
        'A[,B...]',
        ratios,
    )


class _Transmission(_Design):
    frame: str | None = option('end of the limb (default: first foot)', 'FRAME')
    axes: str | None = option(
        'directions that count (default: those along which the limb moves its end)', 'xyz'
    )
    reduction: Sequence[float] | None = _of_gears(
        'turns of the output per turn of the rotor, at most 1, such as 1/20'
    )
    rotor_inertia: Sequence[float] | None = _of_gears('at the rotor, kg m^2')
    efficiency: Sequence[float] | None = _of_gears('of the gear, forward')
    back_efficiency: Sequence[float] | None = _of_gears(
        'backward (default: follows from the forward one)'
    )
    torque: Sequence[float] | None = _of_gears(
        'largest torque of the motor times its reduction, N m'
    )
    topology: str = option(
        'serial, parallel (both motors of two joints on the base) or rows such as 1,0;-1,1',
        'D',
        default='serial',
    )
    rotors: str = option(
        'whether the rotors feel that their carriers turn',
        choices=('armature', 'coupled'),
        default='armature',
    )
    carrier: str | None = option(
        'on which link the motors sit, for --rotors coupled (default: '
        'each on the link before its joint)',
        'LINK',
    )


@verb(
    'walking_control design transmission examples/two_joint_leg.urdf --frame foot --base free \\',
    '  --q hip=1.0472,knee=1.0472 --reduction 1/20 --rotor-inertia 6.4e-5 --torque 17 \\',
    '  --efficiency 0.8,0.7 --out out/leg',
)
def transmission(options: _Transmission) -> Answer:
    """Say what gears make of a limb: how heavy, strong and soft its end is."""
    limb, assumptions = _limb(options)
    study = {**study_transmission(limb, options.direction), 'assumptions': assumptions}
    save = save_figures(
        lambda: {
            'transmission': plots.design.plot_limb(limb, study),
            'efficiency': plots.design.plot_efficiency(study),
            'trade': plots.design.plot_trade(study),
        }
    )
    return Answer(
        study,
        text('transmission.txt'),
        write=lambda folder: [
            *save(folder),
            write_design_page(limb, study, folder / 'transmission.html'),
        ],
        document='transmission.json',
    )


class _Rotom(Seeded, _Design):
    contacts: tuple[str, ...] | None = option(
        'frames that stay where they are, or none (default: all feet of a free base, of a walker '
        'with coordinates the one it starts on)',
        'A,B',
        words,
    )
    contact_kind: str | None = option(
        'whether they may turn (default: flat soles of bipeds in space)', choices=('point', 'sole')
    )
    joint: list[str] = option('joint over which the index is wanted (repeatable)', 'J')
    zeros: bool = option('look for postures that pass nothing of the force on')


@verb('walking_control design rotom humanoid --direction 0,0,1 --joint left_knee --out out/rotom')
def rotom(options: _Rotom) -> Answer:
    """Say how a posture passes a force on the centre of mass into motion."""
    mechanism = _mechanism(options)
    contacts, assumed = _contacts(options, mechanism)
    study = study_rotom(
        mechanism,
        options.direction,
        contacts,
        _joints(options, mechanism),
        options.zeros,
        options.seed,
    )
    study['assumptions'] = [*mechanism.assumptions, *assumed]
    return Answer(
        study,
        text('rotom.txt'),
        write=save_figures(lambda: {'rotom': plots.design.plot_rotom(mechanism, study)}),
        document='rotom.json',
    )


def _mechanism(options: _Design) -> Mechanism:
    held = None if options.base is None else options.base == 'held'
    if options.q is None:
        return load_mechanism(options.robot, options.set, held=held)
    if isinstance(options.q, dict):
        return load_mechanism(options.robot, options.set, options.q, held=held)
    joints, _, orientation = experiments.statics.read_configuration(options.q)
    turned = None if orientation == [0.0, 0.0, 0.0, 1.0] else orientation
    return load_mechanism(options.robot, options.set, joints, turned, held)


def _limb(options: _Transmission) -> tuple[Limb, list[str]]:
    mechanism = _mechanism(options)
    frame = given(
        options.frame or next(iter(mechanism.dynamics.robot.feet), None),
        f'end of the limb of {mechanism.name}',
        limit='a URDF alone names no foot',
        remedy='give --frame FRAME',
    )
    gears_told = {
        name: getattr(options, name)
        for name in ('reduction', 'rotor_inertia', 'efficiency', 'back_efficiency', 'torque')
        if getattr(options, name) is not None
    }
    joints = mechanism.joints_to(mechanism.dynamics.frame(frame))
    gears, words = make_transmission(
        mechanism, frame, gears_told, _topology(options.topology, len(joints))
    )
    carriers = None if options.carrier is None else dict.fromkeys(joints, options.carrier)
    limb = Limb(mechanism, frame, gears, options.axes, options.rotors, carriers)
    others = len(mechanism.joints) - limb.m
    all_balance = f'{limb.m} joints for {limb.axes}: forces are those that all joints balance'
    remarks = {
        f'{others} joints outside the limb are held': others > 0,
        'held, the base softens no impact (--base free lets it go)': not limb.n_base,
        all_balance: limb.redundant,
    }
    return limb, [*mechanism.assumptions, *words, *filter(remarks.get, remarks)]


def _topology(text: str, size: int) -> np.ndarray | None:
    """Return D of 'serial', 'parallel' or rows such as 1,0;-1,1."""
    if text == 'serial':
        return None
    if text == 'parallel':
        require(
            size == 2,
            'topology',
            value=text,
            limit=f'needs a limb of 2 joints, not {size}',
            remedy='give its matrix, rows separated by ;',
        )
        return np.array([[1.0, 0.0], [-1.0, 1.0]])
    with refusing(
        ValueError,
        'topology',
        value=text,
        limit='must be serial, parallel or a matrix such as 1,0;-1,1',
    ):
        rows = [[float(value) for value in row.split(',')] for row in text.split(';')]
        return np.array(rows)


def _contacts(options: _Rotom, mechanism: Mechanism) -> tuple[Contacts, list[str]]:
    usual, words = usual_contacts(mechanism)
    kind = options.contact_kind or usual.kind
    if options.contacts is None:
        return Contacts(usual.frames, kind), [] if options.contact_kind else words
    if options.contacts == ('none',):
        return Contacts((), kind), []
    for name in options.contacts:
        mechanism.dynamics.frame(name)
    return Contacts(tuple(options.contacts), kind), []


def _joints(options: _Rotom, mechanism: Mechanism) -> tuple[str, ...]:
    """Return the joints over which the index is wanted."""
    if options.joint:
        return tuple(options.joint)
    return mechanism.joints if options.out is not None and len(mechanism.joints) <= CURVES else ()
