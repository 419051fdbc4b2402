# SPDX-License-Identifier: Apache-2.0
"""A few of the trials of `outside_robot`; as a program it does all of them."""

from outside_robot import try_out
import pytest


@pytest.mark.long
@pytest.mark.parametrize('trial', ['30 % loss', 'SIGSTOP for 1 s, SIGCONT'])
def test_what_is_promised_happens_to_a_robot_from_outside(bench, trial):
    """A promise that only holds for robots as tidy as our simulator is none."""
    words, kept = try_out(trial)
    assert kept and 'waits' not in words, words
