# SPDX-License-Identifier: Apache-2.0
"""Pages and texts lie as templates in files, in folders `templates`; here is what fills them."""

import base64
from functools import cache
import math
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape, StrictUndefined

from walking_control.exceptions import InvalidInput, writing_to
from walking_control.models.robot import in_words


def fill(package: str, name: str, /, **values: Any) -> str:
    """Return a template with its gaps filled.

    Args:
        package: The package in whose folder ``templates`` it lies.
        name: File; what is filled into one that ends in ``.html`` is escaped.
        **values: What it names.
    """
    return _environment(package).get_template(name).render(values)


def write_page(path: Path, /, **values: Any) -> str:
    """Write a page of this package by the template of its name and return its path as text.

    Args:
        path: The page.
        **values: What the template names.
    """
    with writing_to(path.parent):
        path.write_text(fill(__package__, path.name, **values), encoding='utf-8')
    return str(path)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(['html']),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals['inf'] = math.inf
    environment.filters.update(
        form=format,
        show=show,
        clean=lambda value, digits=6: round(value, digits) + 0.0,  # without the sign of a zero
        degrees=math.degrees,
        words=in_words,
        number=format_number,
        problem=lambda told: InvalidInput(**told),
        picture=lambda path: base64.b64encode(path.read_bytes()).decode('ascii'),
    )
    return environment


def show(value: Any, form: str = '.4g') -> str:
    """Return a number in a form, a text as it is, and ``-`` for None."""
    if value is None:
        return '-'
    return value if isinstance(value, str) else format(value, form)


def format_number(value: Any, unit: str, digits: int) -> str:
    """Return a number in text, in hundredths where the unit is %; nothing for None."""
    if value is None:
        return ''
    if isinstance(value, int):
        return str(value)
    return f'{value * 100.0 if unit == "%" else value:#.{digits}g}'.rstrip('.')
