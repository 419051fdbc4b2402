# SPDX-License-Identifier: Apache-2.0
"""All verbs, in the order of help."""

from walking_control import __version__
from walking_control.cli.design import rotom, transmission
from walking_control.cli.gait import atlas, cycle, impact, search
from walking_control.cli.recording import estimate, identify, import_log, measure, plot, replay
from walking_control.cli.robots import adopt, bring_up, gallery
from walking_control.cli.running import fault, monitor, ros2_control
from walking_control.cli.statics import check, endurance, statics
from walking_control.cli.sweep import reproduce, sweep, tune
from walking_control.cli.verb import Parser, Verb
from walking_control.cli.walking import compare, demo, robustness, simulate

# a verb, or name, help and verbs of several words
VERBS: tuple[Verb | tuple[str, str, tuple[Verb, ...]], ...] = (
    demo,
    simulate,
    ('gait', 'Find and judge gaits.', (search, cycle, atlas, impact)),
    robustness,
    reproduce,
    sweep,
    tune,
    compare,
    adopt,
    bring_up,
    gallery,
    check,
    replay,
    import_log,
    estimate,
    plot,
    measure,
    ros2_control,
    identify,
    fault,
    monitor,
    statics,
    endurance,
    ('design', 'Answer questions before a robot is built.', (transmission, rotom)),
)


def make_parser() -> Parser:
    """Return the parser of all verbs; `run` of what it returns is the verb."""
    parser = Parser(
        prog='walking_control',
        description='Make a walking robot walk.',
        epilog='What to do first:\n'
        '  walking_control demo                     a robot walks over ROS 2 topics\n'
        '  walking_control simulate walker3d        the same without ROS 2\n'
        '  walking_control adopt FILE --out mine    a robot file of your URDF, MJCF or SDF\n'
        '  walking_control bring-up mine/NAME.yaml --out mine/up   from there to a walk\n'
        'walking_control VERB --help says what a verb takes, with an example.\n\n'
        'Exit status: 0 done; 1 it did not happen (a fall), with the reason; 2 bad input; '
        '130 interrupted.',
    )
    parser.add_argument('--version', action='version', version=__version__)
    verbs = parser.add_subparsers(dest='verb', required=True, metavar='VERB')
    for each in VERBS:
        if isinstance(each, Verb):
            each.add_to(verbs)
            continue
        name, words, own = each
        family = verbs.add_parser(name, help=words).add_subparsers(
            dest=f'{name}_verb', required=True, metavar='VERB'
        )
        for verb in own:
            verb.add_to(family)
    return parser
