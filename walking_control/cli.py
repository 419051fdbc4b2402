# SPDX-License-Identifier: Apache-2.0
"""The command line: thin verbs over the rooms; see `walking_control <verb> --help`."""

import argparse
import json
import math
import os
from pathlib import Path
import re
import sys

import yaml

from walking_control import __version__
from walking_control.exceptions import (
    InvalidInput, MissingDependency, WalkingControlError)

EXAMPLES = {
    'demo': 'walking_control demo dribbel --duration 60 --out out/demo',
    'simulate': 'walking_control simulate dribbel --duration 60 --set set_point=0.35 --json',
    'search': 'walking_control gait search compass --speed 0.8 --out out/gait',
    'cycle': 'walking_control gait cycle compass --slope-deg 3 --json',
    'impact': 'walking_control gait impact compass --q -0.25,0.5',
    'robustness': 'walking_control robustness compass --disturbance step_down --resolution 0.0005',
    'compare': 'walking_control compare compass --disturb step_down=0.05@6 --out out/compare',
    'statics': 'walking_control statics humanoid --support both --out out/statics',
    'check': 'walking_control check my_robot.yaml',
}


def main(arguments=None):
    """Run the command line and return the exit status: 0 done, 1 not achieved, 2 bad input."""
    options = _parser().parse_args(arguments)
    try:
        status = options.run(options)
        sys.stdout.flush()
        return status
    except BrokenPipeError:   # the reader, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except WalkingControlError as error:
        print(f'error: {error}', file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print('interrupted', file=sys.stderr)
        return 130


# -- verbs ----------------------------------------------------------------------------------------

def demo(options):
    """Walk a robot over ROS 2 topics."""
    try:
        from walking_control.nodes.demo import run_demo
    except ImportError as error:
        raise MissingDependency('demo', limit=f'needs ROS 2 ({error})',
                                remedy='source a ROS 2 installation or pip install '
                                '"walking_control[ros]"; without ROS: walking_control simulate'
                                ) from error
    robot_file = _load(options)
    result = run_demo(robot_file, options.controller, options.plant, options.duration,
                      options.realtime, options.processes, options.disturb,
                      _progress(options.duration))
    simulated = len(result.run.time) and float(result.run.time[-1])
    extra = {'transport': 'ros2', 'rmw': result.rmw, 'ticks': result.ticks,
             'missed_ticks': result.missed_ticks,
             'real_time_factor': simulated / result.wall_time if result.wall_time else None}
    return _report_run(result.run, options, extra)


def simulate(options):
    """Walk a robot by the same chain without ROS."""
    from walking_control.control_loop import ControlLoop
    from walking_control.simulation.disturbance import plan_disturbances
    from walking_control.simulation.registry import make_plant
    from walking_control.simulation.simulate import simulate as run_simulation
    robot_file = _load(options)
    plant = make_plant(robot_file, options.plant)
    plan_disturbances(plant, options.disturb)
    loop = ControlLoop(robot_file, options.controller)
    run = run_simulation(plant, loop, robot_file.start, options.duration,
                         progress=_progress(options.duration))
    return _report_run(run, options, {})


def search(options):
    """Find the gait that takes the least torque."""
    from walking_control.experiments.gait_search import find_gait, save_gait
    robot_file = _load(options)
    names = ('speed', 'degree', 'nodes', 'clearance', 'landing_speed', 'starts', 'quadrature')
    task = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    show = None if options.quiet else lambda text: print(text, file=sys.stderr, flush=True)
    if options.speeds is not None:
        return _search_speeds(options, robot_file, task, show)
    found = find_gait(robot_file, task, options.optimise, options.seed, progress=show)
    result = found.summary
    result['files'] = []
    if options.out is not None:
        from walking_control.experiments.plots_search import search_figures
        result['files'] = [str(save_gait(found, options.out)),
                           *_save_figures(options.out, search_figures(found))]
    if options.json:
        _print_json(result)
    else:
        _print_summary({name: value for name, value in result.items() if name != 'attempts'})
    if result['reason'] is not None:
        print(f'error: no gait of {robot_file.robot.name}: {result["reason"]}', file=sys.stderr)
        return 1
    return 0


def _search_speeds(options, robot_file, task, show):
    """Search at several speeds, fixed mechanics beside adapted ones; draw Fig. 5.2."""
    from walking_control.experiments.gait_search import sweep_speed
    kinds = {'fixed mechanics': (), **({', '.join(options.optimise): options.optimise}
                                       if options.optimise else {})}
    curves = {name: sweep_speed(robot_file, options.speeds, task, kind, options.seed, show)
              for name, kind in kinds.items()}
    result = {'curves': curves, 'files': []}
    if options.out is not None:
        from walking_control.experiments.plots_search import plot_cost_over_speed
        result['files'] = _save_figures(options.out,
                                        {'cost_over_speed': plot_cost_over_speed(curves)})
    rows = [(name, row) for name, rows in curves.items() for row in rows]
    if options.json:
        _print_json(result)
    else:
        for name, row in rows:
            adapted = ', '.join(f'{key.rpartition(".")[2]} {value:.4g}'
                                for key, value in row['parameters'].items())
            print(f'{name}: {row["speed"]:.3g} m/s, cost {row["cost"]:.4g} {adapted}')
        _print_files(result)
    failed = [row['reason'] for _, row in rows if row['reason'] is not None]
    for reason in failed:
        print(f'error: {reason}', file=sys.stderr)
    return 1 if failed else 0


def cycle(options):
    """Find limit cycles on the return map of the rigid plant."""
    from walking_control.experiments.cycles import find_robot_cycles, walk_cycle
    _only_rigid(options)
    robot_file = _load(options)
    result = find_robot_cycles(robot_file, options.controller, options.seed)
    result['files'] = []
    if options.out is not None:
        from walking_control.experiments import plots, plots_gait
        for i, found in enumerate(result['cycles']):
            run = walk_cycle(robot_file, found, options.controller)
            result['files'] += _save_figures(options.out, {
                f'cycle_{i}_phase_portrait': plots.plot_phase_portrait(run),
                f'cycle_{i}_stick_figure': plots.plot_stick_figure(run),
                f'cycle_{i}_energy': plots_gait.plot_energy(run)})
    if options.json:
        _print_json(result)
        return 0
    for found in result['cycles']:
        values = ', '.join(f'{value:.4g}' for value in found['eigenvalues'])
        print(f'{"stable" if found["stable"] else "unstable"}: period {found["period"]:.6g} s, '
              f'step {found["step_length"]:.6g} m, speed {found["speed"]:.6g} m/s')
        for name in ('q', 'v'):
            print(f'  {name} = [' + ', '.join(f'{value:.9g}' for value in found[name]) + ']')
        print(f'  eigenvalues {values}; residual {found["residual"]:.1e}')
    _print_files(result)
    return 0


def impact(options):
    """Analyse the impact map and energy loss at touchdown."""
    from walking_control.experiments.impact import analyse_impact
    robot_file = _load(options)
    result = {**analyse_impact(robot_file, options.q, options.v), 'files': []}
    if options.out is not None:
        from walking_control.experiments import plots_gait
        figures = {'impact_losses': plots_gait.plot_impact_losses(robot_file, result['q'][-1])}
        if robot_file.robot.name == 'compass':
            figures['mass_ratio'] = plots_gait.plot_losses_over_mass_ratio(options.robot,
                                                                           options.set)
        result['files'] = _save_figures(options.out, figures)
    if options.json:
        _print_json(result)
        return 0
    for share, direction in zip(result['singular_values'], result['principal_directions'],
                                strict=True):
        rates = ', '.join(f'{value:.4g}' for value in direction)
        print(f'loses {100 * share:.4g} % of the energy at rates ({rates}) '
              f'of {", ".join(result["coordinates"])}')
    print('support passes ' + ('at once' if result['instantaneous'] else 'through double support'))
    _print_files(result)
    return 0


def robustness(options):
    """Find the first one-off disturbance that fells the walker."""
    from walking_control.experiments.robustness import find_first_failure
    _only_rigid(options)
    result = find_first_failure(_load(options), options.disturbance, options.controller, 'rigid',
                                options.max, options.resolution)
    result['files'] = []
    if options.out is not None:
        from walking_control.experiments import plots_gait
        result['files'] = _save_figures(
            options.out, {'robustness': plots_gait.plot_robustness(result)})
    if options.json:
        _print_json(result)
        return 0
    _print_summary({name: value for name, value in result.items() if name != 'samples'})
    return 0


def compare(options):
    """Walk several controllers under one disturbance and set them side by side."""
    from walking_control.experiments import comparison
    from walking_control.experiments import comparison_page as pages
    robot = _load(options).robot.name
    variants = comparison.read_variants(options.variants or comparison.variants_path(robot))
    disturb = options.disturb or [comparison.DISTURBANCE]
    slope = [] if options.slope_deg is None else [('world.slope', math.radians(options.slope_deg))]
    walks = comparison.compare(
        options.robot, variants, disturb, options.duration, [*options.set, *slope],
        options.robustness, lambda text: print(text, file=sys.stderr, flush=True))
    result = pages.summarize_comparison(walks, robot, disturb, options.duration)
    if options.out is not None:
        result['files'] = pages.write_comparison(walks, result, options.out)
    if options.json:
        _print_json(result)
        return 0
    print('\n'.join(pages.format_comparison(result)))
    _print_files(result)
    return 0


def _only_rigid(options):
    if options.plant not in (None, 'rigid'):
        raise InvalidInput('plant', value=options.plant, limit='this verb runs on plant rigid')


def _save_figures(directory, figures):
    from walking_control.experiments.style import save
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f'directory {directory}', limit=f'cannot be made: {error}') from error
    for name, figure in figures.items():
        save(figure, directory / f'{name}.png')
    return [str(directory / f'{name}.png') for name in figures]


def _print_files(result):
    for file in result['files']:
        print(f'wrote {file}')


def statics(options):
    """Find the joint torques that hold a robot still on one or two legs."""
    from walking_control.experiments.statics import Posture, solve_statics
    posture = Posture(options.robot, options.left, options.right, options.q, options.friction,
                      options.foot_size, options.set)
    result = solve_statics(posture, options.support, options.objective, options.solver,
                           out=options.out)
    if options.json:
        _print_json(result)
    else:
        _print_statics(result)
    if result['status'] != 'feasible':
        print(f'error: {posture.name} cannot be held: {result["reason"]}', file=sys.stderr)
        return 1
    return 0


def check(options):
    """Say whether a robot can be used."""
    from walking_control.experiments.check import check_robot
    result = check_robot(options.robot, options.set)
    if options.json:
        _print_json(result)
    else:
        for name, value in result['facts'].items():
            print(f'{name:>16}: {", ".join(value) if isinstance(value, list) else value}')
        for sentence in result['assumptions']:
            print(f'         assumed: {sentence}')
        for problem in result['problems']:
            print(f'         problem: {InvalidInput(**problem)}')
        print('usable' if result['ok'] else 'not usable')
    return 0 if result['ok'] else 2


# -- shared ---------------------------------------------------------------------------------------

def _load(options):
    if options.out is not None:   # better now than after a long run
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f'folder {options.out}', limit=f'cannot be made: {error.strerror}',
                               remedy='choose another --out') from error
    from walking_control.models.robot_file import load_robot_file
    from walking_control.simulation.registry import parameter_tables
    overrides = list(options.set)
    if options.slope_deg is not None:
        overrides.append(('world.slope', math.radians(options.slope_deg)))
    return load_robot_file(options.robot, overrides, parameter_tables())


def _report_run(run, options, extra):
    from walking_control.experiments.metrics import summarize
    summary = {**summarize(run), **extra, 'files': []}
    if options.out is not None:
        from walking_control.experiments.report import write_report
        summary['files'] = [str(file) for file in write_report(run, summary, options.out)]
    if options.json:
        _print_json(summary)
    else:
        _print_summary(summary)
    if run.fell:
        print(f'error: {run.robot.name} fell: {run.fall_reason}', file=sys.stderr)
        return 1
    return 0


def _print_summary(summary):
    rows = [(name, value) for name, value in summary.items()
            if name != 'files' and not isinstance(value, dict)]
    for group, values in summary.items():
        if isinstance(values, dict):
            rows += [(f'{group} {name}', value) for name, value in values.items()]
    rows += [('wrote', file) for file in summary['files']]
    for name, value in rows:
        if value is not None:
            print(f'{name.replace("_", " "):>36}: {_text(value)}')


def _text(value):
    """Return a value of a summary as people read it, a range or group in one line."""
    if isinstance(value, dict):
        return ', '.join(f'{name.replace("_", " ")} {_text(item)}' for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return ' to '.join(_text(item) for item in value)
    return f'{value:.4g}' if isinstance(value, float) else str(value)


def _print_statics(result):
    for joint, torque in (result['joint_torques'] or {}).items():
        print(f'{joint:>36}: {torque:10.4f} N m')
    for side, wrench in result['wrenches'].items():
        if wrench:
            print(f'{side + " sole":>36}: '
                  + '  '.join(f'{name} {value:.4g}' for name, value in wrench.items()))
    for name in ('cop', 'margins', 'torque_norm', 'base_residual', 'solver', 'solve_time',
                 'files'):
        if result[name]:
            print(f'{name.replace("_", " "):>36}: {_plain(result[name])}')
    for problem in result['problems']:
        print(f'{"problem":>36}: {InvalidInput(**problem)}')


def _print_json(result):
    print(json.dumps(_plain(result), allow_nan=False, indent=2))


def _plain(value):
    """Return the value in JSON's types: complex as [re, im], unknown as null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, 'tolist'):
        return _plain(value.tolist())
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _progress(duration):
    """Return a callable that shows the simulated time on a terminal, or None."""
    if not sys.stderr.isatty():
        return None

    def show(time):
        end = '\n' if time >= duration - 1.0 else ''
        print(f'\rsimulated {time:6.1f} of {duration:g} s', end=end, file=sys.stderr, flush=True)
    return show


# -- arguments ------------------------------------------------------------------------------------

class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def __init__(self, **kwargs):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)
        # a list that begins with a negative number is a value, not an option
        self._negative_number_matcher = re.compile(r'^-[0-9.][0-9.,eE+-]*$')

    def error(self, message):
        self.exit(2, f'error: {message}; see {self.prog} --help\n')


def _parser():
    parser = _Parser(
        prog='walking_control', description='Make a walking robot walk.',
        epilog='Exit status: 0 done; 1 it did not happen (a fall), with the reason; 2 bad input.')
    parser.add_argument('--version', action='version', version=__version__)
    verbs = parser.add_subparsers(dest='verb', required=True, metavar='VERB')
    walk = _walk_arguments()
    verb = _add_verb(verbs, demo, [walk])
    verb.add_argument('robot', nargs='?', default='dribbel', help=_ROBOT_HELP)
    verb.add_argument('--realtime', action='store_true',
                      help='step by the clock instead of in lockstep')
    _add_disturbances(verb)
    verb.add_argument('--processes', type=int, choices=(1, 2), default=1,
                      help='2: the controller in a process of its own')
    verb = _add_verb(verbs, simulate, [walk])
    verb.add_argument('robot', help=_ROBOT_HELP)
    _add_disturbances(verb)
    gait = verbs.add_parser('gait', help='Find and judge gaits.').add_subparsers(
        dest='gait_verb', required=True, metavar='VERB')
    _add_search_arguments(_add_verb(gait, search, [_common_arguments()]))
    verb = _add_verb(gait, cycle, [walk])
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb = _add_verb(gait, impact, [walk])
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--q', type=_numbers, required=True, metavar='A,B[,C]',
                      help='coordinates at touchdown in rad')
    verb.add_argument('--v', type=_numbers, metavar='A,B',
                      help='rates before touchdown in rad/s (default: the least lossy direction)')
    verb = _add_verb(verbs, robustness, [walk])
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--disturbance', required=True, metavar='KIND',
                      help='step_down, step_up, push or slope_change')
    verb.add_argument('--max', type=_positive, metavar='M', help='largest size tried')
    verb.add_argument('--resolution', type=_positive, metavar='R', help='distance between sizes')
    verb = _add_verb(verbs, compare, [_common_arguments()])
    verb.add_argument('robot', help=_ROBOT_HELP)
    _add_disturbances(verb)
    verb.add_argument('--duration', type=_positive, default=12.0, metavar='S',
                      help='simulated time in s (default: 12)')
    verb.add_argument('--slope-deg', type=_finite, metavar='D', help='downhill positive')
    verb.add_argument('--variants', type=Path, metavar='FILE', help='list of name, controller, '
                      'settings (default: config/comparisons/ROBOT.yaml)')
    verb.add_argument('--robustness', action='store_true',
                      help='look for the first failing size of the disturbance too (minutes)')
    verb = _add_verb(verbs, check, [_common_arguments()])
    verb.add_argument('robot', help=_ROBOT_HELP + ', or of a URDF')
    verb = _add_verb(verbs, statics, [_common_arguments()])
    verb.add_argument('robot', help=_ROBOT_HELP + ', or of a URDF')
    _add_statics_arguments(verb)
    return parser


def _add_statics_arguments(verb):
    verb.add_argument('--left', metavar='FRAME', help='left sole (default: first foot)')
    verb.add_argument('--right', metavar='FRAME', help='right sole (default: second foot)')
    verb.add_argument('--support', choices=('left', 'right', 'both'), default='both')
    verb.add_argument('--q', type=Path, metavar='FILE',
                      help='configuration, YAML (default: start posture, or zero)')
    verb.add_argument('--objective', choices=('torque', 'force'), default='torque')
    verb.add_argument('--friction', type=_positive, default=0.7, metavar='MU')
    verb.add_argument('--foot-size', type=_positive, nargs=2, default=(0.20, 0.10),
                      metavar=('L', 'W'), help='length and width of the soles in m')
    verb.add_argument('--solver', choices=('daqp', 'quadprog', 'osqp'))


def _add_search_arguments(verb):
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--slope-deg', type=_finite, metavar='D', help='downhill positive')
    verb.add_argument('--speed', type=_finite, metavar='V', help='walking speed in m/s')
    verb.add_argument('--speeds', type=_range, metavar='LO:HI:N',
                      help='search at N speeds instead and draw the cost over speed')
    verb.add_argument('--degree', type=int, metavar='K', help='degree of the polynomials')
    verb.add_argument('--nodes', type=int, metavar='N', help='intervals of the quadrature')
    verb.add_argument('--quadrature', metavar='NAME', help='lobatto or riemann')
    verb.add_argument('--clearance', type=_finite, metavar='M',
                      help='height of the swing foot in mid-step in m; below 0: none')
    verb.add_argument('--landing-speed', type=_finite, metavar='V',
                      help='least downward speed of the foot at touchdown in m/s')
    verb.add_argument('--starts', type=int, metavar='N', help='first guesses to try')
    verb.add_argument('--optimise', type=_words, default=(), metavar='spring,damper,mass',
                      help='mechanics that may change with the gait')
    verb.add_argument('--quiet', action='store_true', help='no progress on stderr')


_ROBOT_HELP = 'name of a robot, or the path of a robot file'


def _add_disturbances(verb):
    verb.add_argument('--disturb', action='append', default=[], metavar='KIND=SIZE@STEP',
                      help='step_down, step_up (m), push (N s/kg) or slope_change (rad) at a '
                      'touchdown, on plant rigid (repeatable)')


def _add_verb(verbs, function, parents):
    name = function.__name__
    verb = verbs.add_parser(name, parents=parents, help=function.__doc__,
                            description=function.__doc__, epilog=f'Example:\n  {EXAMPLES[name]}')
    verb.set_defaults(run=function)
    return verb


def _common_arguments():
    common = _Parser(add_help=False)
    common.add_argument('--json', action='store_true', help='print one JSON document')
    common.add_argument('--out', type=Path, metavar='DIR', help='write plots, tables and a report')
    common.add_argument('--seed', type=_seed, default=0, metavar='N',
                        help='seed of random numbers')
    common.add_argument('--set', type=_setting, action='append', default=[], metavar='NAME=VALUE',
                        help='override a parameter of the robot file (repeatable)')
    return common


def _walk_arguments():
    walk = _Parser(add_help=False, parents=[_common_arguments()])
    walk.add_argument('--controller', metavar='C', help="default: the robot file's")
    walk.add_argument('--plant', metavar='P', help="default: the robot file's")
    walk.add_argument('--slope-deg', type=_finite, metavar='D', help='downhill positive')
    walk.add_argument('--duration', type=_positive, default=20.0, metavar='S',
                      help='simulated time in s (default: 20)')
    return walk


def _setting(text):
    name, separator, value = text.partition('=')
    if not separator or not name:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form name=value')
    try:
        return name, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise argparse.ArgumentTypeError(f'value of {name} is not YAML: {error}') from error


def _numbers(text):
    return [_finite(part) for part in text.split(',')]


def _range(text):
    """Return the N numbers of LO:HI:N."""
    parts = text.split(':')
    if len(parts) != 3 or not parts[2].isdigit() or int(parts[2]) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not of the form LO:HI:N')
    low, high, count = _finite(parts[0]), _finite(parts[1]), int(parts[2])
    return [low + (high - low) * i / max(1, count - 1) for i in range(count)]


def _words(text):
    return tuple(word for word in text.split(',') if word)


def _seed(text):
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f'{text!r} is not a whole number from 0')
    return int(text)


def _finite(text):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'{text!r} is not a finite number')
    return value


def _positive(text):
    value = _finite(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'{text} must be above 0')
    return value


if __name__ == '__main__':
    sys.exit(main())
