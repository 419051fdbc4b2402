# SPDX-License-Identifier: Apache-2.0
"""The atlas of walking robots: where Goswami's compass doubles its period, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

from walking_control.cli import main
from walking_control.lab.experiments import atlas
from walking_control.lab.experiments.atlas import find_atlas
from walking_control.lab.experiments.cycles import make_section
from walking_control.loading import load_robot
from walking_control.search import continuation
from walking_control.search.return_map import judge, polish

pytest.importorskip('casadi')
pytest.importorskip('numba')
GOSWAMI = ('leg_mass', 5.0), ('hip_mass', 10.0)
EXAMPLES = Path(__file__).parents[2] / 'examples'


def compass(slope):
    """Return the compass of Goswami et al. on a slope in rad."""
    return load_robot('compass', [*GOSWAMI, ('slope', slope)])


@pytest.fixture(autouse=True)
def few_cycles(monkeypatch):
    """Take larger steps than a picture wants, from one place."""
    monkeypatch.setattr(continuation, 'LARGEST', 0.15)
    monkeypatch.setattr(atlas, 'PLACES', (0.4,))


@pytest.mark.long
def test_goswami_compass_doubles_its_period_where_walks_and_eigenvalues_say_so():
    """If it failed, the first bifurcation of [GTE98] would be off by a thousandth of a degree."""
    low, high = np.radians([4.36, 4.46])
    found = find_atlas(compass, 'slope', (low, high), strides=2)
    single, double = (
        branch['cycles']
        for branch in found['branches']
        if any(cycle['stable'] for cycle in branch['cycles'])
    )
    (doubling,) = (cycle['value'] for cycle in single if cycle['event'])
    # eigenvalues along cycles of given slopes, without any continuation
    x = [np.array([0.3, -1.07, 0.72])]

    def beyond(slope):
        section, _ = make_section(compass(slope), 'none')
        x.append(polish(section.stride, x[-1]))
        return judge(section.stride, x[-1]).eigenvalues.real.min() + 1.0

    assert np.degrees(doubling) == pytest.approx(np.degrees(brentq(beyond, low, high)), abs=1e-5)
    # steps of walks that have settled differ by the root of how far the slope is above it
    section, _ = make_section(compass(high), 'none')
    x, lengths = x[-1], []
    for _ in range(300):
        stride = section.stride(x)
        x = stride.x
        lengths.append(stride.length)
    assert sorted(lengths[-2:]) == pytest.approx(sorted(double[-1]['step_lengths']), abs=1e-6)
    assert lengths[-3] == pytest.approx(lengths[-1], abs=1e-6)
    root = [np.ptp(cycle['step_lengths']) ** 2 for cycle in double]
    values = [cycle['value'] for cycle in double]
    nearest = np.polyfit(root[1:3], values[1:3], 1)[1]
    assert np.degrees(nearest) == pytest.approx(np.degrees(doubling), abs=2e-3)


@pytest.mark.long
def test_damping_at_the_hip_joins_the_two_gaits_of_the_compass():
    """If it failed, the end of both gaits would be reported as a fall, or somewhere else."""
    found = find_atlas(
        lambda damping: load_robot('compass', damping=damping), 'damping', (0.05, 0.055), strides=1
    )
    branch = found['branches'][0]
    (fold,) = (cycle for cycle in branch['cycles'] if cycle['event'])
    assert fold['event'] == 'fold' and fold['value'] == pytest.approx(0.0530025, abs=1e-6)
    assert fold['eigenvalues'][0] == pytest.approx(1.0, abs=1e-5)
    ends = [branch['cycles'][i] for i in (0, -1)]
    assert sorted(cycle['stable'] for cycle in ends) == [False, True]
    assert [cycle['value'] for cycle in ends] == [0.05, 0.05]


@pytest.mark.long
def test_the_verb_draws_and_writes_what_it_finds(capsys, tmp_path):
    """If it failed, nobody could look at an atlas, or read it by a program."""
    assert (
        main(
            [
                'gait',
                'atlas',
                'compass',
                '--over',
                'slope=0.0763:0.077',
                '--set',
                'leg_mass=5.0',
                '--set',
                'hip_mass=10.0',
                '--strides',
                '2',
                '--out',
                str(tmp_path),
            ]
        )
        == 0
    )
    assert 'period doubling at 0.0766356' in capsys.readouterr().out
    assert (tmp_path / 'atlas.png').stat().st_size > 10_000
    document = json.loads((tmp_path / 'atlas.json').read_text())
    assert document['coordinates'] == ['q3', 'q4']
    assert sorted(branch['strides'] for branch in document['branches']) == [1, 1, 2]


@pytest.mark.parametrize(
    'arguments, said',
    [
        pytest.param(
            ['slope=-0.1:-0.05'], 'limit cycle of compass: none found at', marks=pytest.mark.long
        ),
        (['slpe=0.02:0.1'], 'parameter slpe: unknown'),
        (['slope=0.1:0.02'], 'must rise'),
        pytest.param(['leg_length=-1.0:1.0'], 'leg length', marks=pytest.mark.long),
        (['slope=0.02:0.1', '--plant', 'mujoco'], 'plant rigid'),
    ],
)
def test_bad_input_gets_one_line(capsys, tmp_path, arguments, said):
    """If it failed, a range without a cycle or an unknown parameter would end in a trace."""
    out = tmp_path / 'out'
    assert main(['gait', 'atlas', 'compass', '--out', str(out), '--over', *arguments]) in (1, 2)
    error = capsys.readouterr().err
    assert error.startswith('error: ') and said in error and error.count('\n') == 1
    assert not out.exists()


@pytest.mark.long
def test_robots_of_more_angles_are_followed_from_their_gait():
    """If it failed, five links on four motors could not be continued in slope."""
    from walking_control.gaits.gait_file import load_gait

    gait = str(EXAMPLES / 'rabbit_gait.yaml')
    q, v = load_gait(gait, load_robot(EXAMPLES / 'rabbit.yaml')).start

    def rabbit(slope):
        return load_robot(
            EXAMPLES / 'rabbit.yaml',
            [
                ('curve_tracking.gait', gait),
                ('slope', slope),
                ('start.q', q.tolist()),
                ('start.v', v.tolist()),
            ],
        )

    section, _ = make_section(rabbit(0.0), None)
    start = section.sample(np.random.default_rng(0), 1)[0]
    assert section.state(start)[0] == pytest.approx(q, abs=1e-9)
    x = polish(section.stride, start)
    assert abs(judge(section.stride, x).eigenvalues[0]) == pytest.approx(0.566, abs=0.01)
    moved, _ = section.state(x + 0.01)
    terms = section.walker.support.layout.split(section.walker.support.terms(0, moved, 0 * moved))
    assert terms['foot'][1] == pytest.approx(0.0, abs=1e-12)
