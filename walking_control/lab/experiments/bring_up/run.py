# SPDX-License-Identifier: Apache-2.0
"""Bring a robot up: do the steps of its kind that are not done yet, and keep a journal of them."""

from dataclasses import asdict
import hashlib
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from walking_control import __version__
from walking_control.exceptions import refusing, require, WalkingControlError
from walking_control.lab.experiments import (
    check_step,
    GAIT_STEPS,
    Outcome,
    PLANAR_STEPS,
    Site,
    SPATIAL_STEPS,
    Step,
)
from walking_control.models import Base, read_parameters, urdf_path

CHECK = Step('check', (), check_step)
NAME = 'bring_up.json'


class StepResult(NamedTuple):
    """What came of a step: its name, its `Outcome`, and whether it was done before."""

    name: str
    outcome: Outcome
    done_before: bool


class Journal:
    """Outcomes by step, each with the key of what it was found from, kept in a folder.

    Raises:
        InvalidInput: The file there is no journal.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._entries: dict[str, dict[str, Any]] = {}
        if not self.path.is_file():
            return
        with refusing(
            (OSError, ValueError, KeyError, TypeError, AttributeError),
            f'journal {self.path}',
            limit='cannot be read: {error}',
            remedy='move it away, and all steps are done anew',
        ):
            entries = json.loads(self.path.read_text(encoding='utf-8'))['entries']
            self._entries = {
                name: {'key': str(entry['key']), 'outcome': asdict(Outcome(**entry['outcome']))}
                for name, entry in entries.items()
            }

    def find(self, name: str, key: str) -> Outcome | None:
        """Return the `Outcome` of a step whose inputs are the same and whose files are there."""
        entry = self._entries.get(name)
        if entry is None or entry['key'] != key:
            return None
        outcome = Outcome(**entry['outcome'])
        written = [*outcome.files, *([outcome.robot_file] if outcome.robot_file else [])]
        return outcome if all(Path(file).is_file() for file in written) else None

    def keep(self, name: str, key: str, outcome: Outcome) -> None:
        """Write down an `Outcome`; whoever is killed meanwhile finds the journal as it was."""
        self._entries[name] = {'key': key, 'outcome': asdict(outcome)}
        text = json.dumps(
            {'version': __version__, 'entries': self._entries},
            indent=1,
            default=lambda value: value.tolist() if hasattr(value, 'tolist') else str(value),
        )
        beside = self.path.with_suffix('.tmp')
        beside.write_text(text + '\n', encoding='utf-8')
        os.replace(beside, self.path)


def key_of(step: Step, site: Site) -> str:
    """Return a hash of what a step's outcome depends on: robot file, options, steps before."""
    tree = read_parameters(site.current)
    files = (
        [urdf_path(tree['robot'], site.current)]
        if isinstance(tree.get('robot'), dict) and 'urdf' in tree['robot']
        else []
    )
    files += [
        site.current.parent / section['gait']
        for section in tree.values()
        if isinstance(section, dict) and isinstance(section.get('gait'), str)
    ]
    text = [
        step.name,
        __version__,
        json.dumps(site.options(), sort_keys=True),
        yaml.safe_dump(tree, sort_keys=True),
        *(file.read_text(encoding='utf-8', errors='replace') for file in files if file.is_file()),
        *(f'{name} {site.done[name].ok}' for name in step.needs if name in site.done),
    ]
    return hashlib.sha256('\n'.join(text).encode()).hexdigest()


def bring_up(site: Site) -> list[StepResult]:
    """Do every step from a robot file to a walk; return their `StepResult`.

    Args:
        site: The `Site`; its folder exists.

    Raises:
        InvalidInput: The robot file cannot be loaded, or the journal of the folder is none.
    """
    site.current = Path(site.path)
    journal = Journal(site.folder)
    results: list[StepResult] = []
    for step in (CHECK, *_route(site), *site.more):
        missing = [name for name in step.needs if not site.done[name].ok]
        if missing:
            outcome, known = Outcome(False, f'not tried: {missing[0]} did not pass'), False
        else:
            outcome, known = _do(step, site, journal)
        site.done[step.name] = outcome
        if outcome.robot_file:
            site.current = Path(outcome.robot_file)
        results.append(StepResult(step.name, outcome, known))
        site.progress(
            f'{step.name}: {outcome.verdict.replace("not", "NOT")}'
            f'{" (before)" if known else ""}: {outcome.what}'
        )
    return results


def _route(site: Site) -> tuple[Step, ...]:
    base = site.load().robot.base
    routes = {Base.PLANAR: PLANAR_STEPS, Base.FREE: GAIT_STEPS if site.gaits else SPATIAL_STEPS}
    require(
        base in routes,
        'robot.base',
        value=base.value,
        limit='is brought up by no steps yet',
        remedy='planar or free',
    )
    return routes[base]


def _do(step: Step, site: Site, journal: Journal) -> tuple[Outcome, bool]:
    key = key_of(step, site)
    known = journal.find(step.name, key)
    if known is not None:
        return known, True
    site.progress(f'{step.name} ...')
    try:
        outcome = step.run(site)
    except WalkingControlError as error:
        parts = error.as_dict()
        outcome = Outcome(False, str(error), parts['value'], parts['limit'], parts['remedy'])
    journal.keep(step.name, key, outcome)
    return outcome, False


def summarize(results: list[StepResult]) -> dict[str, Any]:
    """Return the JSON keys of `bring-up`."""
    steps = [
        {'name': name, 'done_before': known, 'verdict': outcome.verdict, **asdict(outcome)}
        for name, outcome, known in results
    ]
    return {
        'ok': all(step['ok'] for step in steps),
        'steps': steps,
        'stopped_at': next((step['name'] for step in steps if not step['ok']), None),
    }
