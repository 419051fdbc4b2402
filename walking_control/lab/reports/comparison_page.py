# SPDX-License-Identifier: Apache-2.0
"""What a comparison leaves behind: a page, a table, numbers, figures."""

from collections.abc import Iterator, Sequence
import csv
from html import escape
import json
import math
from pathlib import Path
import re
from typing import Any

from walking_control.exceptions import writing_to
from walking_control.lab.experiments.comparison import GAIT_MEASURES, outcome, Walk
from walking_control.lab.experiments.envelope import PRICE
from walking_control.lab.reports.page import embed_figure, format_number, write_page
from walking_control.lab.reports.plots.comparison import (
    plot_all_energies,
    plot_all_walks,
    plot_gaits,
)
from walking_control.lab.reports.plots.disturbance import plot_effort_parts
from walking_control.lab.reports.plots.style import Figure, import_matplotlib, save
from walking_control.models.robot import in_words
from walking_control.models.robot_file import World
from walking_control.runs.disturbance_response import MEASURES

VERDICT = '^(?:survived|fell|was stopped|broke off)'  # of a walk, in a word
NOTES = """<section class="notes"><h2>What the numbers mean</h2><p>Every walk starts in the state
of the robot file, on the same floor, under the same disturbance. Squared effort per step counts
whole steps before the one that meets the disturbance, and from that one on. Injected and absorbed
energy count every actuator for itself. Foot length is how far from the ankle the centre of
pressure would have to lie. Undesired kinetic energy and distance to the gait are measured on all
walks alike, by the field, metric and gait that the robot file gives curve tracking, whatever field
a variant follows itself. Normal force and friction ratio are those of the stance foot, at every
tick; of a walk that fell they include the fall.</p></section>"""


GAIT_NOTES = """<section class="notes"><h2>What the numbers mean</h2><p>Every walk starts at rest as
the robot file says and is measured over whole steps in its second half. Cost of transport is energy
at the motors' terminals over weight and distance, as the supply gives it; where no joint drives
another, each pays alone and what it brakes with is lost. The first failing push is that of the
worst direction and part of the step, over 0.1 s on the base, by bisection, of the walk whose cost
stands below it; all variants have the same robot, sensors, estimator, supervisor and limits.</p>
</section>"""


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
    with writing_to(directory):
        return _write_files(walks, summary, directory)


def _write_files(walks: Sequence[Walk], summary: dict[str, Any], directory: Path) -> list[str]:
    figures = []
    for name, figure, caption in _figures(walks):
        if figure is not None:
            path = directory / f'{name}.png'
            save(figure, path)
            figures.append((path, caption))
    page, numbers, table = (directory / f'comparison.{end}' for end in ('html', 'json', 'csv'))
    files = [str(path) for path in (page, numbers, table, *(path for path, _ in figures))]
    numbers.write_text(
        json.dumps({**summary, 'files': files}, indent=2, allow_nan=False) + '\n', encoding='utf-8'
    )
    with open(table, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file).writerows(_csv_rows(summary))
    world = next((walk.run.world for walk in walks if walk.run is not None), None)
    parts = [
        f'<p class="world">{escape(_setting(summary, world))}</p>',
        _table(summary),
        *(embed_figure(path, 'image/png', caption) for path, caption in figures),
        GAIT_NOTES if 'gaits' in summary['variants'][0] else NOTES,
    ]
    title = f'{summary["robot"]}: {len(walks)} walks compared'
    page.write_text(
        write_page(title + (', interrupted' if summary['interrupted'] else ''), parts),
        encoding='utf-8',
    )
    return files


def _figures(walks: Sequence[Walk]) -> Iterator[tuple[str, Figure | None, str]]:
    """Yield (name, figure or None, caption)."""
    if 'gaits' in walks[0].measures:
        yield (
            'gaits',
            plot_gaits(walks),
            'Left: speed over the commanded one, and what it costs '
            'at the motors. Right, where asked for: the least first failing push from every '
            'side, ahead at the top; hollow: survived to the last size.',
        )
        return
    yield (
        'walks',
        plot_all_walks(walks),
        'The steps around the disturbance, six poses each; strong: just after touchdown.',
    )
    yield (
        'energies',
        plot_all_energies(walks),
        'Left: energies around the disturbance; potential and desired energy from the value '
        'that potential energy has at the first touchdown shown, the tank from its own. Right: '
        'kinetic energy across the desired direction.',
    )
    for i, walk in enumerate(walks):
        if walk.run is not None:
            yield (
                f'effort_parts_{i + 1}',
                plot_effort_parts(walk.run),
                f'{walk.variant.name}: what the efforts consist of around the disturbance.',
            )


def _setting(summary: dict[str, Any], world: World | None) -> str:
    text = ', '.join(in_words(item) for item in summary['disturb']) or 'no disturbance'
    if world is None:
        return text
    return f'{text}; slope {math.degrees(world.slope):.3g}°, gravity {world.gravity:.4g} m/s²'


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


def _csv_rows(summary: dict[str, Any]) -> Iterator[list[Any]]:
    yield ['measure', 'unit', *(variant['name'] for variant in summary['variants'])]
    yield ['survived', '', *(variant['survived'] for variant in summary['variants'])]
    yield ['reason', '', *(variant['reason'] for variant in summary['variants'])]
    for name, unit, _, values in rows_of(summary):
        yield [name, unit, *values]


def _table(summary: dict[str, Any]) -> str:
    variants = summary['variants']
    head = ''.join(
        f'<th title="{escape(_settings(variant))}">{escape(variant["name"])}</th>'
        for variant in variants
    )
    lines = [
        '<div class="wide"><table>',
        f'<thead><tr><th></th>{head}<th></th></tr></thead>',
        '<tbody>',
        '<tr><th>Outcome</th>'
        + ''.join(
            f'<td title="{escape(outcome(variant))}">'
            f'{re.findall(VERDICT, outcome(variant))[0]}</td>'
            for variant in variants
        )
        + '<td></td></tr>',
    ]
    for name, unit, digits, values in rows_of(summary):
        cells = ''.join(f'<td>{escape(text_of(value, unit, digits))}</td>' for value in values)
        lines.append(f'<tr><th>{name}</th>{cells}<td class="unit">{unit}</td></tr>')
    falls = ''.join(
        f'<li>{escape(variant["name"])} {escape(outcome(variant))}.</li>'
        for variant in variants
        if not variant['survived']
    )
    own = ''.join(
        f'<li>{escape(variant["name"])}: {escape(_settings(variant))}</li>' for variant in variants
    )
    return '\n'.join(
        [
            *lines,
            '</tbody></table></div>',
            f'<ul>{falls}</ul>' if falls else '',
            f'<details><summary>Controllers and settings</summary><ul>{own}</ul></details>',
        ]
    )


def _settings(variant: dict[str, Any]) -> str:
    settings = ', '.join(f'{name} {value}' for name, value in variant['settings'].items())
    return f'{variant["controller"]}, {settings or "as in the robot file"}'


def format_comparison(summary: dict[str, Any]) -> list[str]:
    """Return the lines of the table for a terminal."""
    variants = summary['variants']
    lines = [f'{i + 1} {variant["name"]}: {outcome(variant)}' for i, variant in enumerate(variants)]
    lines.append(f'{"":>44}' + ''.join(f'{i + 1:>13}' for i in range(len(variants))))
    for name, unit, digits, values in rows_of(summary):
        title = f'{name} ({unit})' if unit else name
        lines.append(
            f'{title:>44}' + ''.join(f'{text_of(value, unit, digits):>13}' for value in values)
        )
    return lines
