# SPDX-License-Identifier: Apache-2.0
"""What verbs return is typed and JSON at once."""

from dataclasses import dataclass
import json
import pickle

import numpy as np

from walking_control.runs.result import Result


@dataclass(eq=False)
class Found(Result):
    """What an example found."""

    speed: float | None
    path: list[float]
    inner: 'Found | None' = None


def test_entries_are_attributes_and_json():
    """If it failed, --json and what a script reads of the same result would differ."""
    inner = Found(np.float64('nan'), (1, 2))
    found = Found(np.float64(0.5), np.arange(2.0), inner)
    assert type(found.speed) is float and found.speed == found['speed'] == 0.5
    assert found.inner is inner and inner.speed is None and inner.path == [1, 2]
    read = json.loads(json.dumps(found, allow_nan=False))
    for other in (read, pickle.loads(pickle.dumps(found))):
        assert (
            other
            == found
            == {
                'speed': 0.5,
                'path': [0.0, 1.0],
                'inner': {'speed': None, 'path': [1, 2], 'inner': None},
            }
        )
