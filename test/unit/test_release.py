# SPDX-License-Identifier: Apache-2.0
"""The files of a release: sdist, wheel, metadata."""

import os
from pathlib import Path
import re
import shutil
import sys
import tarfile
import zipfile

from programs import run
import pytest
import yaml

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns('.*', 'build', 'dist', 'out', '__pycache__', '*.egg-info')
VERSION = re.search('<version>(.+)</version>', (ROOT / 'package.xml').read_text()).group(1)


def build(source, out, *options):
    """Build the files of a release as `make dist` does, with a date that makes them repeatable."""
    built = run(
        sys.executable,
        '-m',
        'build',
        '--no-isolation',
        '--outdir',
        out,
        *options,
        source,
        env={**os.environ, 'SOURCE_DATE_EPOCH': '1700000000'},
        timeout=240.0,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert 'Deprecat' not in built.stderr
    return sorted(out.iterdir())


@pytest.mark.long
def test_sdist_and_wheel(tmp_path):
    """An index would get files that lack a module or a robot, or that nobody can build again."""
    pytest.importorskip('build', reason='needs the extra "test"')
    source = tmp_path / 'source'
    shutil.copytree(ROOT, source, ignore=LEFT_OUT)
    wheel, sdist = build(source, tmp_path / 'both')  # the wheel from the sdist
    with tarfile.open(sdist) as tar:
        kept = {name.partition('/')[2] for name in tar.getnames()}
    assert {'package.xml', 'CITATION.cff', 'doc/index.rst', 'test/conftest.py', 'Makefile'} <= kept
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f'walking_control-{VERSION}.dist-info/METADATA').decode()
    share = f'walking_control-{VERSION}.data/data/share/walking_control/'
    for folder, prefix in (
        ('walking_control', ''),
        ('config', share),
        ('launch', share),
        ('urdf', share),
    ):
        missing = {
            prefix + str(path.relative_to(ROOT))
            for path in (ROOT / folder).rglob('*.*')
            if path.is_file() and '__pycache__' not in path.parts and path.suffix != '.md'
        } - names
        assert not missing
    for line in (f'Version: {VERSION}', 'License: Apache-2.0', 'Provides-Extra: sim'):
        assert f'\n{line}\n' in metadata
    for first, again in zip((wheel, sdist), build(source, tmp_path / 'again'), strict=True):
        assert again.read_bytes() == first.read_bytes(), first.name


def test_every_template_is_installed():
    """A robot's files could be written from a checkout alone."""
    told = (ROOT / 'setup.py').read_text()
    for folder in (ROOT / 'walking_control').rglob('templates'):
        package = '.'.join(folder.parent.relative_to(ROOT / 'walking_control').parts)
        assert f"f'{{package}}.{package}': ['templates/*']" in told, folder


def test_citation():
    """Somebody would cite a version or a licence that the package does not have."""
    told = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert (told['title'], told['version'], told['license']) == (
        'walking_control',
        VERSION,
        'Apache-2.0',
    )
    assert told['authors'][0]['email'] in (ROOT / 'package.xml').read_text()
    assert told['authors'][0]['email'] in (ROOT / 'pyproject.toml').read_text()
