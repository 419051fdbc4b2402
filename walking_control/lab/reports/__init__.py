# SPDX-License-Identifier: Apache-2.0
"""What is shown of runs and experiments: pages, figures, films."""

from walking_control.door import modules_of

__getattr__ = modules_of(__name__)
