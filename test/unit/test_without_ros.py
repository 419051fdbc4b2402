# SPDX-License-Identifier: Apache-2.0
"""The core works on a machine without ROS."""

import json
import sys

from programs import run
import pytest

# An import of anything ROS fails in a Python that begins like this.
NO_ROS = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in {'rclpy', 'std_msgs', 'sensor_msgs', 'rcl_interfaces'}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from walking_control.cli import main
sys.exit(main(sys.argv[1:]))
"""


def run_without_ros(*arguments):
    """Run the command line in a Python without ROS."""
    return run(sys.executable, '-c', NO_ROS, *arguments, timeout=120.0)


@pytest.mark.long
def test_simulate_without_ros():
    """People at a desk have no ROS: the same walk must come out."""
    pytest.importorskip('mujoco', reason='plant mujoco needs the package mujoco')
    done = run_without_ros('simulate', 'dribbel', '--plant', 'mujoco', '--duration', '3', '--json')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['steps'] > 3


def test_demo_without_ros_says_what_is_missing():
    """A stack trace about rclpy would not tell the user what to install."""
    done = run_without_ros('demo', 'dribbel')
    assert done.returncode == 2 and done.stderr.count('\n') == 1
    assert 'needs ROS 2' in done.stderr and 'walking_control simulate' in done.stderr
