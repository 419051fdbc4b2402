# SPDX-License-Identifier: Apache-2.0
"""Where bodies touch: closest points of smooth surfaces, energy of contact ([DS09] 3.1, 3.2)."""
