# SPDX-License-Identifier: Apache-2.0
"""Momentum coordinates and systems of ports ([DS09] 2.3, 2.4, 5.2.1 and appendix B)."""
