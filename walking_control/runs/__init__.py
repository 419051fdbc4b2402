# SPDX-License-Identifier: Apache-2.0
"""The record of a walk: what it was worth, and where its limbs were."""
