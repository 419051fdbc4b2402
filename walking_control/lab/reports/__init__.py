# SPDX-License-Identifier: Apache-2.0
"""What is shown of runs and experiments: pages, figures, films."""

from walking_control.models.registry import modules_of

__getattr__ = modules_of(__name__)
