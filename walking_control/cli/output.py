# SPDX-License-Identifier: Apache-2.0
"""What verbs print and write: one JSON document or text, figures, reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
import math
from pathlib import Path
import sys
import time
from typing import Any, NamedTuple, TYPE_CHECKING

from walking_control.exceptions import writing_to
from walking_control.lab import reports
from walking_control.models import fill
from walking_control.runs import failure, judge_route, name_natural_part, plain, Run, summarize

if TYPE_CHECKING:
    from walking_control.cli.verb import Options

INTERRUPTED = 130  # exit status, as shells have it


class Answer(NamedTuple):
    """What a verb has found: it is printed, as JSON or for people, and written.

    Attributes:
        result: What ``--json`` prints, but for ``files``.
        say: Prints it for people, but for ``files``; None: as a summary.
        errors: What was asked for and did not happen, a line each.
        status: Exit status; 0 is 1 where there are errors.
        files: What is written already.
        write: Writes to the folder of ``--out`` and returns the paths; may add to the result.
        document: Name of the JSON file in that folder; empty: none.
    """

    result: Mapping[str, Any]
    say: Callable[[Any], object] | None = None
    errors: Sequence[str] = ()
    status: int = 0
    files: Sequence[str] = ()
    write: Callable[[Path], Sequence[str]] | None = None
    document: str = ''

    def give(self, options: Options) -> int:
        """Write and print it as options want; return the exit status."""
        files = [*self.files]
        if options.out is not None:
            with writing_to(options.out):
                files += self.write(options.out) if self.write is not None else ()
                if self.document:
                    files.append(str(options.out / self.document))
                    text = to_json({**self.result, 'files': files})
                    Path(files[-1]).write_text(text + '\n', 'utf-8')
        if options.json:
            print(to_json({**self.result, 'files': files}))
        else:
            (self.say or print_summary)(self.result)
            print(*(f'wrote {file}\n' for file in files), sep='', end='')
        for error in self.errors:
            print(f'error: {error}', file=sys.stderr)
        return self.status or int(bool(self.errors))


def answer_run(run: Run, extra: Mapping[str, Any]) -> Answer:
    """Return what a run amounts to."""
    summary = {**summarize(run), **extra}
    if run.route is not None:
        summary['route'] = judge_route(run)
        keys = ('name', 'kept', 'speed', 'cost_of_transport_electrical', 'on_gait')
        summary['segments'] = [{key: each.get(key) for key in keys} for each in summary['route']]
        summary['natural_gait'] = name_natural_part(summary['route'])
    reason = failure(summary)
    missed = [
        f'{verdict["name"]}: {verdict["reason"]}'
        for verdict in summary.get('route', ())
        if verdict['kept'] is False
    ]
    if reason is None and missed:
        reason = 'did not keep to its route; ' + '; '.join(missed)
    if reason is None and run.route is None:
        _say_standing(run)
    return Answer(
        summary,
        errors=[] if reason is None else [f'{run.robot.name} {reason}'],
        write=lambda folder: reports.report.write_report(run, summary, folder),
    )


def text(name: str, /, **more: Any) -> Callable[[Mapping[str, Any]], None]:
    """Return what prints a result by a template.

    Args:
        name: File in ``cli/templates``.
        **more: What it names beside the entries of the result.
    """
    return lambda result: print(fill(__package__, name, **result, **more), end='')


def without(*names: str, then: str = '') -> Callable[[Mapping[str, Any]], None]:
    """Return what prints a summary but for these entries.

    Args:
        *names: Of the entries.
        then: Template by which the result is printed besides; empty: none.
    """

    def say(result: Mapping[str, Any]) -> None:
        print_summary({name: value for name, value in result.items() if name not in names})
        if then:
            text(then)(result)

    return say


def _say_standing(run: Run) -> None:
    """Say on stderr of a law that can walk and has only stood how it is asked to."""
    walking, height = run.telemetry.get('walking'), run.settings.get('height')
    if walking is None or walking.any() or run.settings.get('speed') != 0.0 or not height:
        return
    slow = 0.1 * math.sqrt(run.world.gravity * height)
    print(
        f'{run.robot.name} took no step: {run.controller}.speed is 0; --set '
        f'{run.controller}.speed={slow:.1g} (m/s) asks it to walk',
        file=sys.stderr,
    )


def say_interrupted(result: Mapping[str, Any], when: str) -> int:
    """Say that a result is part of what was asked for, if it is; return the exit status."""
    if not result['interrupted']:
        return 0
    print(f'interrupted {when}; this is what there was until then', file=sys.stderr)
    return INTERRUPTED


def save_figures(
    figures: Callable[[], Mapping[str, reports.plots.style.Figure | None]],
) -> Callable[[Path], list[str]]:
    """Return what writes figures, name -> figure, as PNG to a folder and returns their paths."""

    def save(folder: Path) -> list[str]:
        drawn = ((name, figure, '') for name, figure in figures().items())
        return [str(path) for path, _ in reports.plots.style.save_all(drawn, folder)]

    return save


def print_summary(summary: Mapping[str, Any]) -> None:
    """Print the entries of a summary that are known, one a line."""
    text('summary.txt', summary=summary)({})


def to_json(result: Mapping[str, Any]) -> str:
    """Return a result as JSON: complex as [re, im], unknown as null."""
    return json.dumps(
        plain(result),
        allow_nan=False,
        indent=2,
        default=lambda value: plain([value.real, value.imag]),
    )


def show_progress(duration: float) -> Callable[[float], None] | None:
    """Return a callable that shows the simulated time on a terminal, or None."""

    def show(time: float) -> None:
        _show_line(f'simulated {time:6.1f} of {duration:g} s', time >= duration - 1.0)

    return show if sys.stderr.isatty() else None


def show_share(what: str) -> Callable[[float], None]:
    """Return a callable that shows on a terminal how much is done, from 0 to 1.

    Args:
        what: What is done, in words.
    """
    begin: tuple[float, float] | None = None

    def show(share: float) -> None:
        nonlocal begin
        begin = begin or (time.monotonic(), share)  # what was done before took other time
        done, took = share - begin[1], time.monotonic() - begin[0]
        left = f', {took * (1.0 - share) / done:.0f} s left   ' if done > 0.0 else ''
        _show_line(f'{what} {100 * share:3.0f} %{left}', share >= 1.0)

    return show if sys.stderr.isatty() else say_nothing


def suggest_compiler() -> None:
    """Say on stderr what would make walks of many strides fast, where it is missing."""
    from walking_control.models.support.compiled import has_compiler

    if not has_compiler():
        print(
            'without CasADi and numba this takes minutes instead of seconds: '
            'pip install "walking_control[fast]"',
            file=sys.stderr,
            flush=True,
        )


def say_nothing(_: object) -> None:
    """Say nothing but which files were written."""


def say_remark(remark: str | None) -> None:
    """Say on stderr what is missing of an input, if anything is."""
    if remark is not None:
        print(f'remark: {remark}', file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Say on stderr how far the work is."""
    print(text, file=sys.stderr, flush=True)


def _show_line(text: str, last: bool) -> None:
    print(f'\r{text}', end='\n' if last else '', file=sys.stderr, flush=True)
