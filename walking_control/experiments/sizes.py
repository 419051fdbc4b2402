# SPDX-License-Identifier: Apache-2.0
"""Sizes tried one after the other until something fails, and what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from walking_control.exceptions import InvalidInput


def size_grid(largest: float, resolution: float, most: int) -> np.ndarray:
    """Return the sizes between 0, which is none of them, and the largest.

    Args:
        largest: Last size; below 0, sizes fall.
        resolution: Distance between sizes.
        most: How many there may be.

    Raises:
        InvalidInput: These make no grid.
    """
    if not np.isfinite(largest) or largest == 0.0:
        raise InvalidInput('max', value=largest, limit='must be a finite number other than 0')
    if not np.isfinite(resolution) or resolution <= 0.0:
        raise InvalidInput('resolution', value=resolution, limit='must be above 0')
    count = abs(largest) / resolution + 1e-9
    if not 1.0 <= count < most + 1.0:
        raise InvalidInput('resolution', value=resolution,
                           limit=f'must give 1 to {most} sizes up to {abs(largest):g}')
    return np.copysign(np.round(resolution * np.arange(1, int(count) + 1), 12), largest)


def judge_sizes(samples: list[list[Any]]) -> dict[str, Any]:
    """Return what tried sizes say: first failure, largest survived (farthest from 0) and tried.

    Args:
        samples: ``[size, survived, reason]`` of each, in the order tried.
    """
    survived = [size for size, lives, _ in samples if lives]
    return {'first_failure': next((size for size, lives, _ in samples if not lives), None),
            'largest_survived': max(survived, key=abs, default=0.0),
            'largest_tried': samples[-1][0] if samples else 0.0}
