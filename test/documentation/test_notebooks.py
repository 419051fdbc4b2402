# SPDX-License-Identifier: Apache-2.0
"""The notebooks run, and print what stands in them."""

from pathlib import Path
import re

import pytest

nbformat = pytest.importorskip('nbformat', reason='notebooks need the extra "test"')
nbclient = pytest.importorskip('nbclient', reason='notebooks need the extra "test"')
for module in ('casadi', 'matplotlib', 'mujoco'):
    pytest.importorskip(module, reason=f'notebooks need the package {module}')

NOTEBOOKS = sorted((Path(__file__).parents[2] / 'doc' / 'tutorials').glob('*.ipynb'))
NUMBER = r'-?\d+\.?\d*(?:e-?\d+)?'


def outputs(notebook):
    """Return what each cell printed and showed: text, and how many pictures."""
    for cell in notebook.cells:
        if cell.cell_type == 'code':
            pictures = ['image/svg+xml' in each.get('data', {}) for each in cell.outputs]
            said = ''.join(
                each.get('text', '') or each.get('data', {}).get('text/plain', '')
                for each, picture in zip(cell.outputs, pictures, strict=True)
                if each.get('name') != 'stderr' and not picture
            )
            yield said, sum(pictures)


@pytest.mark.long
@pytest.mark.parametrize('path', NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    """A newcomer would meet an error, or other words and numbers than the notebook shows."""
    shown = nbformat.read(path, as_version=4)
    run = nbformat.reads(nbformat.writes(shown), as_version=4)
    nbclient.NotebookClient(
        run, timeout=400, resources={'metadata': {'path': path.parent}}
    ).execute()
    for (old, pictures), (new, drawn) in zip(outputs(shown), outputs(run), strict=True):
        assert re.sub(NUMBER, '#', new) == re.sub(NUMBER, '#', old) and drawn == pictures
        assert [float(x) for x in re.findall(NUMBER, new)] == pytest.approx(
            [float(x) for x in re.findall(NUMBER, old)], rel=0.1, abs=0.005
        )


def test_notebooks_are_small():
    """Somebody would commit films or tables of megabytes in a notebook."""
    assert len(NOTEBOOKS) == 3
    assert all(path.stat().st_size < 4e5 for path in NOTEBOOKS)
