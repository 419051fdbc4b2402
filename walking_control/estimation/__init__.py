# SPDX-License-Identifier: Apache-2.0
"""From what is measured to what is known: contacts, stance foot, minimal coordinates."""
