# SPDX-License-Identifier: Apache-2.0
"""Time of one tick of the laws in space against the native work in it, in one run.

Native work is what the law cannot do without: Pinocchio's terms of the body at that tick, and the
quadratic program as the solver gets it. Everything between them is the law, plain or compiled
(``compiled: true``), estimator and safety. Walker3d walks at 0.6 m/s in MuJoCo with the sensors of
preset lab; times are of the thread, medians over the ticks, the load of the machine is printed
beside them. Last, how far the plain and the compiled law are apart after a walk of true state.

Run: python benchmarks/space_tick.py [LAW ...] [--seconds 4]
"""

import argparse
import itertools
import os
import sys
import time

import numpy as np
import pinocchio as pin

import walking_control as wc
from walking_control.controllers.stepping import body
from walking_control.simulation.registry import make_plant
from walking_control.simulation.sensors import noise_overrides

LAWS = ('stepping', 'natural_walking')
TARGET = 5.0  # tick over native work
SPEED = 0.6  # m/s


class Clock:
    """Thread time that calls of a function have taken since it was last read, s."""

    def __init__(self, function):
        self._function, self._spent = function, 0.0

    def __call__(self, *args):
        begin = time.thread_time()
        try:
            return self._function(*args)
        finally:
            self._spent += time.thread_time() - begin

    def read(self):
        """Return the time, and begin anew."""
        spent, self._spent = self._spent, 0.0
        return spent


def walk(law, compiled, seconds):
    """Return times of ticks, of the program in them and of the terms in them, s, ``(T, 3)``."""
    robot_file = wc.load_robot(
        'walker3d',
        [*noise_overrides('lab'), (f'{law}.speed', SPEED), (f'{law}.compiled', compiled)],
    )
    plant, loop = make_plant(robot_file, None, robot_file.robot), wc.ControlLoop(robot_file, law)
    plant.reset(robot_file.start)
    loop.reset()
    terms = Clock(pin.computeAllTerms)
    body.pin.computeAllTerms, original = terms, pin.computeAllTerms
    program = Clock(loop.controller.engine.program.solver)
    loop.controller.engine.program.solver = program
    measurement, rows = wc.Measurement(robot_file.robot), []
    try:
        for _ in range(round(seconds / loop.period)):
            plant.measure(measurement)
            begin = time.thread_time()
            command = loop.tick(measurement)
            rows.append((time.thread_time() - begin, program.read(), terms.read()))
            if loop.fault is not None:
                raise SystemExit(f'{law}: {loop.fault}')
            plant.step(command, loop.period)
    finally:
        body.pin.computeAllTerms = original
    return np.array(rows)[len(rows) // 4 :]  # what is new at first is left out


def main():
    """Print a row for each law; return whether all keep the target."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('laws', nargs='*', default=LAWS)
    parser.add_argument('--seconds', type=float, default=4.0)
    options = parser.parse_args()
    print(f'load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors')
    print('| law | compiled | tick, us | program, us | terms, us | tick / native |')
    print('|---|---|---|---|---|---|')
    kept = True
    for law, compiled in itertools.product(options.laws, (False, True)):
        tick, program, terms = np.median(walk(law, compiled, options.seconds), axis=0) * 1e6
        ratio = tick / (program + terms)
        kept &= not compiled or bool(ratio <= TARGET)
        print(
            f'| {law} | {compiled} | {tick:.0f} | {program:.0f} | {terms:.0f} | {ratio:.1f} |',
            flush=True,
        )
    for law in options.laws:
        plain, compiled = (
            wc.simulate(
                wc.load_robot('walker3d', [(f'{law}.speed', SPEED), (f'{law}.compiled', choice)]),
                law,
                duration=options.seconds,
            )
            for choice in (False, True)
        )
        print(
            f'{law}: joints {np.abs(plain.q - compiled.q).max():.0e} rad apart after '
            f'{options.seconds:g} s'
        )
    return kept


if __name__ == '__main__':
    sys.exit(not main())
