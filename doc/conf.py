# SPDX-License-Identifier: Apache-2.0
"""The site: the pages as they stand in the repository, in the order of `index.rst`."""

from importlib.util import find_spec
from pathlib import Path
import re
import sys

HOUSE = Path(__file__).parents[1]

project = 'walking_control'
release = re.search('<version>(.+)</version>', (HOUSE / 'package.xml').read_text()).group(1)
# myst_nb reads notebooks as well as MyST; a test executes them and keeps their outputs true
extensions = ['myst_nb', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon']
nb_execution_mode = 'off'
# the library as it stands here, whatever is installed; its types are no pages of this site
sys.path.insert(0, str(HOUSE))
autodoc_typehints = 'signature'
napoleon_use_ivar = True
nitpick_ignore_regex = [('py:.*', '.*')]
default_role = 'code'
# $...$ and $$...$$ as on the forge, set as MathML: browsers draw it themselves, without a network.
myst_enable_extensions = ['dollarmath']
THIN = '<mspace width="0.17em"/>'
MATHML = find_spec('latex2mathml') is not None
if MATHML:
    html_math_renderer = 'mathml'
else:
    extensions.append('sphinx.ext.mathjax')  # needs a network where the page is read
# The house is the source folder, not doc/: README.md and ../config are then within reach of links.
root_doc = 'doc/index'
include_patterns = [
    'README.md',
    'CONTRIBUTING.md',
    'CHANGELOG.rst',
    'SECURITY.md',
    'QUALITY_DECLARATION.md',
    'doc/**',
]
exclude_patterns = ['.*', 'build', 'out', 'doc/paper']
# anchors of headings as the forge makes them
myst_heading_anchors = 6
html_theme = 'furo'
html_title = 'walking_control'
html_copy_source = False
# the licence names no holder
html_show_copyright = False
html_static_path = ['site']
html_css_files = ['site.css']


def setup(app):
    """Let the site's folder open with its first page, which lies in doc/ as its source does."""
    app.connect('build-finished', write_entry)
    app.connect('autodoc-process-docstring', join_sentence, priority=600)  # after napoleon
    if MATHML:
        app.add_html_math_renderer('mathml', (write_inline, None), (write_block, None))


def join_sentence(app, what, name, thing, options, lines):
    """Join what napoleon parts at a colon: the first words on a property are no type."""
    mark = ':type: '
    for i, line in enumerate(lines):
        if what in ('attribute', 'property') and line.startswith(mark):
            lines[0] = f'{line.removeprefix(mark)}: {lines[0]}'
            del lines[i]
            return


def write_inline(writer, node):
    """Write an equation within a sentence."""
    write_equation(writer, node, 'inline')


def write_block(writer, node):
    """Write an equation that stands by itself."""
    write_equation(writer, node, 'block')


def write_equation(writer, node, display):
    """Write an equation of a page as MathML."""
    from docutils.nodes import SkipNode
    from latex2mathml.converter import convert

    # a thin space around names of functions, which would run into what they stand beside
    name = re.compile(r'(?<=>)<mi>(sin|cos|tan|exp|log|ln|sinh|cosh|tanh)</mi>')
    # latex2mathml knows `split`, which is set alike, and would print the marks of `aligned`
    text = node.astext().replace('{aligned}', '{split}')
    equation = convert(text, display=display)
    writer.body.append(name.sub(rf'{THIN}<mi>\1</mi>{THIN}', equation))
    raise SkipNode


def write_entry(app, exception):
    """Write the page that leads to the first one."""
    if exception is None and app.builder.format == 'html':
        Path(app.outdir, 'index.html').write_text(
            f'<!doctype html><meta http-equiv="refresh" content="0; url={root_doc}.html">\n'
        )
