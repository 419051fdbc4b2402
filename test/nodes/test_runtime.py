# SPDX-License-Identifier: Apache-2.0
"""How a node's process begins and ends."""

import os
from pathlib import Path
import sys

from programs import run
import pytest
import rclpy

from walking_control.nodes.runtime import PROFILES

# says which kinds of shared memory its node has open
SHARED = '''
from pathlib import Path
import rclpy
from walking_control.nodes.runtime import avoid_shared_memory
avoid_shared_memory()
rclpy.init()
node = rclpy.create_node('alone')
print(*{name for name in ('/dev/shm/fastrtps', '/dev/shm/fast_datasharing')
        if name in Path('/proc/self/maps').read_text()})
'''


@pytest.mark.skipif(not Path('/proc/self/maps').is_file(), reason='shared memory is seen in /proc')
@pytest.mark.skipif('fastrtps' not in rclpy.get_rmw_implementation_identifier(),
                    reason='another middleware than Fast DDS')
@pytest.mark.parametrize('discovery', ['LOCALHOST', 'SUBNET'])
def test_nodes_share_no_memory(discovery):
    """What a killed controller leaves there would hold up robot and watchdog."""
    environment = {name: value for name, value in os.environ.items() if name not in PROFILES}
    done = run(sys.executable, '-c', SHARED,
               env={**environment, 'ROS_AUTOMATIC_DISCOVERY_RANGE': discovery})
    assert done.returncode == 0, done.stderr
    assert done.stdout == '\n'
