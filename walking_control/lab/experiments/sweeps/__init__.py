# SPDX-License-Identifier: Apache-2.0
"""Many walks over a grid of parameters or initial states: the work behind `sweep`."""
