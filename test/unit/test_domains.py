# SPDX-License-Identifier: Apache-2.0
"""Domains of tests: never two tests in one, whatever runs on the machine."""

from pathlib import Path
import subprocess
import sys

import domains
from programs import Program
import pytest

OTHER = """
import sys
sys.path.insert(0, sys.argv[1])
import domains
domains.NUMBERS = range(200, 210)
print(*(domains.reserve_domain()[0] for _ in range(4)), flush=True)
sys.stdin.read()
"""


def test_nobody_shares_a_domain(monkeypatch):
    """Otherwise tests of two workers hear each other's robots, now and then."""
    monkeypatch.setattr(domains, 'NUMBERS', range(200, 210))  # not those of other tests
    with Program(
        sys.executable, '-c', OTHER, Path(domains.__file__).parent, stdin=subprocess.PIPE
    ) as other:
        theirs = {int(number) for number in other.wait_for('\n').split()}
        mine = [domains.reserve_domain() for _ in range(6)]
        assert theirs | {number for number, _ in mine} == set(domains.NUMBERS)
        with pytest.raises(RuntimeError, match='every ROS domain'):
            domains.reserve_domain()
        other.stdin.close()
        other.wait()
    for _ in theirs:  # whoever held them is gone
        number, give_back = domains.reserve_domain()
        assert number in theirs
        mine.append((number, give_back))
    for _, give_back in mine:
        give_back()
