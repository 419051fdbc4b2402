# SPDX-License-Identifier: Apache-2.0
"""The arguments of every verb."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
import re
from typing import Any, NoReturn

from walking_control import __version__
from walking_control.cli.adoption import add_adopt_arguments, adopt
from walking_control.cli.argument_types import (
    axis,
    count,
    duration,
    finite,
    margin,
    not_negative,
    number_range,
    numbers,
    port,
    positive,
    ratios,
    seed,
    setting,
    share,
    words,
)
from walking_control.cli.bring_up import add_bring_up_arguments, bring_up
from walking_control.cli.design import rotom, transmission
from walking_control.cli.fault import fault
from walking_control.cli.gait import cycle, impact, search
from walking_control.cli.gallery import add_gallery_arguments, gallery
from walking_control.cli.identification import identify
from walking_control.cli.monitor import monitor
from walking_control.cli.recording import estimate, import_log, plot, replay
from walking_control.cli.reproduce import reproduce
from walking_control.cli.ros2_control import ros2_control
from walking_control.cli.statics import check, statics
from walking_control.cli.sweep import sweep
from walking_control.cli.tune import tune
from walking_control.cli.walking import compare, demo, robustness, simulate
from walking_control.controllers.registry import CONTROLLERS
from walking_control.simulation.injection import INJECTIONS
from walking_control.simulation.registry import PLANTS
from walking_control.statics import solvers

EXAMPLES = {
    'adopt': 'walking_control adopt my_robot.urdf --out my_robot\n  '
    'walking_control check my_robot/my_robot.yaml',
    'demo': 'walking_control demo dribbel --duration 60 --out out/demo',
    'simulate': 'walking_control simulate dribbel --duration 60 --set set_point=0.35 --json',
    'search': 'walking_control gait search compass --speed 0.8 --out out/gait\n  '
    'walking_control gait search walker3d --speeds 0.4:1.2:5 --out out/gaits',
    'cycle': 'walking_control gait cycle compass --slope-deg 3 --out out/cycle',
    'impact': 'walking_control gait impact compass --q -0.25,0.5',
    'robustness': 'walking_control robustness compass --controller curve_tracking --disturbance '
    'step_down\n  walking_control robustness dribbel --margin delay --noise lab --json\n  '
    'walking_control robustness walker3d --quick --out out/envelope',
    'sweep': 'walking_control sweep dribbel --plant rigid --grid set_point=0.1:0.5:9 --grid '
    'proportional_gain=2:18:9 --out out/sweep',
    'reproduce': 'walking_control reproduce --only gcrc98',
    'tune': 'walking_control tune dribbel --plant rigid --duration 10 --grid set_point=0.2:0.5 '
    '--grid proportional_gain=4:16 --margin speed=0.4 --margin step_down=0.006 --out out/tune',
    'compare': 'walking_control compare compass --disturb step_down=0.05@6 --out out/compare',
    'identify': 'walking_control simulate dribbel --duration 60 --out out/walk\n  '
    'walking_control identify out/walk',
    'statics': 'walking_control statics humanoid --support both --out out/statics',
    'fault': 'walking_control fault stale_imu    (while walking_control demo --realtime '
    '--duration 600 runs elsewhere)',
    'transmission': 'walking_control design transmission examples/two_joint_leg.urdf --frame foot '
    '--base free \\\n    --q hip=1.0472,knee=1.0472 --reduction 1/20 --rotor-inertia 6.4e-5 '
    '--torque 17 \\\n    --efficiency 0.8,0.7 --out out/leg',
    'rotom': 'walking_control design rotom humanoid --direction 0,0,1 --joint left_knee --out '
    'out/rotom',
    'bring-up': 'walking_control adopt my_robot.urdf --out my_robot\n  '
    'walking_control bring-up my_robot/my_robot.yaml --out my_robot/up',
    'gallery': 'walking_control gallery my_robot/up another/up --out gallery.md',
    'check': 'walking_control check my_robot.yaml',
    'replay': 'walking_control simulate dribbel --record walk.mcap\n  '
    'walking_control replay walk.mcap',
    'import': 'walking_control adopt model.urdf --out robot\n  '
    'walking_control import walking.mat layout.yaml --robot robot/robot.yaml --out walking',
    'estimate': 'walking_control simulate walker3d --noise lab --record walk.mcap\n  '
    'walking_control estimate walk.mcap --out out/estimate',
    'plot': 'walking_control plot walk.mcap --out out/walk',
    'monitor': 'walking_control monitor --demo    (while walking_control demo --realtime '
    '--duration 600 runs elsewhere)',
    'ros2_control': 'walking_control ros2_control my_robot.yaml --out bringup',
}

_ROBOT_HELP = 'name of a robot, or the path of a robot file'


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)
        # a list that begins with a negative number is a value, not an option
        self._negative_number_matcher = re.compile(r'^-[0-9.][0-9.,eE+-]*$')

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one line."""
        self.exit(2, f'error: {" ".join(message.split())}; see {self.prog} --help\n')


def make_parser() -> Parser:
    """Return the parser of all verbs; `run` of what it returns is the verb's function."""
    parser = Parser(
        prog='walking_control', description='Make a walking robot walk.',
        epilog='Exit status: 0 done; 1 it did not happen (a fall), with the reason; 2 bad input; '
        '130 interrupted.')
    parser.add_argument('--version', action='version', version=__version__)
    verbs = parser.add_subparsers(dest='verb', required=True, metavar='VERB')
    walk = _walk_arguments()
    follow = _follow_arguments(walk)
    verb = _add_verb(verbs, demo, [_follow_arguments(_walk_arguments(None))])
    verb.add_argument('robot', nargs='?', default='dribbel', help=_ROBOT_HELP)
    verb.add_argument('--realtime', action='store_true',
                      help='step by the clock instead of in lockstep')
    _add_disturbances(verb)
    _add_noise(verb)
    verb.add_argument('--route', metavar='ROUTE', help='what is asked for on cmd_vel: name of a '
                      'shipped route or path of a route file (default: that of the robot, with its '
                      'noise, if there is one); none: nothing')
    verb.add_argument('--processes', type=int, choices=(1, 2), default=1,
                      help='2: the controller in a process of its own')
    _add_record(verb)
    verb = _add_verb(verbs, simulate, [follow])
    verb.add_argument('robot', help=_ROBOT_HELP)
    _add_record(verb)
    _add_disturbances(verb)
    _add_noise(verb)
    _add_gait_verbs(verbs, walk, follow)
    _add_robustness_arguments(_add_verb(verbs, robustness, [follow]))
    verb = _add_verb(verbs, reproduce, [])
    verb.add_argument('--only', action='append', default=[], metavar='ID',
                      help='one row, or all whose names begin so; repeatable')
    verb.add_argument('--quick', action='store_true', help='only what takes a second or less')
    verb.add_argument('--json', action='store_true', help='print one JSON document')
    verb.add_argument('--out', type=Path, metavar='DIR', help='write the page')
    _add_sweep_arguments(_add_verb(verbs, sweep, [follow]))
    _add_tune_arguments(_add_verb(verbs, tune, [follow]))
    _add_compare_arguments(_add_verb(verbs, compare, [_common_arguments()]))
    add_adopt_arguments(_add_verb(verbs, adopt, []))
    add_bring_up_arguments(_add_verb(verbs, bring_up, []))
    add_gallery_arguments(_add_verb(verbs, gallery, []))
    _add_check_arguments(_add_verb(verbs, check, [_common_arguments()]))
    verb = _add_verb(verbs, replay, [_common_arguments()])
    verb.add_argument('recording', type=Path, metavar='FILE', help='.mcap or folder of a rosbag2')
    verb.add_argument('--robot', metavar='ROBOT',
                      help=_ROBOT_HELP + ' (default: the one that was recorded)')
    verb.add_argument('--controller', metavar='C',
                      help=', '.join(CONTROLLERS) + ' (default: the one that was recorded)')
    verb = _add_verb(verbs, import_log, [_common_arguments()])
    verb.add_argument('log', type=Path, metavar='LOG', help='.mat (5 or 7.3), or text with a '
                      'header and commas')
    verb.add_argument('layout', type=Path, metavar='LAYOUT.yaml',
                      help='which column is what, in which unit and frame')
    verb.add_argument('--robot', metavar='ROBOT', required=True, help=_ROBOT_HELP)
    verb = _add_verb(verbs, estimate, [_common_arguments()])
    verb.add_argument('recording', type=Path, metavar='FILE', help='.mcap or folder of a rosbag2')
    verb.add_argument('--robot', metavar='ROBOT',
                      help=_ROBOT_HELP + ' (default: the one that was recorded)')
    verb.add_argument('--fit', type=share, metavar='SHARE', help='fit the noise of the sensors to '
                      'this share of the recording, from the beginning, and judge the rest')
    verb = _add_verb(verbs, plot, [_common_arguments()])
    verb.add_argument('recording', type=Path, metavar='FILE',
                      help='.mcap or folder of a rosbag2; folder of --out or its run.csv')
    verb.add_argument('--robot', metavar='ROBOT',
                      help=_ROBOT_HELP + ' (default: the one that was recorded)')
    verb = _add_verb(verbs, ros2_control, [_common_arguments()])
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--force-sign', type=int, choices=(1, -1), default=1, metavar='S',
                      help='-1: foot sensors that tell the force of the foot on the floor '
                      '(default: 1, that of the floor on the foot)')
    verb.add_argument('--policy', type=Path, metavar='FILE.xml', help='write the SROS2 policy of '
                      'our nodes: who may publish, hear, serve and call what')
    verb.add_argument('--namespace', default='', metavar='NS', help='of the nodes in the policy')
    _add_identify_arguments(_add_verb(verbs, identify, [_common_arguments()]))
    _add_fault_arguments(_add_verb(verbs, fault, []))
    _add_monitor_arguments(_add_verb(verbs, monitor, []))
    verb = _add_verb(verbs, statics, [_common_arguments()])
    verb.add_argument('robot', help=_ROBOT_HELP + ', or of a URDF')
    _add_statics_arguments(verb)
    _add_design_verbs(verbs)
    return parser


def _add_design_verbs(verbs: argparse._SubParsersAction[Any]) -> None:
    design = verbs.add_parser('design', help='Answer questions before a robot is built.'
                              ).add_subparsers(dest='design_verb', required=True, metavar='VERB')
    for function, add in ((transmission, _add_transmission_arguments),
                          (rotom, _add_rotom_arguments)):
        verb = _add_verb(design, function, [_common_arguments()])
        verb.add_argument('robot', help=_ROBOT_HELP + ', or of a URDF')
        verb.add_argument('--q', metavar='J=V,...', help='joint positions, rad or m, or a YAML '
                          'file (default: start posture, or zero)')
        verb.add_argument('--base', choices=('held', 'free'),
                          help="default: free, held of a URDF alone")
        verb.add_argument('--direction', type=numbers, default=[0.0, 0.0, 1.0], metavar='X,Y,Z',
                          help='of the force, in the world (default: 0,0,1)')
        add(verb)


def _add_transmission_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--frame', metavar='FRAME', help="end of the limb (default: first foot)")
    verb.add_argument('--axes', metavar='xyz', help='directions that count (default: those along '
                      'which the limb moves its end)')
    for name, what in (('--reduction', 'turns of the output per turn of the rotor, at most 1, such '
                        'as 1/20'), ('--rotor-inertia', 'at the rotor, kg m^2'),
                       ('--efficiency', 'of the gear, forward'),
                       ('--back-efficiency', 'backward (default: follows from the forward one)'),
                       ('--torque', 'largest torque of the motor times its reduction, N m')):
        verb.add_argument(name, type=ratios, metavar='A[,B...]', help=f'{what}; one for all joints '
                          'of the limb or one each, from the base outwards')
    verb.add_argument('--topology', default='serial', metavar='D', help='serial, parallel (both '
                      'motors of two joints on the base) or rows such as 1,0;-1,1')
    verb.add_argument('--rotors', choices=('armature', 'coupled'), default='armature',
                      help='whether the rotors feel that their carriers turn')
    verb.add_argument('--carrier', metavar='LINK', help='on which link the motors sit, for '
                      '--rotors coupled (default: each on the link before its joint)')


def _add_rotom_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--contacts', type=words, metavar='A,B', help='frames that stay where they '
                      'are, or none (default: all feet of a free base, of a walker with '
                      'coordinates the one it starts on)')
    verb.add_argument('--contact-kind', choices=('point', 'sole'),
                      help='whether they may turn (default: flat soles of bipeds in space)')
    verb.add_argument('--joint', action='append', default=[], metavar='J',
                      help='joint over which the index is wanted (repeatable)')
    verb.add_argument('--zeros', action='store_true',
                      help='look for postures that pass nothing of the force on')
    _add_seed(verb)


def _add_check_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP + ', or of a URDF')
    verb.add_argument('--bringup', type=Path, metavar='PATH',
                      help='controllers.yaml, or the folder it is in: does it fit the robot?')
    verb.add_argument('--live', action='store_true', help='listen to the running robot: do gravity '
                      'and motion bear its sensors out?')
    verb.add_argument('--namespace', default='', metavar='NS', help='of the running robot')
    verb.add_argument('--seconds', type=positive, default=3.0, metavar='S',
                      help='how long to listen to it (default: 3)')
    verb.add_argument('--wait', type=positive, default=10.0, metavar='S',
                      help='longest wait for its sensors (default: 10)')


def _add_fault_arguments(verb: argparse.ArgumentParser) -> None:
    kinds = '\n'.join(f'  {kind:18} {words}' for kind, words in INJECTIONS.items())
    verb.epilog = f'Kinds:\n{kinds}\n\n{verb.epilog}'
    verb.add_argument('kind', metavar='KIND', help='what goes wrong, see below')
    verb.add_argument('--domain', type=int, choices=range(233), metavar='N',
                      help='ROS domain of the demo (default: the one demo that runs)')
    verb.add_argument('--namespace', metavar='NS', help='its namespace')
    verb.add_argument('--json', action='store_true', help='print one JSON document')


def _add_gait_verbs(verbs: argparse._SubParsersAction[Any], walk: argparse.ArgumentParser,
                    follow: argparse.ArgumentParser) -> None:
    gait = verbs.add_parser('gait', help='Find and judge gaits.').add_subparsers(
        dest='gait_verb', required=True, metavar='VERB')
    _add_search_arguments(_add_verb(gait, search, [_common_arguments()]))
    verb = _add_verb(gait, cycle, [follow])
    verb.add_argument('robot', help=_ROBOT_HELP)
    _add_seed(verb)
    verb = _add_verb(gait, impact, [walk])
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--q', type=numbers, required=True, metavar='A,B[,C]',
                      help='coordinates at touchdown in rad')
    verb.add_argument('--v', type=numbers, metavar='A,B',
                      help='rates before touchdown in rad/s (default: the least lossy direction)')


def _add_robustness_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP)
    of = verb.add_mutually_exclusive_group()
    of.add_argument('--disturbance', metavar='KIND',
                    help='one-off: step_down, step_up, push or slope_change (default of robots in '
                    'space: push)')
    of.add_argument('--margin', metavar='KIND', help='lasting: delay (s), noise (factor on the '
                    'preset), mass (share), friction (dry, of every joint, N m), grip (share '
                    'lost of the friction of the floor) or rough (height of footholds, m), unknown '
                    'to the controller; up to the first failure, on any plant')
    of.add_argument('--metric', type=words, metavar='NAME[,NAME]', help='measures of the cycle '
                    'the walk settles on, plant rigid: eigenvalues of the return map, sensitivity '
                    '(gait sensitivity norm), passage (mean first passage time on a rough floor), '
                    'attraction (region of attraction), or all')
    verb.add_argument('--roughness', type=positive, metavar='M', help='of metric passage: standard '
                      'deviation of the height from one foothold to the next (default: 0.2 %% of '
                      'the leg length)')
    verb.add_argument('--steps', type=int, metavar='N',
                      help='of metric passage: steps to walk (default: 20000)')
    verb.add_argument('--radius', type=positive, metavar='R', help='of metric attraction: ball of '
                      'states to try, in energy-normalised distance (default: 0.5)')
    verb.add_argument('--samples', type=int, metavar='N',
                      help='of metric attraction: states to try (default: 1000)')
    _add_noise(verb)
    verb.add_argument('--max', type=finite, metavar='M', help='last size tried; below 0 for '
                      'pushes against the walk and lighter robots (default: 0.3 m down, 0.1 m '
                      'up, 1.6 N s/kg, 0.1 rad; 0.05 s, factor 10, mass 1, 5 N m, grip 0.95, 0.02 '
                      'm)')
    verb.add_argument('--resolution', type=positive, metavar='R', help='distance between sizes '
                      '(default: 0.001 m, 0.01 N s/kg, 0.002 rad; 0.001 s, 0.25, 0.05, 0.05 N m, '
                      '0.05, 0.001 m)')
    verb.add_argument('--chain', action='store_true', help='of a disturbance: walk through the '
                      'whole chain of estimator, law and safety even where the state may be taken '
                      'as known; margins, noise and plants but rigid always do (some hundred '
                      'times as long)')
    verb.add_argument('--heavier', type=finite, default=0.0, metavar='SHARE', help='of a '
                      'disturbance: masses and inertias are larger by this share than the '
                      'controller knows, 0.05 for 5 %%; goes through the chain')
    verb.add_argument('--seeds', type=int, default=5, metavar='N', help='of a margin with noise or '
                      'of a rough floor: walks at each size, each with its own seed (default: 5)')
    _add_speed(verb)
    _add_envelope_arguments(verb)


def _add_envelope_arguments(verb: argparse.ArgumentParser) -> None:
    group = verb.add_argument_group(
        'robots in space', 'pushes from all sides at all parts of a step, or floors that change '
        'at several places, by bisection; as many trials at once as there are processors')
    group.add_argument('--directions', type=count, metavar='N',
                       help='of pushes, evenly all around (default: 12)')
    group.add_argument('--direction', type=numbers, metavar='D[,D]',
                       help='these instead, degrees from ahead to the left')
    group.add_argument('--phases', type=count, metavar='N',
                       help='parts of a step, evenly; places of an edge within it (default: 8)')
    group.add_argument('--phase', type=numbers, metavar='P[,P]', help='these instead, 0 up to 1')
    group.add_argument('--after', type=duration, metavar='S',
                       help='how long it has to walk afterwards (default: 20 s)')
    group.add_argument('--settling', type=count, metavar='N',
                       help='touchdowns before (default: 12)')
    group.add_argument('--processes', type=count, metavar='N', help='trials at once')
    group.add_argument('--quick', action='store_true',
                       help='4 directions, 2 phases, 5 s afterwards, every other size')


def _add_monitor_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--host', default='127.0.0.1', metavar='ADDRESS', help='to listen on '
                      '(default: 127.0.0.1, this machine alone: whoever connects may stop and '
                      'retune the robot)')
    verb.add_argument('--port', type=port, default=8765, metavar='N',
                      help='0: a free one (default: 8765)')
    verb.add_argument('--rate', type=positive, default=30.0, metavar='HZ',
                      help='messages per second and topic (default: 30)')
    verb.add_argument('--robot', metavar='ROBOT',
                      help=_ROBOT_HELP + ' (default: the one the controller names)')
    verb.add_argument('--origin', action='append', default=[], metavar='URL', help='whose web '
                      'pages may connect, such as https://viewer.example; may be repeated '
                      '(always: those of this machine and of app.foxglove.dev)')
    verb.add_argument('--token', help='that viewers must give: ws://...?token=TOKEN (default: '
                      'WALKING_CONTROL_TOKEN of the environment, else none)')
    where = verb.add_mutually_exclusive_group()
    where.add_argument('--namespace', metavar='NS', help='of the controller (default: none)')
    where.add_argument('--demo', action='store_true', help='the one demo that runs')


def _add_speed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--speed', type=finite, metavar='V', help='of robots in space, m/s '
                      '(default: 0.5 where the robot file says 0)')


def _add_sweep_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--grid', type=axis, action='append', required=True, metavar='NAME=LO:HI:N',
                      help='N values of a parameter, by its name in the robot file, or of the '
                      'initial state: start.q.NAME, start.v.NAME of a coordinate; repeatable')
    verb.add_argument('--points', type=count, metavar='N', help='draw N points at random '
                      'between the ends of the axes instead of the grid (NAME=LO:HI will do)')
    verb.add_argument('--repeats', type=count, default=1, metavar='N', help='walks of '
                      "each point, each with its own seed of the sensors' errors (default: 1)")
    verb.add_argument('--workers', type=count, metavar='N',
                      help='processes; 1 walks in this one (default: one for each core)')
    verb.add_argument('--scheduler', metavar='ADDRESS', help='of a running Dask cluster to use '
                      'instead, such as tcp://host:8786')
    verb.add_argument('--resume', type=Path, metavar='FILE', help='go on with an interrupted '
                      'sweep.parquet; with more --points, append to it')
    verb.add_argument('--row', type=int, metavar='N', help='walk this row alone and print it')
    verb.add_argument('--yes', action='store_true', help='more than a million runs are meant')
    _add_disturbances(verb)
    _add_noise(verb)


def _add_tune_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--grid', type=axis, action='append', required=True, metavar='NAME=LO:HI',
                      help='what may change, and between which ends; twice or more')
    verb.add_argument('--margin', type=margin, action='append', default=[], metavar='KIND=SIZE',
                      help='what has to be survived: speed (m/s at least), a disturbance or margin '
                      'of robustness (step_down=0.01, push=0.2, delay=0.005, noise=2); repeatable')
    verb.add_argument('--cost', default='cost_of_transport_electrical', metavar='NAME',
                      help='what is to be little: cost_of_transport_electrical (default), '
                      'cost_of_transport_positive, cost_of_transport, mechanical_power, '
                      'peak_effort, squared_effort_per_step')
    verb.add_argument('--evaluations', type=count, default=150, metavar='N',
                      help='points to try (default: 150)')
    verb.set_defaults(disturb=[], points=0, repeats=1)
    _add_noise(verb)


def _add_compare_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP)
    _add_disturbances(verb, ' (default: step_down=0.05@6)')
    _add_noise(verb)
    verb.add_argument('--duration', type=duration, default=12.0, metavar='S',
                      help='simulated time in s (default: 12)')
    verb.add_argument('--slope-deg', type=finite, metavar='D', help='downhill positive')
    verb.add_argument('--variants', type=Path, metavar='FILE', help='list of name, controller, '
                      'settings (default: config/comparisons/ROBOT.yaml)')
    verb.add_argument('--plant', metavar='P', help=', '.join(PLANTS) + " (default: the robot "
                      "file's, and rigid for --robustness)")
    verb.add_argument('--robustness', action='store_true',
                      help='look for the first failing size of the disturbance too, of robots in '
                      'space of pushes from all sides (minutes)')
    verb.add_argument('--speeds', type=number_range, metavar='LO:HI:N',
                      help='of robots in space, m/s (default: 0.2:0.8:4)')
    _add_envelope_arguments(verb)


def _add_identify_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('recording', type=Path, metavar='RUN',
                      help='folder of simulate --out or demo --out, or its run.csv')
    verb.add_argument('--robot', metavar='ROBOT',
                      help=_ROBOT_HELP + ' (default: the one that the run names)')
    verb.add_argument('--confidence', type=positive, default=0.95, metavar='C',
                      help='of the intervals (default: 0.95)')
    verb.add_argument('--model-error', type=not_negative, default=0.01, metavar='E',
                      help='share by which masses and floor may make torques differ from the '
                      'model (default: 0.01)')


def _add_statics_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--left', metavar='FRAME', help='left sole (default: first foot)')
    verb.add_argument('--right', metavar='FRAME', help='right sole (default: second foot)')
    verb.add_argument('--support', choices=('left', 'right', 'both'), default='both')
    verb.add_argument('--q', type=Path, metavar='FILE',
                      help='configuration, YAML (default: start posture, or zero)')
    verb.add_argument('--objective', choices=('torque', 'force'), default='torque')
    verb.add_argument('--friction', type=positive, default=0.7, metavar='MU')
    verb.add_argument('--foot-size', type=not_negative, nargs=2,
                      metavar=('L', 'W'), help='length and width of the soles in m; 0 0: points '
                      '(default: 0.20 0.10)')
    verb.add_argument('--solver', choices=solvers.NAMES)


def _add_search_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('robot', help=_ROBOT_HELP)
    verb.add_argument('--slope-deg', type=finite, metavar='D', help='downhill positive')
    pace = verb.add_mutually_exclusive_group()
    pace.add_argument('--speed', type=finite, metavar='V', help='walking speed in m/s')
    pace.add_argument('--speeds', type=number_range, metavar='LO:HI:N',
                      help='search at N speeds instead and draw the cost over speed; of bipeds on '
                      'soles a family of gaits in one file')
    verb.add_argument('--degree', type=int, metavar='K', help='degree of the polynomials')
    verb.add_argument('--nodes', type=int, metavar='N', help='intervals of the quadrature')
    verb.add_argument('--quadrature', metavar='NAME', help='lobatto or riemann')
    verb.add_argument('--clearance', type=finite, metavar='M',
                      help='height of the swing foot in mid-step in m; below 0: none')
    verb.add_argument('--width', type=finite, metavar='M', help='of bipeds on soles: distance of '
                      'the soles sideways in m; 0 leaves it free')
    verb.add_argument('--step-time', type=finite, metavar='S',
                      help='of bipeds on soles: time of a step in s; 0 leaves it free')
    verb.add_argument('--landing-speed', type=finite, metavar='V',
                      help='least downward speed of the foot at touchdown in m/s')
    verb.add_argument('--starts', type=int, metavar='N', help='first guesses to try')
    verb.add_argument('--optimise', type=words, default=(), metavar='spring,damper,mass',
                      help='mechanics that may change with the gait')
    verb.add_argument('--quiet', action='store_true', help='no progress on stderr')
    _add_seed(verb)


def _add_seed(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--seed', type=seed, default=0, metavar='N',
                      help='seed of random numbers (default: 0)')


def _add_disturbances(verb: argparse.ArgumentParser, default: str = '') -> None:
    verb.add_argument('--disturb', action='append', default=[], metavar='KIND=SIZE@WHEN',
                      help='step_down, step_up (m), push, side_push (N s/kg) or slope_change '
                      '(rad) at a touchdown; robots in space also at a part of a step after it '
                      '(push=0.5@12.25), a time (push=0.5@4.5s) or a place (step_up=0.03@2m), '
                      'their pushes with :direction=DEGREES, :duration=S (0.1), :link=NAME; '
                      'repeatable' + default)


def _add_record(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--record', type=Path, metavar='FILE.mcap',
                      help='write what the controller hears and answers as a rosbag2')


def _add_noise(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--noise', metavar='PRESET', help='how good the sensors are: none, lab, '
                      "rough, or the path of a preset file (default: the robot file's sensors)")
    verb.add_argument('--delay', type=not_negative, metavar='S', help='from a command to its '
                      'effect (sensors.command_delay)')
    verb.add_argument('--seed', type=seed, dest='noise_seed', metavar='N',
                      help="seed of the sensors' errors (default: the robot file's, 0)")


def _add_verb(verbs: argparse._SubParsersAction[Any],
              function: Callable[[argparse.Namespace], int],
              parents: Sequence[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    # one verb of two words, one that is a word of Python's
    name = {'bring_up': 'bring-up', 'import_log': 'import'}.get(
        function.__name__, function.__name__)
    verb: argparse.ArgumentParser = verbs.add_parser(name, parents=parents, help=function.__doc__,
                                                   description=function.__doc__,
                                                   epilog=f'Example:\n  {EXAMPLES[name]}')
    verb.set_defaults(run=function)
    return verb


def _common_arguments() -> argparse.ArgumentParser:
    common = Parser(add_help=False)
    common.add_argument('--json', action='store_true', help='print one JSON document')
    common.add_argument('--out', type=Path, metavar='DIR', help='write plots, tables and a report')
    common.add_argument('--set', type=setting, action='append', default=[], metavar='NAME=VALUE',
                        help='override a parameter of the robot file (repeatable)')
    return common


def _walk_arguments(longest: float | None = 20.0) -> argparse.ArgumentParser:
    walk = Parser(add_help=False, parents=[_common_arguments()])
    walk.add_argument('--controller', metavar='C',
                      help=', '.join(CONTROLLERS) + " (default: the robot file's)")
    walk.add_argument('--plant', metavar='P',
                      help=', '.join(PLANTS) + " (default: the robot file's)")
    walk.add_argument('--slope-deg', type=finite, metavar='D', help='downhill positive')
    walk.add_argument('--duration', type=duration, default=longest, metavar='S',
                      help='simulated time in s (default: 20'
                      + (')' if longest else ', or as long as the route takes)'))
    return walk


def _follow_arguments(walk: argparse.ArgumentParser) -> argparse.ArgumentParser:
    follow = Parser(add_help=False, parents=[walk])
    follow.add_argument('--gait', type=Path, metavar='FILE',
                        help='gait file the controller follows, or name of a shipped one '
                        '(default: the one of the robot)')
    follow.add_argument('--on-gait', action='store_true', help='begin on the gait, just after a '
                        'touchdown, instead of where the robot file starts')
    return follow
