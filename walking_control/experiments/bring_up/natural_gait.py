# SPDX-License-Identifier: Apache-2.0
"""The step that searches gaits of a biped's own; one that gets none goes on as it walked before."""

from walking_control.controllers.natural_walking.controller import NaturalWalking
from walking_control.controllers.stepping.controller import Stepping
from walking_control.exceptions import WalkingControlError
from walking_control.experiments.bring_up.checking import judge_walk
from walking_control.experiments.bring_up.step import Outcome, Site
from walking_control.experiments.space_gaits import find_gaits, middle_speed, save_gaits
from walking_control.loading import load_robot
from walking_control.runs.metrics import summarize
from walking_control.simulation.simulate import simulate

SPREAD = (0.75, 1.0, 1.25)   # speeds, of that which legs of this length walk with ease
TRIED = 12.0                 # s on the gait
COST = 'cost_of_transport_electrical'


def natural_gait(site: Site) -> Outcome:
    """Search gaits of its own and walk on them; what it walks with does not change by it."""
    try:
        return _find_gaits(site)
    except WalkingControlError as error:
        return Outcome(True, f'none: {error}')


def _find_gaits(site: Site) -> Outcome:
    robot_file = site.load()
    name, speed = robot_file.robot.name, middle_speed(robot_file)
    found = find_gaits(robot_file, [share * speed for share in SPREAD], progress=site.progress)
    reasons = [member.reason for member in found.members if member.reason is not None]
    if len(reasons) == len(found.members):
        return Outcome(True, f'none: {reasons[0]}')
    family, file = save_gaits(found, site.folder), site.folder / f'{name}_natural.yaml'
    law = NaturalWalking.parameters.section
    given = robot_file.sections.get(Stepping.parameters.section, {})   # soles that are relied on
    natural = load_robot(site.current, [
        ('controller', NaturalWalking.name),
        *((f'{law}.{key}', value) for key, value in given.items() if key.startswith('sole_')),
        (f'{law}.speed', speed), (f'{law}.gait', str(family.resolve()))])
    natural.write(file)
    run = simulate(natural, duration=TRIED)
    outcome = judge_walk(run, TRIED)
    steady = summarize(run)['steady'] or {}
    on_gait = float(run.telemetry['on_gait'].mean()) if len(run.time) else 0.0
    figures = {COST: steady.get(COST), 'predicted': found.members[1].summary[COST],
               'on_gait': on_gait, 'speed': speed}
    files = [str(family), str(file)]
    if not outcome.ok or steady.get(COST) is None:
        return Outcome(True, f'{len(found.members) - len(reasons)} gaits found, but '
                       f'natural_walking does not walk on them: {outcome.what}',
                       figures=figures, files=files)
    return Outcome(True, f'cost of transport {steady[COST]:.3g}, electrical, at {speed:.2g} m/s, '
                   f'{100.0 * on_gait:.0f} % of the time on the gait', steady[COST],
                   figures=figures, files=files)
