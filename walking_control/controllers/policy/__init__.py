# SPDX-License-Identifier: Apache-2.0
"""A learned policy as a law: a network between observations and position targets."""
