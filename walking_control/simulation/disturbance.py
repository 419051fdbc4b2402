# SPDX-License-Identifier: Apache-2.0
"""One-off disturbances in words: ``KIND=SIZE@STEP``."""

import math

from walking_control.exceptions import IncompatiblePlant, InvalidInput


def plan_disturbances(plant, texts):
    """Plan disturbances on a plant.

    Args:
        plant: A `Plant` that can `disturb`, unless there is nothing to plan.
        texts: Texts of the form ``step_down=0.05@3``: at the third touchdown.

    Raises:
        InvalidInput: A text has another form, or the plant knows no such disturbance.
    """
    for text in texts:
        kind, size, step = _parse(text)
        if not hasattr(plant, 'disturb'):
            raise IncompatiblePlant(f'disturbance {text} on plant {plant.name}',
                                    limit='this plant has none', remedy='choose plant rigid')
        plant.disturb(kind, size, step)


def _parse(text):
    kind, _, rest = text.partition('=')
    size, _, step = rest.partition('@')
    try:
        value = float(size)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or not step.isdigit():
        raise InvalidInput('disturbance', value=text, limit='must have the form kind=size@step',
                           remedy='for example step_down=0.05@3')
    return kind, value, int(step)
