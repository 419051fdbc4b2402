# SPDX-License-Identifier: Apache-2.0
"""What verbs return: a dataclass that is also the JSON object of its entries."""

import math
from typing import Any


class Result(dict[str, Any]):
    """Base of the dataclasses that verbs return, decorated with ``@dataclass(eq=False)``.

    ``found.speed`` is typed, ``found['speed']`` is the same entry of what ``--json`` prints, and
    ``json.dumps`` takes all of it as it is.
    """

    def __post_init__(self) -> None:
        own = vars(self)
        own.update(
            (name, value if isinstance(value, Result) else plain(value))
            for name, value in own.items()
        )
        self.update(own)


def plain(value: Any) -> Any:
    """Return a value in JSON's types, numbers of NumPy as Python's, unknown ones as None."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if hasattr(value, 'tolist'):
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
