# SPDX-License-Identifier: Apache-2.0
"""Write the page of a real humanoid's books from a folder of measured walks.

    python benchmarks/humanoid_books.py FOLDER [--out doc]

FOLDER is a set in the format of EUROBENCH: robot.yaml, its model in Lua, walks in folders below
(pos.csv and others, .gz or not), and perhaps indicators_RUN.txt, figures that somebody published.
The page, humanoid_books.md, its pictures and its table of indicators are of all walks that are
there; nothing is fitted to a walk by which it is judged. A walk that does not tell torques or
loads is left out where these are asked.
"""

import argparse
import csv
import json
from pathlib import Path

import numpy as np
import pinocchio as pin

from walking_control.exceptions import InvalidInput
from walking_control.lab.experiments.measured_walks import read_body, read_walk
from walking_control.lab.reports.plots.style import COLOURS, import_matplotlib, label, new_figure
from walking_control.lab.reports.reproduction.humanoid import reproduce_walks, SLIPS
from walking_control.runs.indicators import find_steps, measure, observe, phases_of, series_of

SLOW = 0.12  # m/s: a sole that moves faster does not stand
EDGE = 0.1  # s at either end of a step in which a contact may be told too early or late
LATEST = 0.2  # s: rates that are later are not looked for
# cause -> its unknowns: mass (kg), first moment (kg m), and what each foot's sensor adds (N, N m)
CAUSES = {
    'nothing': [],
    'mass': [0],
    'first moment': [1, 2],
    'foot sensors': [*range(3, 15)],
    'all of them': [*range(15)],
}
LETTERS = 'abcdefghijk'
FORCES = 'x force', 'y force', 'z force', 'x moment', 'y moment', 'z moment'


class Books:
    """What is known of one walk."""

    def __init__(self, folder, name, body, base):
        self.name = name
        self.log = read_walk(folder, body, base, mend=False)[0]
        self.walk, self.remarks = read_walk(folder, body, base)
        self.motion, self.logged = observe(self.walk), observe(self.log)
        self.whole, steps = find_steps(self.walk.contact)
        self.weight = pin.computeTotalMass(body[0]) * np.linalg.norm(body[0].gravity.linear)
        self.dt = float(np.median(np.diff(self.walk.time)))
        edge = round(EDGE / self.dt)
        self.inner = [
            row
            for phase in ('fl_single', 'fr_single')
            for rows in steps[phase]
            for row in range(rows.start + edge, rows.stop - edge)
        ]
        self.legs = leg_joints(body)
        self.told = measure(self.walk, series_of(self.walk, self.motion))
        self.distance = self.told['distance_travelled']['value']
        self.loads = np.where(self.walk.contact[:, :, None], self.walk.loads, 0.0)
        self.has_loads = bool(np.isfinite(self.loads).all())
        self.has_torques = bool(np.isfinite(self.walk.efforts).all())

    def late(self):
        """Return by how much the log's rates of the leg joints are late, s, and their size."""
        legs = sum(self.legs, [])
        ours, told = self.walk.v[:, legs], self.log.v[:, legs]
        lags = range(round(LATEST / self.dt))
        error = [np.linalg.norm(told[k:] - ours[: len(ours) - k]) for k in lags]
        return int(np.argmin(error)) * self.dt, np.linalg.norm(told) / np.linalg.norm(ours)

    def slides(self, motion):
        """Return how fast the sole of the only standing foot moves, m/s, rms."""
        foot = np.where(self.walk.contact[self.inner, 0], 0, 1)
        speed = motion['speeds'][self.inner, foot, :3]
        return float(np.sqrt((speed**2).sum(axis=1).mean()))

    def agrees(self, motion, axis):
        """Return the correlation of a force of the floor as the plates and a motion tell it."""
        plates = self.loads[self.whole, :, axis].sum(axis=1)
        return float(np.corrcoef(plates, motion['wrench'][self.whole, axis])[0, 1])

    def short(self, motion):
        """Return efforts less those of inverse dynamics with the loads, N m, ``(T, nv)``."""
        arms = motion['points'] - motion['places'][:, :2]
        ankles = self.loads.copy()
        ankles[..., 3:] += np.cross(arms, self.loads[..., :3])
        floor = np.einsum('tfij,tfi->tj', motion['maps'], ankles)
        return self.walk.efforts - motion['efforts'] + floor

    def by_torques(self):
        """Return the vertical load of each foot by the efforts of its leg, N, ``(T, 2)``."""
        short = self.logged['efforts'] - self.walk.efforts
        return np.column_stack(
            [
                np.linalg.solve(maps[:, :, leg].swapaxes(1, 2), short[:, leg, None])[:, 2, 0]
                for maps, leg in zip(self.logged['maps'].swapaxes(0, 1), self.legs, strict=True)
            ]
        )

    def by_motion(self):
        """Return it by the motion alone: the lever rule; a foot that moves bears nothing."""
        points, wrench = self.motion['points'][..., :2], self.motion['wrench']
        pressed = np.column_stack((-wrench[:, 4], wrench[:, 3])) / wrench[:, 2:3]
        across = points[:, 0] - points[:, 1]
        left = ((pressed - points[:, 1]) * across).sum(axis=1) / (across**2).sum(axis=1)
        speed = np.linalg.norm(self.motion['speeds'][..., :3], axis=2)
        swings = (speed > SLOW) & (speed == speed.max(axis=1, keepdims=True))
        left = np.where(swings[:, 0], 0.0, np.where(swings[:, 1], 1.0, np.clip(left, 0.0, 1.0)))
        return np.column_stack((left, 1.0 - left)) * wrench[:, 2:3]

    def off(self, loads):
        """Return how far vertical loads are from those of the plates, rms, of the weight."""
        plates = np.maximum(self.walk.loads[..., 2], 0.0)
        return float(np.sqrt(((loads - plates)[self.whole] ** 2).mean()) / self.weight)

    def plates_share(self):
        """Return loads whose sum is the weight, shared as the plates share theirs, ``(T, 2)``."""
        plates = np.maximum(self.walk.loads[..., 2], 0.0)
        return plates / plates.sum(axis=1, keepdims=True) * self.weight

    def balance(self):
        """Return loads less what carries and moves the body, about its centre, and the causes.

        Returns:
            ``(T, 6)``, and what each unknown of `CAUSES` would add to it, ``(T, 6, 15)``.
        """
        motion, unit = self.motion, np.eye(3)
        arms = motion['points'] - motion['com'][:, None]
        moments = self.loads[..., 3:] + np.cross(arms, self.loads[..., :3])
        wrench = motion['wrench'].copy()
        wrench[:, 3:] -= np.cross(motion['com'], wrench[:, :3])
        up = -self.walk.model.gravity.linear
        causes = np.zeros((len(wrench), 6, 15))
        causes[:, :3, 0] = up
        causes[:, 3:, 1:3] = np.cross(unit[:2], up).T
        for foot in (0, 1):
            first, on = 3 + 6 * foot, self.walk.contact[:, foot, None, None]
            turning = np.cross(arms[:, foot, None], unit).swapaxes(1, 2)
            causes[:, :3, first : first + 3] = on * unit
            causes[:, 3:, first : first + 3] = on * turning
            causes[:, 3:, first + 3 : first + 6] = on * unit
        loads = np.concatenate((self.loads[..., :3], moments), axis=2).sum(axis=1)
        return (loads - wrench)[self.whole], causes[self.whole]

    def price(self, rates):
        """Return the positive work of the leg joints over weight and distance."""
        legs = sum(self.legs, [])
        power = np.maximum(self.walk.efforts[self.whole][:, legs] * rates[self.whole][:, legs], 0.0)
        work = np.trapezoid(power.sum(axis=1), self.walk.time[self.whole])
        return float(work / (self.weight * self.distance))


def leg_joints(body):
    """Return the places of the joints of both legs among the velocities."""
    model, frames = body[:2]
    feet = [model.frames[frame].parentJoint for frame in frames[:2]]
    return [[model.idx_vs[joint] for joint in list(model.supports[foot])[2:]] for foot in feet]


def rms(values):
    """Return the root mean square over the first axis."""
    return np.sqrt((values**2).mean(axis=0))


def table(head, rows):
    """Return a table in Markdown."""
    lines = ['| ' + ' | '.join(map(str, row)) + ' |' for row in (head, *rows)]
    return '\n'.join([lines[0], '|' + '---|' * len(head), *lines[1:]])


def keep(out, name, rows):
    """Write a table whose first row is its head into the folder of data."""
    place = out / 'data' / f'humanoid_{name}.csv'
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open('w', newline='', encoding='utf-8') as file:
        csv.writer(file, lineterminator='\n').writerows(rows)


def keep_logs(books, out):
    """Keep what a log says against itself."""
    rows = []
    for book in books:
        time = book.walk.time
        late, size = book.late()
        plates = book.loads[book.whole][:, :, 2].sum(axis=1).mean() / 9.81
        rows.append(
            (
                book.name,
                f'{time[-1] - time[0]:.1f}',
                f'{book.distance:.2f}',
                f'{book.distance / np.ptp(time[book.whole]):.3f}',
                f'{1e3 * late:.0f}',
                f'{size:.2f}',
                f'{1e3 * book.slides(book.logged):.0f} / {1e3 * book.slides(book.motion):.0f}',
                f'{plates:.1f}' if book.has_loads else '',
                f'{book.agrees(book.logged, 0):.2f} / {book.agrees(book.motion, 0):.2f}',
                f'{book.agrees(book.logged, 1):.2f} / {book.agrees(book.motion, 1):.2f}',
            )
        )
    head = (
        'walk',
        's',
        'm',
        'm/s',
        'rates late, ms',
        'their size',
        'sole slides, mm/s',
        'feet bear, kg',
        'x force',
        'y force',
    )
    keep(out, 'logs', [head, *rows])


def keep_torques(books, names, out):
    """Keep the residuals of the joints of each walk; return them for the figure."""
    found = []
    for book in books:
        told = book.walk.efforts[book.inner]
        short = [book.short(motion)[book.inner] for motion in (book.logged, book.motion)]
        found.append((book.name, rms(told), rms(short[0]), rms(short[1])))
    legs = sum(books[0].legs, [])
    rest = [j for j in range(6, len(names)) if j not in legs]
    kept = [('walk', 'joint', 'log, N m', 'residual, rates of the log', 'residual, rates of pos')]
    for name, *sizes in found:
        kept += [(name, names[j], *(f'{size[j]:.2f}' for size in sizes)) for j in (*legs, *rest)]
    keep(out, 'torques', kept)
    return found


def keep_loads(books, out):
    """Keep how far loads are from those of the plates, which were withheld."""
    head = ('walk', 'from torques', 'from the motion alone', "weight, shared as the sensors' is")
    rows = [
        (
            book.name,
            f'{100 * book.off(book.by_torques()):.1f}',
            f'{100 * book.off(book.by_motion()):.1f}',
            f'{100 * book.off(book.plates_share()):.1f}',
        )
        for book in books
    ]
    keep(out, 'loads', [head, *rows])


def keep_causes(books, out):
    """Keep what is left of the balance after each cause, fitted to the other walks."""
    parts = [book.balance() for book in books]
    kept = [('walk', 'explained by', *FORCES, 'fitted')]
    for i, book in enumerate(books):
        others = [part for j, part in enumerate(parts) if j != i]
        short = np.concatenate([short.ravel() for short, _ in others])
        columns = np.concatenate([causes.reshape(-1, 15) for _, causes in others])
        for cause, unknowns in CAUSES.items():
            found = np.zeros(15)
            if unknowns:
                found[unknowns] = np.linalg.lstsq(columns[:, unknowns], short, rcond=1e-8)[0]
            size = rms(parts[i][0] - parts[i][1] @ found)
            told = {
                'mass': f'{found[0]:+.2f} kg',
                'first moment': f'{found[1]:+.2f}, {found[2]:+.2f} kg m',
                'foot sensors': ', '.join(f'{x:+.0f}' for x in (*found[3:6], *found[9:12])) + ' N',
            }
            kept.append((book.name, cause, *(f'{x:.1f}' for x in size), told.get(cause, '')))
    keep(out, 'balance', kept)


def fall_section(books):
    """Return what each monitor says of each walk, and the outward excess of each."""
    rows, found = [], []
    for book in books:
        series = series_of(book.walk, book.motion)
        past = series['beyond_foot']
        lost = book.walk.time[past > 0.0]
        alone = phases_of(book.walk.contact) < 2
        margin = series['capture_point'][alone]
        spin = np.abs(book.motion['spin']).max()
        end = book.walk.time[-1]
        rows.append(
            (
                book.name,
                f'{1e3 * np.nanmax(past):+.0f}',
                f'{lost[0]:.2f} s, {end - lost[0]:.2f} s before the end' if len(lost) else 'none',
                f'{1e3 * np.nanmin(margin):+.0f}',
                f'{spin:.1f}',
            )
        )
        found.append((book.name, book.walk.time, past))
    head = (
        'walk',
        'beyond the outer edge, mm, most',
        'alarm',
        'capture margin on one foot, mm, least',
        'angular momentum, kg m^2/s, most',
    )
    return table(head, rows), found


def price_section(books):
    """Return the price of each walk."""
    return table(
        ('walk', 'm/s', "by the log's rates", "by the positions' rates"),
        (
            (
                book.name,
                f'{book.distance / np.ptp(book.walk.time[book.whole]):.3f}',
                f'{book.price(book.log.v):.3f}',
                f'{book.price(book.walk.v):.3f}',
            )
            for book in books
        ),
    )


def number(value):
    """Return numbers in short, those of a pair as mean and deviation."""
    if not isinstance(value, list):
        return f'{value:.4g}'
    if all(isinstance(part, list) for part in value):
        return '; '.join(number(part) for part in value)
    return ' ± '.join(f'{part:.4g}' for part in value)


def indicator_section(folder, out):
    """Write the table of published figures; return how many are met, and why others differ."""
    try:
        rows = reproduce_walks(folder)
    except InvalidInput as error:
        return f'None: {error}', ''
    good = sum(row['status'] == 'reproduced' for row in rows)
    worst = sorted(row['difference'] for row in rows)[good - 1]
    counts = (
        f'**{good} of {len(rows)}** agree within 2 %, the worst of them to {100 * worst:.1f} %; '
        f'{sum(not row["note"] for row in rows)} are also what their names promise'
    )
    letters = {words: f'({letter})' for letter, (_, words) in zip(LETTERS, SLIPS, strict=False)}
    cells = []
    for row in rows:
        why, _, named = row['note'].partition('; by its name ')
        for words in sorted(letters, key=len, reverse=True):
            why = why.replace(words, letters[words])
        cells.append(
            (
                row['what'],
                row['unit'],
                number(row['published']),
                number(row['ours']),
                f'{100 * row["difference"]:.1g}',
                why.replace('; ', ' '),
                number(json.loads(named)) if named else 'the same',
            )
        )
    legend = '\n'.join(f'- {letter} {words}' for words, letter in letters.items())
    head = ('indicator', 'unit', 'published', 'ours', 'off, %', 'slips', 'by name')
    keep(out, 'indicators', (head, *cells))
    return counts, legend


def draw(found, falls, names, legs, folder):
    """Draw residuals and the monitor as SVG; return nothing."""
    bars, axes = new_figure(1, width=5.2, height=3.4)
    width = 0.8 / max(len(found), 1)
    for i, (name, _, own, ours) in enumerate(found):
        at = np.arange(len(legs)) + (i - 0.5 * len(found)) * width
        axes[0].bar(at, ours[legs], width, color=COLOURS[i % len(COLOURS)], label=name)
        axes[0].bar(at, own[legs], width, color='black')
    axes[0].set_xticks(
        range(len(legs)), [names[j].removesuffix('_joint') for j in legs], rotation=90
    )
    bars.legend(loc='outside upper center', ncols=3, frameon=False)  # above the bars
    label(axes[0], 'Residual torque on one foot; black: with the rates of the log', 'N m')
    line, axes = new_figure(1, height=2.6)
    for i, (name, time, past) in enumerate(falls):
        axes[0].plot(time - time[-1], 1e3 * past, color=COLOURS[i % len(COLOURS)], label=name)
    axes[0].axhline(0.0, color='black', linewidth=1.0)
    axes[0].set_xlim(-8.0, 0.0)
    axes[0].legend(ncols=4)
    label(axes[0], 'Capture point beyond the outer edge of the only foot', 'mm', 's before the end')
    for name, figure in (('residuals', bars), ('fall', line)):
        with import_matplotlib().rc_context({'svg.hashsalt': 'books', 'svg.fonttype': 'none'}):
            path = folder / 'images' / f'humanoid_{name}.svg'
            path.parent.mkdir(parents=True, exist_ok=True)
            figure.savefig(path, format='svg', metadata={'Date': None})


PAGE = Path(__file__).with_name('humanoid_books.template.md')


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('folder', type=Path)
    parser.add_argument('--out', type=Path, default=Path('doc'))
    given = parser.parse_args()
    body, base = read_body(given.folder / 'robot.yaml')
    found = sorted({path.parent for path in given.folder.rglob('pos.csv*')})
    if not found:
        parser.error(f'{given.folder} holds no walk: no pos.csv')
    try:
        books = [
            Books(path, str(path.relative_to(given.folder)).removeprefix('runs/'), body, base)
            for path in found
        ]
    except InvalidInput as error:
        parser.error(str(error))
    names = [*base, *body[0].names[2:]]
    loaded = [book for book in books if book.has_loads]
    walked = [book for book in loaded if book.inner and book.has_torques]
    if not walked:
        parser.error(f'no walk in {given.folder} tells torques, loads and a whole step')
    residuals = keep_torques(walked, names, given.out)
    keep_logs(walked, given.out)
    falls, past = fall_section(books)
    counts, slips = indicator_section(given.folder, given.out)
    keep_loads(walked, given.out)
    keep_causes(walked, given.out)
    draw(residuals, past, names, sum(walked[0].legs, []), given.out)
    parts = {
        'mass': f'{pin.computeTotalMass(body[0]):.1f}',
        'walks': len(books),
        'falls': falls,
        'price': price_section(walked),
        'counts': counts,
        'slips': slips,
    }
    text = PAGE.read_text(encoding='utf-8')
    for name, part in parts.items():
        text = text.replace('{' + name + '}', str(part))
    page = given.out / 'humanoid_books.md'
    page.write_text(text, encoding='utf-8')
    print(f'wrote {page}: {len(books)} walks; {counts}')


if __name__ == '__main__':
    main()
