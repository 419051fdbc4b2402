# SPDX-License-Identifier: Apache-2.0
"""Port-based curve tracking with energy management ([DS09] section 5.2)."""
