# SPDX-License-Identifier: Apache-2.0
"""The command line: thin verbs over the rooms; see `walking_control <verb> --help`."""

from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
import os
import sys

from walking_control.cli.output import INTERRUPTED
from walking_control.exceptions import WalkingControlError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status: 0 done, 1 not achieved, 2 bad input."""
    options = Namespace()
    try:
        from walking_control.cli.parser import make_parser  # slow: Ctrl-C may come meanwhile

        parser, typed = make_parser(), list(sys.argv[1:] if arguments is None else arguments)
        if not typed:
            parser.print_help()
            return 0
        options = parser.parse_args(typed)
        options.command = typed
        status = options.run(options)
        sys.stdout.flush()
        return int(status)
    except BrokenPipeError:  # the reader, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except WalkingControlError as error:
        with suppress(OSError):  # a folder that holds something stays
            for folder in getattr(options, 'made', ()):
                folder.rmdir()
        print(f'error: {error}', file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print('interrupted', file=sys.stderr)
        return INTERRUPTED
