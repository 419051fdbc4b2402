# SPDX-License-Identifier: Apache-2.0
"""From a robot file to a walk: steps in order, each passing or saying what stands in the way."""
