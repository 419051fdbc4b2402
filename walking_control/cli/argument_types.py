# SPDX-License-Identifier: Apache-2.0
"""Texts of the command line as values, refused in one line where they are none."""

import argparse
import math
from typing import Any

import yaml

from walking_control.experiments.sweeps.task import Axis
from walking_control.models.yaml_text import load_yaml

LONGEST_RUN = 1e6   # s, as of the simulator node


def setting(text: str) -> tuple[str, Any]:
    """Return name and value of NAME=VALUE."""
    name, separator, value = text.partition('=')
    if not separator or not name:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form name=value')
    try:
        return name, load_yaml(value)
    except yaml.YAMLError as error:
        raise argparse.ArgumentTypeError(f'value of {name} is not YAML: {error}') from error


def numbers(text: str) -> list[float]:
    """Return the numbers of A,B,C."""
    return [finite(part) for part in text.split(',')]


def ratios(text: str) -> list[float]:
    """Return the numbers of A,B,C, each a number or a fraction such as 1/20."""
    found = []
    for part in text.split(','):
        above, slash, below = part.partition('/')
        bottom = finite(below) if slash else 1.0
        if bottom == 0.0:
            raise argparse.ArgumentTypeError(f'{part!r} divides by zero')
        found.append(finite(above) / bottom)
    return found


def number_range(text: str) -> list[float]:
    """Return the N numbers of LO:HI:N, or those of a list with commas."""
    if ',' in text:
        return [finite(part) for part in text.split(',')]
    parts = text.split(':')
    if len(parts) != 3 or not parts[2].isdigit() or int(parts[2]) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form LO:HI:N or A,B,...')
    low, high, count = finite(parts[0]), finite(parts[1]), int(parts[2])
    return [low + (high - low) * i / max(1, count - 1) for i in range(count)]


def axis(text: str) -> Axis:
    """Return the axis of NAME=LO:HI:N, or of NAME=LO:HI where points are drawn at random."""
    name, _, ends = text.partition('=')
    parts = ends.split(':')
    if not name or len(parts) not in (2, 3) or not (len(parts) == 2 or parts[2].isdigit()) \
            or parts[2:] == ['0']:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form name=LO:HI:N, N from 1')
    return Axis(name, finite(parts[0]), finite(parts[1]), int(parts[2]) if parts[2:] else 1)


def margin(text: str) -> tuple[str, float]:
    """Return kind and size of KIND=SIZE."""
    kind, separator, size = text.partition('=')
    if not kind or not separator:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form kind=size')
    return kind, finite(size)


def words(text: str) -> tuple[str, ...]:
    """Return the words of A,B,C."""
    return tuple(word for word in text.split(',') if word)


def seed(text: str) -> int:
    """Return a whole number from 0."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number from 0')
    return int(text)


def count(text: str) -> int:
    """Return a whole number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number from 1')
    return int(text)


def port(text: str) -> int:
    """Return a TCP port, 0 for a free one."""
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f'{text!r} is not a port: a whole number up to 65535')
    return int(text)


def finite(text: str) -> float:
    """Return a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'{text!r} is not a finite number')
    return value


def duration(text: str) -> float:
    """Return a time above 0 that a run can last, s."""
    value = positive(text)
    if value > LONGEST_RUN:
        raise argparse.ArgumentTypeError(f'{text} must be at most {LONGEST_RUN:g} s')
    return value


def positive(text: str) -> float:
    """Return a finite number above 0."""
    value = finite(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'{text} must be above 0')
    return value


def not_negative(text: str) -> float:
    """Return a finite number of at least 0."""
    value = finite(text)
    if value < 0.0:
        raise argparse.ArgumentTypeError(f'{text} must not be below 0')
    return value


def share(text: str) -> float:
    """Return a number between 0 and 1."""
    value = positive(text)
    if value >= 1.0:
        raise argparse.ArgumentTypeError(f'{text} must be below 1')
    return value
