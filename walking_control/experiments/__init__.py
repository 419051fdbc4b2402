# SPDX-License-Identifier: Apache-2.0
"""Experiments on a walker: measures of a run, pictures of it, reports."""
