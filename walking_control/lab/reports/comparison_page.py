# SPDX-License-Identifier: Apache-2.0
"""What a comparison leaves behind: a page, a table, numbers, figures."""

from collections.abc import Sequence
import csv
from pathlib import Path
import re
from typing import Any

from walking_control.exceptions import writing_to
from walking_control.lab.experiments import GAIT_MEASURES, outcome, PRICE, Walk
from walking_control.lab.reports.pages import write_with_numbers
from walking_control.lab.reports.plots import (
    Figure,
    import_matplotlib,
    plot_all_energies,
    plot_all_walks,
    plot_effort_parts,
    plot_gaits,
    save_all,
)
from walking_control.models import format_number, in_words
from walking_control.runs.disturbance_response import MEASURES

VERDICT = '^(?:survived|fell|was stopped|broke off)'  # of a walk, in a word


def summarize_comparison(
    walks: Sequence[Walk],
    robot: str,
    disturb: Sequence[str],
    duration: float,
    interrupted: bool = False,
) -> dict[str, Any]:
    """Return the comparison, ready for JSON.

    Args:
        disturb: Texts ``KIND=SIZE@WHEN``.
        duration: Simulated time, s.
        interrupted: Whether walks are missing because somebody stopped the comparison.
    """
    return {
        'robot': robot,
        'disturb': list(disturb),
        'duration': duration,
        'interrupted': interrupted,
        'variants': [
            {
                'name': walk.variant.name,
                'controller': walk.variant.controller,
                'settings': walk.variant.settings,
                **walk.measures,
            }
            for walk in walks
        ],
        'files': [],
    }


def write_comparison(
    walks: Sequence[Walk], summary: dict[str, Any], directory: Path | str
) -> list[str]:
    """Write the files of a comparison and its summary into a directory; return their paths.

    They are comparison.html, .json and .csv and a PNG per figure; the page needs none of the
    others. InvalidInput: the directory cannot be written. Without matplotlib nothing is written.
    """
    import_matplotlib()
    directory = Path(directory)
    page, numbers, table = (directory / f'comparison.{end}' for end in ('html', 'json', 'csv'))
    variants = [
        {
            **variant,
            'said': _settings(variant),
            'outcome': outcome(variant),
            'verdict': re.findall(VERDICT, outcome(variant))[0],
        }
        for variant in summary['variants']
    ]
    with writing_to(directory):
        with open(table, 'w', newline='', encoding='utf-8') as file:
            csv.writer(file).writerows(_csv_rows(summary))
        return write_with_numbers(
            page,
            numbers,
            summary,
            save_all(_figures(walks), directory),
            (table,),
            variants=variants,
            world=next((walk.run.world for walk in walks if walk.run is not None), None),
            rows=rows_of(summary),
            text_of=text_of,
        )


def _figures(walks: Sequence[Walk]) -> list[tuple[str, Figure | None, str]]:
    """Return (name, figure or None, caption) of each."""
    if 'gaits' in walks[0].measures:
        caption = (
            'Left: speed over the commanded one, and what it costs '
            'at the motors. Right, where asked for: the least first failing push from every '
            'side, ahead at the top; hollow: survived to the last size.'
        )
        return [('gaits', plot_gaits(walks), caption)]
    return [
        (
            'walks',
            plot_all_walks(walks),
            'The steps around the disturbance, six poses each; strong: just after touchdown.',
        ),
        (
            'energies',
            plot_all_energies(walks),
            'Left: energies around the disturbance; potential and desired energy from the value '
            'that potential energy has at the first touchdown shown, the tank from its own. Right: '
            'kinetic energy across the desired direction.',
        ),
        *(
            (
                f'effort_parts_{i + 1}',
                plot_effort_parts(walk.run),
                f'{walk.variant.name}: what the efforts consist of around the disturbance.',
            )
            for i, walk in enumerate(walks)
            if walk.run is not None
        ),
    ]


def rows_of(summary: dict[str, Any]) -> list[tuple[str, str, int, list[Any]]]:
    """Return (name, unit, digits, values by variant) of each line of the table."""
    variants = summary['variants']
    if 'gaits' in variants[0]:
        rows = [
            (
                f'{name}, {gait["commanded"]:g} m/s commanded',
                unit,
                digits,
                [variant['gaits'][i][key] for variant in variants],
            )
            for key, name, unit, digits in GAIT_MEASURES
            for i, gait in enumerate(variants[0]['gaits'])
        ]
    else:
        rows = [
            (name, unit, digits, [variant[key] for variant in variants])
            for key, name, unit, digits in MEASURES
        ]
    for kind in variants[0].get('robustness', {}):
        found = [variant.get('robustness', {}).get(kind) for variant in variants]
        rows.append(
            (
                f'First failing {in_words(kind)}',
                found[0].get('unit', ''),
                3,
                [_first_failure(item) for item in found],
            )
        )
        if PRICE in found[0]:
            rows.append(
                (
                    'of a walk whose electrical cost is',
                    '',
                    3,
                    [item and item.get(PRICE) for item in found],
                )
            )
    return rows


def _first_failure(found: dict[str, Any] | None) -> Any:
    """Return the first failing size for the table, None where nobody looked to the end."""
    if found is None or found['first_failure'] is not None or found['reason'] is not None:
        return found and found['first_failure']
    return f'none to {found["largest_tried"]:g}'


def text_of(value: Any, unit: str, digits: int) -> str:
    """Return a value of the table as people read it."""
    return value if isinstance(value, str) else format_number(value, unit, digits)


def _csv_rows(summary: dict[str, Any]) -> list[list[Any]]:
    variants = summary['variants']
    return [
        ['measure', 'unit', *(variant['name'] for variant in variants)],
        ['survived', '', *(variant['survived'] for variant in variants)],
        ['reason', '', *(variant['reason'] for variant in variants)],
        *([name, unit, *values] for name, unit, _, values in rows_of(summary)),
    ]


def _settings(variant: dict[str, Any]) -> str:
    settings = ', '.join(f'{name} {value}' for name, value in variant['settings'].items())
    return f'{variant["controller"]}, {settings or "as in the robot file"}'
