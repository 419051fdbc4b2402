# SPDX-License-Identifier: Apache-2.0
"""Pages that need nothing but a browser: filled templates, one with sliders, one to print."""

from collections.abc import Mapping, Sequence
import csv
import json
import math
from pathlib import Path
from typing import Any

from walking_control.design import AXES, Limb
from walking_control.exceptions import writing_to
from walking_control.lab.reports.plots.design import drawing_plane
from walking_control.models import fill, in_words


def write_page(path: Path, /, **values: Any) -> str:
    """Write a page of this package by the template of its name and return its path as text.

    Args:
        path: The page.
        **values: What the template names.
    """
    with writing_to(path.parent):
        path.write_text(fill(__package__, path.name, **values), encoding='utf-8')
    return str(path)


def write_with_numbers(
    page: Path,
    numbers: Path,
    summary: Mapping[str, Any],
    figures: Sequence[tuple[Path, str]],
    beside: Sequence[Path],
    **values: Any,
) -> list[str]:
    """Write a page and, as JSON, the numbers behind it; return the paths of all files as texts.

    Args:
        page: The page.
        numbers: Where its numbers are written.
        summary: They, JSON-ready.
        figures: Path and caption of each.
        beside: Files that were written beside.
        **values: What else the template names.
    """
    files = [str(path) for path in (page, numbers, *beside, *(path for path, _ in figures))]
    text = json.dumps({**summary, 'files': files}, indent=2, allow_nan=False)
    numbers.write_text(text + '\n', encoding='utf-8')
    write_page(page, summary=summary, figures=figures, **values)
    return files


def page_data(limb: Limb, study: dict[str, Any]) -> dict[str, Any]:
    """Return what the page computes with: inertia and Jacobian of the limb, and its motors.

    Args:
        study: What `study_transmission` says of it.
    """
    gears = limb.transmission
    posture = ', '.join(
        f'{in_words(joint)} {math.degrees(study["positions"][joint]):.0f}°'
        if limb.mechanism.dynamics.robot.limits[joint].kind != 'prismatic'
        else f'{in_words(joint)} {study["positions"][joint]:.3g} m'
        for joint in gears.joints
    )
    along = ', '.join(f'{axis} {value:.3g}' for axis, value in zip(limb.axes, study['direction']))
    return {
        'names': list(gears.joints),
        'axes': limb.axes,
        'plane': ''.join(AXES[i] for i in drawing_plane(limb.axes)) if len(limb.axes) > 1 else '',
        'direction': study['direction'],
        'base': limb.n_base,
        'links': limb.links.tolist(),
        'coupling': limb.coupling.tolist(),
        'jacobian': limb.jacobian.tolist(),
        'topology': gears.topology.tolist(),
        'rotors': gears.rotor_inertia.tolist(),
        'torque': [torque if math.isfinite(torque) else 1e30 for torque in gears.torque.tolist()],
        'efficiency': gears.efficiency.tolist(),
        'reduction': gears.reduction.tolist(),
        'back': gears.back_efficiency.tolist(),
        'posture': f'{in_words(limb.mechanism.name)}, {in_words(limb.frame_name)} with {posture}; '
        f'base {study["base"]}, rotors {limb.rotors}; direction {along}',
    }


def write_design_page(limb: Limb, study: dict[str, Any], path: Path) -> str:
    """Write a page to try gears by sliders; return its path. Its address keeps the sliders.

    Args:
        study: What `study_transmission` says of it.
    """
    robot, frame = limb.mechanism.name, limb.frame_name
    return write_page(path, robot=robot, frame=frame, data=page_data(limb, study))


def write_stop_sheet(result: dict[str, Any], folder: Path) -> list[str]:
    """Write the sheet of `robustness --stop` and its numbers; return their paths as text.

    It is a page to print, of causes, speeds and phases.

    Args:
        result: What `try_stops` returned.
        folder: Where to.

    Returns:
        ``stops.html`` and ``stops.csv``, one line a start.
    """
    page = write_page(folder / 'stops.html', result=result)
    with writing_to(folder):
        with (folder / 'stops.csv').open('w', newline='', encoding='utf-8') as file:
            table = csv.DictWriter(file, list(result['trials'][0]))
            table.writeheader()
            table.writerows(result['trials'])
    return [page, str(folder / 'stops.csv')]
