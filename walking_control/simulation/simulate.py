# SPDX-License-Identifier: Apache-2.0
"""Walk a robot in a plant: the control loop without ROS."""

from walking_control.models.signals import Measurement
from walking_control.simulation.run import Recorder


def simulate(plant, loop, start, duration, progress=None):
    """Run a control loop on a plant and return the record.

    The run ends early when the control loop latches a fault.

    Args:
        plant: A `Plant`.
        loop: A `ControlLoop` for the same robot.
        start: The `Start`.
        duration: Simulated time, s.
        progress: Called with the simulated time now and then, e.g. to print it.

    Returns:
        The `Run`.
    """
    period = loop.period
    ticks = max(1, round(duration / period))
    plant.reset(start)
    loop.reset()
    measurement = Measurement(plant.robot)
    law = loop.controller
    recorder = Recorder(plant.robot, law.name, plant, ticks + 1, vars(law.values),
                        law.telemetry_fields(plant.robot))
    for tick in range(ticks + 1):
        plant.measure(measurement)
        command = loop.tick(measurement)
        recorder.record(plant, loop.state, command, law.write_telemetry)
        if loop.fault is not None:
            return recorder.finish(loop.fault.message)
        if tick < ticks:
            plant.step(command, period)
        if progress is not None and tick % 100 == 0:
            progress(plant.time)
    return recorder.finish()
