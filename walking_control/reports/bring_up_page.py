# SPDX-License-Identifier: Apache-2.0
"""The page of a bring-up: every step, whether it passed, and its numbers."""

from html import escape
from pathlib import Path
from typing import Any

from walking_control.exceptions import writing_to
from walking_control.reports.page import write_page


def write_bring_up_page(result: dict[str, Any], folder: Path) -> str:
    """Write the page and return its path as text.

    Args:
        result: What `bring-up` says, ``steps`` among it.
    """
    rows = []
    for step in result['steps']:
        verdict = 'passed' if step['ok'] else 'not passed'
        number = '' if step['value'] is None or step['ok'] else \
            f'<br>{escape(str(step["value"]))} {escape(step["limit"] or "")}'
        remedy = f'<br><i>{escape(step["remedy"])}</i>' if step['remedy'] and not step['ok'] else ''
        figures = ', '.join(f'{escape(name)} {_text(value)}'
                            for name, value in step['figures'].items())
        rows.append(f'<tr><th>{escape(step["name"])}</th><th>{verdict}</th>'
                    f'<th>{escape(step["what"])}{number}{remedy}</th><th>{figures}</th></tr>')
    table = '<div class="wide"><table><thead><tr><th>step</th><th></th><th>found</th>' \
        f'<th>numbers</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    outcome = 'It walks.' if result['ok'] else f'Stopped at: {escape(result["stopped_at"])}.'
    mood = '' if result['ok'] else ' fell'
    files = ''.join(f'<li>{escape(str(file))}</li>' for step in result['steps']
                    for file in [*step['files'], step['robot_file']] if file)
    page = write_page('Bring-up', [f'<p class="outcome{mood}">{outcome}</p>', table,
                                   f'<h2>Files</h2><ul>{files}</ul>'])
    path = folder / 'bring_up.html'
    with writing_to(folder):
        path.write_text(page, encoding='utf-8')
    return str(path)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:.4g}'
    return escape(', '.join(map(str, value)) if isinstance(value, list) else str(value))
