# SPDX-License-Identifier: Apache-2.0
"""How stable a walk is, in the numbers the field has defined: `robustness --metric`."""
