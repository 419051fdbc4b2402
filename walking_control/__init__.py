# SPDX-License-Identifier: Apache-2.0
"""Efficient and safe walking for ROS 2 robots.

What most people need is here by name and is imported on first use::

    import walking_control as wc

    robot = wc.load_robot('dribbel', set_point=0.35)
    run = wc.simulate(robot, duration=20.0)
    print(run.summary().speed)   # m/s
"""

from importlib import import_module
from importlib.machinery import ModuleSpec
import sys

# name -> module that defines it, and its name there where that is another
_PUBLIC = {
    'load_robot': 'loading',
    'RobotFile': 'models.robot_file',
    'Robot': 'models.robot',
    'Start': 'models.robot',
    'Measurement': 'models.signals',
    'WalkerState': 'models.signals',
    'Command': 'models.signals',
    'Reference': 'models.signals',
    'Controller': 'controllers.controller',
    'ArrayLaw': 'controllers.controller',
    'choose': 'models.registry',
    'make_controller': 'controllers.registry',
    'find_controllers': 'controllers.registry:fitting_controllers',
    'LawParameters': 'controllers.parameters',
    'ControlLoop': 'control_loop',
    'Plant': 'simulation.plant',
    'Engine': 'simulation.engine',
    'make_plant': 'simulation.registry',
    'simulate': 'simulation.simulate',
    'Walk': 'simulation.simulate',
    'Run': 'runs.run',
    'summarize': 'runs.metrics',
    'Summary': 'runs.metrics',
    'write_report': 'lab.reports.report',
    'plot_run': 'lab.reports.report',
    'read_route': 'runs.route',
    'Route': 'runs.route',
    'Estimator': 'estimation.estimator',
    'make_estimator': 'estimation.estimator',
    'Parameters': 'models.parameters',
    'parameter': 'models.parameters',
    'find_first_failure': 'lab.experiments.robustness',
    'find_cycles': 'lab.experiments.cycles:find_robot_cycles',
    'search_gait': 'lab.experiments.gait_search:find_gait',
    'StaticTorque': 'statics.distributor',
    'Dynamics': 'models.dynamics',
    'bare_robot': 'models.dynamics',
    'adopt': 'lab.adoption.adopt',
    'Told': 'lab.adoption.guess',
    'bring_up': 'lab.experiments.bring_up.run',
    'Site': 'lab.experiments.bring_up.step',
    'load_urdf': 'models.urdf',
    'Contact': 'statics.contacts',
    'WalkingControlError': 'exceptions',
    'InvalidInput': 'exceptions',
}
_RENAMED = {'robustness': 'find_first_failure'}   # the old name serves for one release
# room -> where it is now; the old names of its modules serve for one release, too
_MOVED = {**dict.fromkeys(('nodes', 'ros2_control', 'recording', 'launch_arguments'), 'ros'),
          **dict.fromkeys(('experiments', 'reports', 'adoption'), 'lab')}
__all__ = [*_PUBLIC, '__version__']


def _version():
    """Return the version of the package, which stands in package.xml alone."""
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path
    import re
    try:
        return version(__name__)
    except PackageNotFoundError:   # a source checkout that is not installed
        xml = Path(__file__).resolve().parents[1] / 'package.xml'
        return re.search('<version>(.+)</version>', xml.read_text(encoding='utf-8')).group(1)


class _Moved:
    """Imports by their old names the modules that have moved, and says the new ones."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        package, _, rest = name.partition('.')
        if package == __name__ and rest.partition('.')[0] in _MOVED:
            return ModuleSpec(name, cls)
        return None

    @staticmethod
    def create_module(spec):
        return None

    @staticmethod
    def exec_module(module):
        from warnings import warn
        old = module.__name__
        rest = old.partition('.')[2]
        new = f'{__name__}.{_MOVED[rest.partition(".")[0]]}.{rest}'
        warn(f'{old} is now {new}', DeprecationWarning, stacklevel=2)
        sys.modules[old] = import_module(new)


sys.meta_path.insert(0, _Moved)   # before what would find a second copy


def __getattr__(name):
    """Import a public name on first use."""
    if name == '__version__':
        value = _version()
    elif name in _RENAMED:
        from warnings import warn
        warn(f'{__name__}.{name} is now {_RENAMED[name]}', DeprecationWarning, stacklevel=2)
        return __getattr__(_RENAMED[name])
    elif name in _PUBLIC:
        module, _, other = _PUBLIC[name].partition(':')
        value = getattr(import_module(f'{__name__}.{module}'), other or name)
    else:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    globals()[name] = value
    return value


def __dir__():
    """Name what is here, imported or not."""
    return sorted({*globals(), *__all__})
