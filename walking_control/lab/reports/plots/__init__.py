# SPDX-License-Identifier: Apache-2.0
"""Figures; every function returns a matplotlib Figure."""
