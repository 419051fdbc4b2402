# SPDX-License-Identifier: Apache-2.0
"""A robot on a floor that gives way, with every joule accounted for."""
