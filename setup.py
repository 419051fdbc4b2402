# SPDX-License-Identifier: Apache-2.0
"""Package for pip and colcon alike; README.md says which extras serve whom."""

from glob import glob
import gzip
import os
from pathlib import Path
import re
import tarfile
import time

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

package = 'walking_control'
share = f'share/{package}'
# ROS 2 from pip exists as wheels for Linux on x86_64 only; elsewhere ROS 2 itself brings rclpy.
wheels = "; platform_system == 'Linux' and platform_machine == 'x86_64'"
messages = (
    'diagnostic',
    'geometry',
    'lifecycle',
    'nav',
    'sensor',
    'std',
    'trajectory',
    'visualization',
)


class RepeatableSdist(sdist):
    """Make an sdist that has the same bytes of the same sources where SOURCE_DATE_EPOCH is set."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_):
        """Write the archive with one date and no owner; return its path."""
        epoch = int(os.environ.get('SOURCE_DATE_EPOCH', time.time()))

        def plain(member):
            member.mtime, member.uid, member.gid = epoch, 0, 0
            member.uname = member.gname = ''
            return member

        path = f'{base_name}.tar.gz'
        with (
            gzip.GzipFile(path, 'wb', mtime=epoch) as packed,
            tarfile.open(fileobj=packed, mode='w') as tar,
        ):
            tar.add(base_dir, filter=plain)
        return path


setup(
    name=package,
    # package.xml is where the version stands
    version=re.search('<version>(.+)</version>', Path('package.xml').read_text()).group(1),
    description='Controllers that make walking robots walk efficiently and safely with ROS 2',
    license='Apache-2.0',
    python_requires='>=3.10',
    packages=find_packages(include=[package, f'{package}.*']),
    package_data={
        '': ['__init__.pyi'],
        package: ['py.typed'],
        f'{package}.cli': ['templates/*'],
        f'{package}.lab.reports': ['templates/*'],
        f'{package}.ros.ros2_control': ['templates/*'],
        f'{package}.lab.reports.reproduction': ['*.yaml'],
    },
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{package}']),
        (share, ['package.xml', 'LICENSE']),
        (f'{share}/launch', glob('launch/*.launch.py')),
        (f'{share}/config/robots', glob('config/robots/*.yaml')),
        (f'{share}/config/drives', glob('config/drives/*.yaml')),
        (f'{share}/config/comparisons', glob('config/comparisons/*.yaml')),
        (f'{share}/config/noise', glob('config/noise/*.yaml')),
        (f'{share}/config/logs', glob('config/logs/*.yaml')),
        (f'{share}/config/gaits', glob('config/gaits/*.yaml')),
        (f'{share}/config/policies', glob('config/policies/*.yaml')),
        (f'{share}/config/routes', glob('config/routes/*.yaml')),
        (f'{share}/config/teleop', glob('config/teleop/*.yaml')),
        (f'{share}/config/rviz', glob('config/rviz/*.rviz')),
        (f'{share}/config/fastdds', glob('config/fastdds/*.xml')),
        (f'{share}/config/foxglove', glob('config/foxglove/*.json')),
        (f'{share}/config/plotjuggler', glob('config/plotjuggler/*.xml')),
        *((f'{share}/{folder}', glob(f'{folder}/*')) for folder in glob('config/ros2_control/*')),
        (f'{share}/urdf', glob('urdf/*.xacro')),
        # pip ignores install_scripts, so `ros2 run` and `ros2 launch` find these wrappers instead
        (f'lib/{package}', glob('scripts/*')),
    ],
    install_requires=['setuptools', 'Jinja2', 'numpy', 'pin', 'PyYAML', 'scipy', 'xacro'],
    extras_require={
        'ros': [f'ros-jazzy-rclpy[fastrtps]{wheels}', f'ros-jazzy-std-srvs{wheels}']
        + [f'ros-jazzy-{name}-msgs{wheels}' for name in messages],
        'sim': ['mujoco>=3.2'],
        # a second engine with contacts, Gazebo's own; wheels for Linux alone
        'dart': ["dartpy>=6.16; platform_system == 'Linux'"],
        'fast': ['casadi', 'numba'],
        # a solver of quadratic programs (osqp and quadprog serve too), compiled where time counts
        'statics': ['daqp', 'numba'],
        # tables that outlive a kill; processes here or on a cluster, replaced when they die
        'sweep': ['dask', 'distributed', 'pyarrow'],
        'plot': ['matplotlib', 'pillow'],
        # bags (rosbag2, MCAP) without ROS: pure Python, kept up with every distribution
        'record': ['rosbags'],
        # MATLAB 7.3 logs of real robots
        'logs': ['h5py', 'rosbags'],
        # the WebSocket of Foxglove and Lichtblick, by its makers; rosbags describes the messages
        'monitor': ['foxglove-sdk', 'rosbags'],
        # controller policy: learned policies in ONNX
        'policy': ['onnx', 'onnxruntime'],
        # verb tune, examples/tune_compass.py: CMA-ES by its author
        'tune': ['cma'],
        # launch_pytest needs an older pytest than the newest; all solvers and others' robots;
        # hypothesis finds the bad input that nobody thought of, and shrinks it to read;
        # pytest-timeout makes of a test that hangs one that fails
        # nbclient executes the notebooks of doc/tutorials, build makes the files of a release
        'test': [
            'pytest<8.4',
            'pytest-xdist>=3.7',
            'pytest-timeout',
            'hypothesis',
            'osqp',
            'quadprog',
            'rosbags',
            'example-robot-data',
            'foxglove-sdk',
            'websockets',
            'h5py',
            'nbclient',
            'ipykernel',
            'build',
            # writes the networks that controller policy is tested with
            'onnx',
        ],
        # the site of the pages and notebooks, `make site`
        'docs': ['furo', 'latex2mathml', 'myst-nb', 'myst-parser', 'sphinx'],
        # what `make lint` runs
        'lint': ['ruff', 'mypy', 'types-PyYAML'],
    },
    entry_points={'console_scripts': ['walking_control = walking_control.cli:main']},
    zip_safe=True,
    cmdclass={'sdist': RepeatableSdist},
)
