# SPDX-License-Identifier: Apache-2.0
"""The pages say what the code does."""

import inspect
from pathlib import Path
import re

import generate
import pytest

import walking_control

ROOT = Path(__file__).parents[2]


def test_generated_pages_are_up_to_date():
    """A page that lags behind the tables sends users after parameters that do not exist."""
    for name, page in generate.PAGES.items():
        assert (ROOT / 'doc' / name).read_text(encoding='utf-8') == page(), (
            f'doc/{name} is out of date: run python doc/generate.py'
        )


def test_a_page_and_a_file_say_the_same_of_leaving_a_gait():
    """Whoever tunes by the page would begin at another number than the robot's."""
    page = (ROOT / 'doc/controllers/natural_walking_derivation.md').read_text(encoding='utf-8')
    file = (ROOT / 'config/robots/walker3d.yaml').read_text(encoding='utf-8')
    for name in ('leaving', 'leaving_sideways'):
        told = re.search(rf'`{name}` \((\d+) cm\)', page)
        kept = re.search(rf'\b{name}: ([0-9.]+)', file)
        assert float(told[1]) == pytest.approx(100.0 * float(kept[1])), name


def test_what_is_set_to_minus_one_has_its_name():
    """`it` was read as `state_timeout`: a robot would never be stopped by silence."""
    page = (ROOT / 'doc/safety.md').read_text(encoding='utf-8')
    assert re.findall(r'`([a-z_.]+)` to -1', page) == ['kernel.sched_rt_runtime_us']


@pytest.mark.parametrize(
    'page',
    [ROOT / 'README.md', *sorted((ROOT / 'doc').rglob('*.md'))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_lead_somewhere(page):
    """A dead link strands the reader."""
    for target in re.findall(r'\]\(([^)#]+)', page.read_text(encoding='utf-8')):
        if '://' not in target:
            assert (page.parent / target).exists(), f'{page.name} links to {target}'


def test_the_library_is_documented():
    """A public name would stand nowhere on the site, or one that is gone break its build."""
    page = (ROOT / 'doc' / 'library.rst').read_text(encoding='utf-8')
    listed = re.findall(r'^\.\. auto(?:class|function):: (\w+)$', page, re.M)
    assert sorted(listed) == sorted(set(walking_control.__all__) - {'__version__'})


@pytest.mark.parametrize(
    'page',
    [
        page
        for page in sorted((ROOT / 'doc' / 'controllers').glob('*.md'))
        if not page.stem.endswith(('_evidence', '_derivation'))
    ],
    ids=lambda page: page.stem,
)
def test_pages_of_laws_have_one_order(page):
    """Who knows the page of one law would look for the same thing elsewhere on the next."""
    headings = re.findall(r'^## (.*)$', page.read_text(encoding='utf-8'), re.M)
    order = 'The idea, Try it, Interfaces, Tuning by symptom, What it does, What limits it'.split(
        ', '
    )
    assert [each for each in headings if each in order] == order


def test_help_names_every_argument():
    """`help()` of a public name would leave what it takes to guessing."""
    for name in set(walking_control.__all__) - {'__version__'}:
        thing = getattr(walking_control, name)
        text = inspect.getdoc(thing) or ''
        assert len(text.split()) > 7, name
        if name == 'Summary':  # made by `summarize`, whose text says each field
            continue
        for argument, kind in inspect.signature(thing).parameters.items():
            if kind.kind is not kind.VAR_POSITIONAL and not is_error(thing):
                assert re.search(rf'(^ *\**|`|, ){argument}(, \w+)*[`:]', text, re.M), (
                    f'help(walking_control.{name}) does not say what {argument} is'
                )


def is_error(thing):
    """Return whether it is an error of this package, whose arguments the base class tells."""
    return inspect.isclass(thing) and issubclass(thing, walking_control.WalkingControlError)


def test_citations_are_resolved():
    """A key such as [DS09] must say where to read on."""
    known = set(
        re.findall(r'^- \*\*\[(\w+)\]\*\*', (ROOT / 'doc' / 'references.md').read_text(), re.M)
    )
    used = set()
    for path in [
        *(ROOT / 'walking_control').rglob('*.py'),
        *(ROOT / 'doc').rglob('*.md'),
        *(ROOT / 'config').rglob('*.yaml'),
        *(ROOT / 'urdf').rglob('*.xacro'),
    ]:
        used |= set(re.findall(r'\[([A-Z][A-Za-z]*\d\d[a-z]?)\]', path.read_text()))
    assert used <= known
