# SPDX-License-Identifier: Apache-2.0
"""Foot placement and push-off of a walker with massless legs ([DS09] section 5.4)."""
