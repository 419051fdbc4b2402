# SPDX-License-Identifier: Apache-2.0
"""The site: the pages as they stand in the repository, in the order of `index.rst`."""

from pathlib import Path
import re

HOUSE = Path(__file__).parents[1]

project = 'walking_control'
release = re.search('<version>(.+)</version>', (HOUSE / 'package.xml').read_text()).group(1)
extensions = ['myst_parser']
# The house is the source folder, not doc/: README.md and ../config are then within reach of links.
root_doc = 'doc/index'
include_patterns = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.rst', 'doc/**']
exclude_patterns = ['.*', 'build', 'out']
# anchors of headings as the forge makes them
myst_heading_anchors = 6
html_theme = 'furo'
html_title = 'walking_control'
html_copy_source = False


def setup(app):
    """Let the site's folder open with its first page, which lies in doc/ as its source does."""
    app.connect('build-finished', write_entry)


def write_entry(app, exception):
    """Write the page that leads to the first one."""
    if exception is None and app.builder.format == 'html':
        Path(app.outdir, 'index.html').write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">\n')
