# SPDX-License-Identifier: Apache-2.0
"""Control laws: from what is known to what is commanded."""
