# SPDX-License-Identifier: Apache-2.0
"""A planar walker with rigid contacts, integrated from event to event, plain or compiled."""
