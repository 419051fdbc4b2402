# SPDX-License-Identifier: Apache-2.0
"""Fills templates, which lie in folders `templates`: pages, texts, files of other programs."""

import base64
from functools import cache
import math
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape, StrictUndefined

from walking_control.exceptions import InvalidInput
from walking_control.models.robot import in_words


def fill(package: str, name: str, /, **values: Any) -> str:
    """Return a template with its gaps filled.

    Args:
        package: The package in whose folder ``templates`` it lies.
        name: File; what is filled into HTML and XML is escaped, by the file's ending.
        **values: What it names.
    """
    return _environment(package).get_template(name).render(values)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(['html', 'sdf', 'urdf', 'xacro', 'xml']),
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
