# SPDX-License-Identifier: Apache-2.0
"""Films of walks as small GIFs."""
