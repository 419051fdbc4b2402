# SPDX-License-Identifier: Apache-2.0
"""Where two bodies are closest to each other ([DS09] section 3.1), and the spring between them."""
