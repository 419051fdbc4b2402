# SPDX-License-Identifier: Apache-2.0
"""Efficient gaits by optimisation ([DS09] Definition 4.2)."""
