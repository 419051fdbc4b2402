# SPDX-License-Identifier: Apache-2.0
"""What has been done, kept after each step, so that a run that was killed goes on from there."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import yaml

from walking_control import __version__
from walking_control.exceptions import InvalidInput
from walking_control.experiments.bring_up.step import Outcome, Site, Step
from walking_control.models.robot_file import read_parameters
from walking_control.models.robot_section import urdf_path

NAME = 'bring_up.json'


class Journal:
    """Outcomes by step, each with the key of what it was found from.

    Args:
        folder: Where it lies.

    Raises:
        InvalidInput: The file there is no journal.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._entries: dict[str, dict[str, Any]] = {}
        if not self.path.is_file():
            return
        try:
            entries = json.loads(self.path.read_text(encoding='utf-8'))['entries']
            self._entries = {name: {'key': str(entry['key']), 'outcome': Outcome(
                **entry['outcome']).as_dict()} for name, entry in entries.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InvalidInput(f'journal {self.path}', limit=f'cannot be read: {error}',
                               remedy='move it away, and all steps are done anew') from error

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
        self._entries[name] = {'key': key, 'outcome': outcome.as_dict()}
        text = json.dumps({'version': __version__, 'entries': self._entries}, indent=1,
                          default=_plain)
        beside = self.path.with_suffix('.tmp')
        beside.write_text(text + '\n', encoding='utf-8')
        os.replace(beside, self.path)


def key_of(step: Step, site: Site) -> str:
    """Return what a step's outcome depends on, as a hash.

    That is the robot file and what it names, the options, and how the steps before ended.
    """
    text = [step.name, __version__, json.dumps(site.options(), sort_keys=True)]
    tree = read_parameters(site.current)
    text.append(yaml.safe_dump(tree, sort_keys=True))
    files = [urdf_path(tree['robot'], site.current)] if isinstance(
        tree.get('robot'), dict) and 'urdf' in tree['robot'] else []
    files += [site.current.parent / section['gait'] for section in tree.values()
              if isinstance(section, dict) and isinstance(section.get('gait'), str)]
    text += [file.read_text(encoding='utf-8', errors='replace')
             for file in files if file.is_file()]
    text += [f'{name} {site.done[name].ok}' for name in step.needs if name in site.done]
    return hashlib.sha256('\n'.join(text).encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return numbers of NumPy as Python's."""
    return value.tolist() if hasattr(value, 'tolist') else str(value)
