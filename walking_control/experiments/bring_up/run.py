# SPDX-License-Identifier: Apache-2.0
"""Bring a robot up: do the steps of its kind that are not done yet."""

from pathlib import Path
from typing import Any, NamedTuple

from walking_control.exceptions import InvalidInput, WalkingControlError
from walking_control.experiments.bring_up.checking import check_step
from walking_control.experiments.bring_up.journal import Journal, key_of
from walking_control.experiments.bring_up.planar import PLANAR_STEPS
from walking_control.experiments.bring_up.spatial import SPATIAL_STEPS
from walking_control.experiments.bring_up.step import failure_of, Outcome, Site, Step
from walking_control.models.base import Base

CHECK = Step('check', (), check_step)


class StepResult(NamedTuple):
    """What came of a step: its name, its `Outcome`, and whether it was done before."""

    name: str
    outcome: Outcome
    done_before: bool


def bring_up(site: Site) -> list[StepResult]:
    """Return the `StepResult` of every step.

    Args:
        site: The `Site`; its folder exists.

    Raises:
        InvalidInput: The robot file cannot be loaded, or the journal of the folder is none.
    """
    site.current = Path(site.path)
    journal = Journal(site.folder)
    results: list[StepResult] = []
    for step in (CHECK, *_route(site)):
        missing = [name for name in step.needs if not site.done[name].ok]
        if missing:
            outcome, known = Outcome(False, f'not tried: {missing[0]} did not pass'), False
        else:
            outcome, known = _do(step, site, journal)
        site.done[step.name] = outcome
        if outcome.robot_file:
            site.current = Path(outcome.robot_file)
        results.append(StepResult(step.name, outcome, known))
        site.progress(f'{step.name}: {"passed" if outcome.ok else "NOT PASSED"}'
                      f'{" (before)" if known else ""}: {outcome.what}')
    return results


def _route(site: Site) -> tuple[Step, ...]:
    base = site.load().robot.base
    if base is Base.PLANAR:
        return PLANAR_STEPS
    if base is Base.FREE:
        return SPATIAL_STEPS
    raise InvalidInput('robot.base', value=base.value, limit='is brought up by no steps yet',
                       remedy='planar or free')


def _do(step: Step, site: Site, journal: Journal) -> tuple[Outcome, bool]:
    key = key_of(step, site)
    known = journal.find(step.name, key)
    if known is not None:
        return known, True
    site.progress(f'{step.name} ...')
    try:
        outcome = step.run(site)
    except WalkingControlError as error:
        outcome = failure_of(error)
    journal.keep(step.name, key, outcome)
    return outcome, False


def summarize(results: list[StepResult]) -> dict[str, Any]:
    """Return the JSON keys of `bring-up`."""
    steps = [{'name': name, 'done_before': known, **outcome.as_dict()}
             for name, outcome, known in results]
    return {'ok': all(step['ok'] for step in steps), 'steps': steps,
            'stopped_at': next((step['name'] for step in steps if not step['ok']), None)}
