# SPDX-License-Identifier: Apache-2.0
"""Efficient and safe walking for ROS 2 robots.

What most people need is here by name and is imported on first use::

    import walking_control as wc

    robot = wc.load_robot('dribbel', set_point=0.35)
    run = wc.simulate(robot, duration=20.0)
    print(run.summary().speed)   # m/s
"""

from walking_control.door import open_door

# module -> the names in it, each with the name it has there where that is another
_PUBLIC, __all__, _offered = open_door(
    __name__,
    {
        'loading': 'load_robot',
        'models.robot_file': 'RobotFile',
        'models.robot': 'Robot Start',
        'models.signals': 'Measurement WalkerState Command Reference',
        'controllers.controller': 'Controller ArrayLaw',
        'models.registry': 'choose',
        'controllers.registry': 'make_controller find_controllers=fitting_controllers',
        'controllers.parameters': 'LawParameters',
        'controllers.hip_switching': 'find_hip',
        'controllers.knee_locks': 'KneeLocks',
        'models.array_functions': 'array_function',
        'control_loop': 'ControlLoop',
        'simulation.plant': 'Plant',
        'simulation.engine': 'Engine',
        'simulation.registry': 'make_plant',
        'simulation.simulate': 'simulate Walk',
        'runs.run': 'Run',
        'runs.metrics': 'summarize Summary',
        'lab.reports.report': 'write_report plot_run',
        'runs.route': 'read_route Route',
        'estimation.estimator': 'Estimator make_estimator',
        'models.parameters': 'Parameters parameter',
        'lab.experiments.robustness': 'find_first_failure',
        'lab.experiments.cycles': 'find_cycles=find_robot_cycles',
        'lab.experiments.gait_search': 'search_gait=find_gait',
        'statics.distributor': 'StaticTorque',
        'models.dynamics': 'Dynamics bare_robot',
        'lab.adoption.adopt': 'adopt',
        'lab.adoption.guess': 'Told',
        'lab.experiments.bring_up.run': 'bring_up',
        'lab.experiments.bring_up.step': 'Site',
        'models.urdf': 'load_urdf',
        'statics.contacts': 'Contact',
        'exceptions': 'WalkingControlError InvalidInput',
    },
)
__all__ += ['__version__']


def _version():
    """Return the version of the package, which stands in package.xml alone."""
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path
    import re

    try:
        return version(__name__)
    except PackageNotFoundError:  # a source checkout that is not installed
        xml = Path(__file__).resolve().parents[1] / 'package.xml'
        return re.search('<version>(.+)</version>', xml.read_text(encoding='utf-8')).group(1)


def __getattr__(name):
    """Import a public name on first use."""
    if name != '__version__':
        return _offered(name)
    value = globals()[name] = _version()
    return value


def __dir__():
    """Name what is here, imported or not."""
    return sorted({*globals(), *__all__})
