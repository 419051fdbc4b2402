# SPDX-License-Identifier: Apache-2.0
"""Coefficients of the explicit Runge-Kutta method of order 8(5,3) of Dormand and Prince.

E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, section II.5.
"""

import numpy as np
from scipy.integrate import DOP853

A = np.vstack((DOP853.A, DOP853.B))  # stage by earlier stage; stage 12 is the new state
E3, E5 = DOP853.E3[:12], DOP853.E5[:12]  # errors of order 3 and 5
