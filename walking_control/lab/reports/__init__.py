# SPDX-License-Identifier: Apache-2.0
"""What is shown of runs and experiments: pages, figures, films."""
