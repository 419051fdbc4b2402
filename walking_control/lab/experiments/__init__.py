# SPDX-License-Identifier: Apache-2.0
"""What takes many walks: margins, sweeps, tuning, comparisons, cycles, bringing a robot up."""
