# SPDX-License-Identifier: Apache-2.0
"""Periodic motion: found on the return map, judged by its eigenvalues."""
