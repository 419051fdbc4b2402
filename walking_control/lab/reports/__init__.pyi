# SPDX-License-Identifier: Apache-2.0
# The modules that `__init__.py` imports when they are first named.

from walking_control.lab.reports import animations as animations
from walking_control.lab.reports import comparison_page as comparison_page
from walking_control.lab.reports import gallery as gallery
from walking_control.lab.reports import pages as pages
from walking_control.lab.reports import plots as plots
from walking_control.lab.reports import report as report
from walking_control.lab.reports import reproduction as reproduction
from walking_control.lab.reports import scene as scene
from walking_control.lab.reports import sections as sections
from walking_control.lab.reports import templates as templates
