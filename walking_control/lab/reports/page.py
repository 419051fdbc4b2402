# SPDX-License-Identifier: Apache-2.0
"""The look of the pages the package writes, light or dark as the reader's; that of a bring-up."""

import base64
from html import escape
from pathlib import Path
from typing import Any

from walking_control.exceptions import writing_to

STYLE = """
:root { color-scheme: light dark; --ink: #1d1f21; --soft: #666; --ground: #fff; --line: #ddd;
  --good: #0072b2; --bad: #b34700; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --soft: #a0a0a0; --ground: #17191b; --line: #3a3d40; --good: #6cb8e6;
    --bad: #ff9a57; }
}
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0; font-size: 1.9rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin: 0 0 .4rem; }
.world { margin: .3rem 0 .8rem; color: var(--soft); }
.outcome { margin: 0 0 1.4rem; font-size: 1.1rem; font-weight: 600; color: var(--good); }
.outcome.fell { color: var(--bad); }
.top { display: flex; flex-wrap: wrap; gap: 1.5rem; align-items: flex-start; }
.top figure { flex: 1 1 24rem; margin-top: 0; }
.top table { flex: 1 1 24rem; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 400; }
thead th { text-align: right; color: var(--soft); }
td { text-align: right; }
th, td { padding: .22rem .5rem; border-bottom: 1px solid var(--line); }
td.unit { text-align: left; color: var(--soft); white-space: nowrap; }
figure { margin: 2rem 0 0; }
figure img { display: block; max-width: 100%; height: auto; background: #fff; border-radius: 6px;
  border: 1px solid var(--line); box-sizing: border-box; }
figcaption { margin-top: .4rem; color: var(--soft); font-size: .9rem; }
.wide { overflow-x: auto; margin: 0 0 1.4rem; }
.wide thead th { vertical-align: bottom; max-width: 7.5rem; }
.notes { margin-top: 2.5rem; color: var(--soft); font-size: .9rem; }
"""


def format_number(value: Any, unit: str, digits: int) -> str:
    """Return a number in text, in hundredths where the unit is %; nothing for None."""
    if value is None:
        return ''
    if isinstance(value, int):
        return str(value)
    return f'{value * 100.0 if unit == "%" else value:#.{digits}g}'.rstrip('.')


def embed_figure(path: Path, kind: str, caption: str) -> str:
    """Return a figure in HTML that holds its picture.

    Args:
        kind: Its media type.
        caption: What it shows.
    """
    data = base64.b64encode(path.read_bytes()).decode('ascii')
    return (
        f'<figure><img alt="{escape(caption)}" src="data:{kind};base64,{data}">'
        f'<figcaption>{escape(caption)}</figcaption></figure>'
    )


def write_page(title: str, parts: Any) -> str:
    """Return a page that needs nothing else: its title as heading, then parts in HTML."""
    body = '\n'.join([f'<h1>{escape(title)}</h1>', *parts])
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n'
        f'<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n'
    )


def write_bring_up_page(result: dict[str, Any], folder: Path) -> str:
    """Write the page and return its path as text.

    Args:
        result: What `bring-up` says, ``steps`` among it.
    """
    rows = []
    for step in result['steps']:
        number = (
            ''
            if step['value'] is None or step['ok']
            else f'<br>{escape(str(step["value"]))} {escape(step["limit"] or "")}'
        )
        remedy = f'<br><i>{escape(step["remedy"])}</i>' if step['remedy'] and not step['ok'] else ''
        figures = ', '.join(
            f'{escape(name)} {_text(value)}' for name, value in step['figures'].items()
        )
        rows.append(
            f'<tr><th>{escape(step["name"])}</th><th>{step["verdict"]}</th>'
            f'<th>{escape(step["what"])}{number}{remedy}</th><th>{figures}</th></tr>'
        )
    table = (
        '<div class="wide"><table><thead><tr><th>step</th><th></th><th>found</th>'
        f'<th>numbers</th></tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
    )
    outcome = 'It walks.' if result['ok'] else f'Stopped at: {escape(result["stopped_at"])}.'
    mood = '' if result['ok'] else ' fell'
    files = ''.join(
        f'<li>{escape(str(file))}</li>'
        for step in result['steps']
        for file in [*step['files'], step['robot_file']]
        if file
    )
    page = write_page(
        'Bring-up',
        [f'<p class="outcome{mood}">{outcome}</p>', table, f'<h2>Files</h2><ul>{files}</ul>'],
    )
    path = folder / 'bring_up.html'
    with writing_to(folder):
        path.write_text(page, encoding='utf-8')
    return str(path)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f'{value:.4g}'
    return escape(', '.join(map(str, value)) if isinstance(value, list) else str(value))
