# SPDX-License-Identifier: Apache-2.0
"""The numbers the sources print, beside ours: `reproduce` and doc/reproduction.md."""
