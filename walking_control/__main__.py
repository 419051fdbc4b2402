# SPDX-License-Identifier: Apache-2.0
"""`python -m walking_control` is `walking_control`."""

import sys

from walking_control.cli import main

sys.exit(main())
