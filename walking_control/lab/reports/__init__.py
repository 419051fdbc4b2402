# SPDX-License-Identifier: Apache-2.0
"""What is shown of runs and experiments: pages, figures, films."""

from walking_control.door import open_door

_PUBLIC, __all__, __getattr__ = open_door(__name__)
