# SPDX-License-Identifier: Apache-2.0
"""The desk: experiments, reports, design, adoption of robots."""
