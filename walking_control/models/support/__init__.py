# SPDX-License-Identifier: Apache-2.0
"""Support reduction: the floating-base robot seen from the foot it stands on, in three ways."""
