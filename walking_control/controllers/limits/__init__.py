# SPDX-License-Identifier: Apache-2.0
"""What motors and feet can bear: from wanted forces to possible efforts."""
