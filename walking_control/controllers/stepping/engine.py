# SPDX-License-Identifier: Apache-2.0
"""The walking engine: what every law that walks a biped in space shares.

It knows what the robot is (`body`), where it shall look (`heading`) and go (`velocity`), what the
floor is like (`floor`), which foot stands and since when, how the body falls (`fall`), where and
when the next step lands (`plan`), how the foot gets there (`swing`), and which torques do what is
wanted (`program`). It chooses nothing: a law calls it tick by tick,

    engine.observe(state, values)          what the robot is
    engine.follow(reference, dt)           what is aimed at
    engine.has_landed(contact, dt)         then change_feet, which begins a step or stands
    engine.find_fall(), plan_step, ...     the step under way
    engine.act(standing, tasks, dt, command)

and chooses the tasks in between. `stepping_tasks` has those of plain stepping.
"""

from collections.abc import Iterable, Sequence
import math

import numpy as np

from walking_control.controllers import FootPlan, require_motors, SteppingParameters, Task
from walking_control.controllers.stepping.body import Body, RUBBING
from walking_control.controllers.stepping.floor import Floor
from walking_control.controllers.stepping.heading import Heading
from walking_control.controllers.stepping.prediction import Prediction
from walking_control.controllers.stepping.step_plan import (
    Aim,
    Fall,
    steady_aim,
    steady_offset,
    Step,
    step_limits,
    StepLimits,
    StepPlan,
    Swing,
)
from walking_control.controllers.stepping.swing import SwingFoot, SwingWay
from walking_control.controllers.stepping.touchdown import Descent, FAR, SLOW, Touchdown
from walking_control.controllers.stepping.velocity_aim import SLOWING, VelocityAim
from walking_control.controllers.stepping.whole_body import (
    FootContact,
    MotorLimits,
    STOP_GAP,
    WholeBody,
)
from walking_control.models import (
    Command,
    Dynamics,
    motor_efforts,
    project_velocity,
    Reference,
    RobotFile,
    ROOT,
    WalkerState,
    World,
)

LEFT, RIGHT = 0, 1
SIDE = (1.0, -1.0)
STILL = 0.6  # part of the support within which the fall must end for standing
LEANING = 1.2  # the same beyond which it cannot stand any more
SQUARE = 0.15  # of the length of a sole: feet that differ by less are side by side
SHALLOW = 0.1  # share of its height up to which one that is lowered may still step
FALLEN = 0.3  # part of the height below which a body has fallen, and the law lives on
SPARE = 0.2  # of what a leg gives its foot: what its task may ask for beyond what is planned
NEAR, MOVED = 0.1, 0.03  # m: how far a foothold is wished for from the planned one, and moved
AFTER = np.array([0.5, 1.0])  # so much of what the fall does late in a step a foot does, too,
FASTEST = 1.0  # m/s: and no faster, where the floor may be met early
ALMOST = 0.025  # rad: so near to straight a knee may get
SPINS, BRAKE = 1.0, 40.0  # rad/s, 1/s: a foot that stands and spins faster is braked so fast
# rad/s: a foot that stands and spins faster, smoothly (s), slides; not soon after touchdown (s);
# friction that is relied on again with each step
SLIDES, SMOOTHED, LANDED, REGAINED = 0.3, 0.02, 0.03, 0.01
MOST_PARTS = 25  # of the way of a foot in a silence
ANKLE = 0.9  # share of the sole that the centre of pressure is sent to


class WalkingEngine:
    """What is known, planned and commanded of a biped in space, tick by tick.

    Args:
        law: Name of the law, for errors.
        robot_file: The `RobotFile`; the left foot is the first.
        values: The parameters.
        velocity_lag: Time constant of the low-pass that joint velocities have gone through, s.

    Attributes:
        values: The parameters as of this tick.
        gravity: Along the floor's normal, m/s^2.
        body: What the robot is, foreseen over the delay.
        heading: Where it shall look.
        velocity: What is aimed at.
        floor: What is known of it.
        touchdown: What finds touchdowns.
        place: Of the base, m, ``(2,)``.
        walking: Whether it walks; it stands otherwise, or waits to.
        stance: Index of the foot that stands.
        steps: Touchdowns so far.
        fall: The pendulum, as `find_fall` found it last.
        plan: The step under way.
        swing: What the foot in the air shall do.
        program: The whole-body program.

    Raises:
        IncompatibleController: The base is not free, a joint has no motor, or there are not two
            feet.
    """

    def __init__(
        self,
        law: str,
        robot_file: RobotFile,
        values: SteppingParameters,
        velocity_lag: float = 0.0,
    ) -> None:
        robot, world = robot_file.robot, robot_file.values(World)
        require_motors(law, robot, biped=True)
        # on a slope the pendulum is that of gravity along the floor's normal, shifted downhill
        self.gravity = world.gravity * math.cos(world.slope)
        dynamics = Dynamics(robot, world.gravity, world.slope)
        self.body = Body(dynamics, world.gravity, values.compiled)
        size = self.body.size
        self.program = _make_program(self.body, values, robot_file.start.posture)
        late = values.delay + max(motor.torque_lag for motor in robot.actuators.values())
        self._prediction = Prediction(dynamics, late, velocity_lag, values.rate_smoothing)
        if robot_file.start.posture is not None:
            self.body.find_quickest_swing(robot_file.start.posture)
        self.touchdown = Touchdown(size)
        self.floor = Floor(FAR * size.length, math.tan(world.slope), size)
        limits = step_limits(values, self.body.quickest)
        self.plan = StepPlan(limits, values.compiled)
        self.swing = SwingFoot(size, values.compiled)
        self.heading, self.velocity = Heading(), VelocityAim(size)
        self.values = values
        self.reset()

    def reset(self) -> None:
        """Begin anew, standing."""
        self.walking, self.stance, self.steps = False, LEFT, 0
        self.fall = Fall(np.zeros(2), np.zeros(2), math.inf)
        for part in (
            self.heading,
            self.velocity,
            self.floor,
            self.touchdown,
            self._prediction,
        ):
            part.reset()
        self.plan.reset(self.values.step_time)
        self.program.contact.spin = 0.0
        self.program.contact.rely_on(self.values.friction)

    @property
    def dynamics(self) -> Dynamics:
        """Return the `Dynamics` of the robot."""
        return self.body.dynamics

    @property
    def ahead(self) -> float:
        """Return how much later than its measurement what is planned now acts, s."""
        return self._prediction.delay

    @property
    def soles(self) -> bool:
        """Return whether the feet have soles; points or blades otherwise."""
        return self.values.sole_length > 0.0

    @property
    def _sole(self) -> np.ndarray:
        return np.array([self.values.sole_length, self.values.sole_width])

    @property
    def limits(self) -> StepLimits:
        """Return what a step may be now."""
        limits, soonest = self.plan.limits, self.touchdown.trip.soonest
        return limits if soonest <= limits.shortest else limits._replace(shortest=soonest)

    @property
    def way(self) -> np.ndarray:
        """Return the swing foot from the stance foot, floor axes, m, ``(3,)``."""
        feet = self.body.feet
        return np.asarray(feet[1 - self.stance].position - feet[self.stance].position)

    @property
    def middle(self) -> np.ndarray:
        """Return the place half-way between the feet, floor axes, the base the origin, m."""
        return np.asarray(0.5 * (self.body.feet[LEFT].position + self.body.feet[RIGHT].position))

    @property
    def moving(self) -> Swing:
        """Return the leg in the air, its foot as it shall move."""
        swing, foot = self.swing, 1 - self.stance
        return Swing(
            SIDE[foot],
            swing.position,
            swing.velocity,
            self.body.feet[foot].hip,
            self.body.com,
            self.heading.angle,
            self.floor.rise,
        )

    def observe(self, state: WalkerState, values: SteppingParameters) -> None:
        """Take what is known of the robot, and the parameters of this tick.

        Args:
            state: What is known.
            values: The parameters of this tick.
        """
        self.values, base = values, state.base
        self.plan.limits = step_limits(values, self.body.quickest)
        self.place = base.position[:2]
        q = self.dynamics.configuration(state.position, base.orientation)
        v = np.concatenate((base.linear @ base.rotation, base.angular, state.velocity))
        self.body.update(*self._prediction.predict(q, v))
        self.floor.observe(state, values)
        self.heading.begin(self.body.yaw)

    def follow(self, reference: Reference, dt: float, slowing: float = SLOWING) -> None:
        """Move the aim towards what is commanded, within the limits, and the heading with it.

        Args:
            reference: What is commanded.
            dt: Of the tick, s.
            slowing: How many times faster it slows down than it speeds up; a stop does so at once,
                for the step plan knows what a step can do.
        """
        aim = self.velocity
        ends = self.floor.ends_within(aim.value[0] * self.values.step_time)
        aim.follow(reference, self.values, ends)
        aim.value = np.zeros(3) if reference.stop else aim.after(dt, slowing)
        self.heading.angle += aim.value[2] * dt

    def has_landed(self, contact: np.ndarray, dt: float) -> bool:
        """Count the time of the step; return whether its foot stands.

        Args:
            contact: What the feet's sensors say, ``(2,)``.
            dt: Of the tick, s.
        """
        plan, foot = self.plan, 1 - self.stance
        plan.elapsed += dt
        plan.count_down(dt - self.coming(dt))  # in a silence nobody planned
        self._see_foot()
        descent = Descent(
            foot,
            self.body.feet[foot].velocity,
            self.body.seen[2],
            self.swing.velocity,
            float(self.body.seen[0, 2] - self.swing.position[2]),
            plan.elapsed,
            plan.step.remaining,
        )
        return self.touchdown.has_come(contact, descent, self.values.step_time)

    def _see_foot(self) -> None:
        """See where the foot in the air is: in each tick, and when another one is lifted."""
        self.body.see_foot(self.floor.level, self._prediction.measured, self.stance)

    def foresee_impact(self) -> None:
        """Take the foot in the air for landed when this plan acts, before its sensor can tell.

        Velocities jump by the impact that brings it to rest while the other foot is free,
        M (v+ - v) = J^T lambda with J v+ = 0; measured ones will, too, when this tick has acted.
        """
        body, jacobian = self.body, self.body.feet[1 - self.stance].jacobian
        after = project_velocity(body.mass_matrix, jacobian.T, body.velocity)
        self._prediction.impact = after - body.velocity
        body.update(body.q, after[self.dynamics.pinocchio_order])

    def meet_edges(self) -> None:
        """Lift the foot in the air over an edge that it meets, or set it down before it."""
        plan, seen = self.plan, self.body.seen
        trip, touches = self.touchdown.trip, self.touchdown.scrapes
        axes = self.body.feet[1 - self.stance].rotation[:, :2]
        tilt = np.abs(self.floor.normal @ axes) @ self._sole if touches else 0.0
        met = trip.meets(
            touches,
            self.swing,
            seen[0],
            float(seen[0, 2] - 0.5 * tilt),
            seen[3],
            plan.elapsed,
            plan.step.remaining,
        )
        if met and trip.lowered:
            here, soon = self.heading.from_floor(seen[0, :2]), trip.soon
            plan.step = plan.step._replace(foothold=here, remaining=min(soon, self.values.early))

    def change_feet(self) -> None:
        """Let the swing foot stand; stand on both if there is nothing more to catch."""
        way, elapsed, foot = self.way, self.plan.elapsed, 1 - self.stance
        self.touchdown.end_step(foot)
        step = self.heading.from_floor(way[:2])
        self.velocity.trim.add(step, elapsed, self.velocity.begun_for, self.values.speed_trim)
        self.plan.stride = self.plan.stride[1], elapsed
        self.floor.end_step(way, self.body.feet[foot].position, self.lowering())
        self.stance, self.steps = foot, self.steps + 1
        contact = self.program.contact
        contact.rely_on(min(self.values.friction, contact.friction + REGAINED))
        if self.may_stand():
            self.walking = False
        else:
            self.begin_step(foot)

    def may_stand(self) -> bool:
        """Return whether nothing is asked for and nothing is left to catch."""
        asked = np.abs((self.velocity.wanted, self.velocity.value)).max()
        return (
            self.soles
            and bool(asked < SLOW * self.body.size.speed)
            and self.is_caught(STILL)
            and not self.must_square()
        )

    def must_step(self) -> bool:
        """Return whether one that stands must step: to go somewhere, or not to fall."""
        if not self.soles or np.abs(self.velocity.value).max() > SLOW * self.body.size.speed:
            return True
        return not self.is_caught(LEANING) or self.must_square()

    def must_square(self) -> bool:
        """Return whether feet must come side by side: it is being lowered, and is not low yet."""
        first, last = (foot.position[:2] for foot in self.body.feet)
        ahead = abs(self.heading.from_floor(last - first)[0])
        return bool(0.0 < self.velocity.crouch < SHALLOW and ahead > SQUARE * self._sole[0])

    def begin_walking(self) -> None:
        """Lift the foot towards which the robot falls; the right one if it does not."""
        sideways = self.heading.from_floor(self.divergent_point() - self.middle[:2])[1]
        self.velocity.trim.reset()
        self.begin_step(RIGHT if sideways > 1e-3 else LEFT)

    def take_over(self, state: WalkerState, values: SteppingParameters) -> None:
        """Begin anew in the middle of another law's step, to come to a stand.

        Args:
            state: What is known.
            values: The parameters.
        """
        self.reset()
        self.observe(state, values)
        if not state.contact.all():
            self.begin_step(state.support)
            self.plan.elapsed = state.stamp - state.touchdown

    def begin_step(self, stance: int) -> None:
        """Lift the foot that does not stand.

        Args:
            stance: Index of the one that does.
        """
        self.walking, self.stance = True, stance
        self.plan.begin()
        self.touchdown.begin_step()
        self.velocity.begun_for = self.velocity.value[:2].copy()
        self._see_foot()
        self.swing.start(*self.body.seen[:2])

    def is_caught(self, share: float) -> bool:
        """Return whether the fall ends within a share of the soles and what lies between."""
        point = self.divergent_point() - self.middle[:2]
        return bool(np.abs(self.within_support(point, share) - point).max() < 1e-9)

    def within_support(self, place: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Return the place of the support that is as far aside and, then, as far along its axis.

        The support is the hull of both soles: one that is moved from foot to foot, its axis. Where
        feet are one ahead of the other it is far less than the rectangle around them, and the
        nearest place of it is at another side of the axis.

        Args:
            place: From the middle between the feet, floor axes, m, ``(2,)``.
            share: Of the soles that counts.
        """
        feet, half = self.body.feet, 0.5 * share * self._sole
        axis = 0.5 * self.heading.from_floor((feet[RIGHT].position - feet[LEFT].position)[:2])
        aside, size = np.array([-axis[1], axis[0]]), axis @ axis
        place = self.heading.from_floor(place)
        most = half @ np.abs(aside)
        side = np.clip(aside @ place, -most, most) / size * aside
        along = axis @ place / size
        room = half + np.abs(axis) - np.sign(along * axis) * side
        along = math.copysign(min(abs(along), np.min(room / np.maximum(np.abs(axis), 1e-9))), along)
        return self.heading.to_floor(side + along * axis)

    def divergent_point(self) -> np.ndarray:
        """Return where the fall would end, floor axes, the base the origin, m, ``(2,)``."""
        body = self.body
        height = self.pendulum(body.com[2] - min(foot.position[2] for foot in body.feet))
        rate = math.sqrt(self.gravity / height)
        return np.asarray(body.com[:2] + body.momentum[:2] / (body.mass * rate))

    def pendulum(self, height: float) -> float:
        """Return a height of the centre of mass as that of a pendulum, which has not fallen, m."""
        return max(height, FALLEN * self.values.height)

    def find_fall(self) -> Fall:
        """Find the pendulum: centre of mass and its velocity, from the stance foot."""
        body, floor = self.body, self.floor
        self.fall = self.plan.fall(
            body.com,
            body.spin,
            body.momentum,
            body.feet[self.stance].position,
            floor.level,
            floor.downhill,
            self.heading.angle,
            (body.mass, self.gravity, self.pendulum(0.0)),
        )
        return self.fall

    def left_over(self) -> np.ndarray:
        """Return what the planned foothold leaves of the fall, were it to land now, m, ``(2,)``."""
        wanted, side = self.velocity.planned, SIDE[1 - self.stance]
        offset = steady_offset(wanted, side, self.fall.rate, self.limits)
        return np.asarray(self.fall.capture - self.plan.step.foothold - offset)

    def steady_aim(self, wanted: np.ndarray) -> Aim:
        """Return the `Aim` of steps at a velocity (m/s, rad/s), ``(3,)``."""
        return steady_aim(wanted, SIDE[1 - self.stance], self.plan.limits)

    def step_to(self, aim: Aim, dt: float = 0.0) -> Step:
        """Return the step that would be taken now to an `Aim`; nothing changes.

        `engine.step_to(engine.steady_aim(np.zeros(3))).missing` tells whether the robot would stop.

        Args:
            aim: What the step is for; its foothold is from the stance foot.
            dt: Time since the plan was made, s.
        """
        plan = self.plan
        return plan.search(
            self.fall,
            self.moving,
            aim,
            self.limits,
            np.zeros(2),
            plan.elapsed,
            plan.step.remaining,
            dt,
        )

    def plan_step(self, dt: float) -> None:
        """Plan foothold and time, longer over an edge; shortly before touchdown they are kept."""
        plan, tick = self.plan, self.coming(dt)
        self.meet_edges()
        if plan.keeps(self.values.early) and not self.touchdown.trip.lifts(plan.elapsed):
            plan.count_down(tick)
        else:
            plan.step = self.step_to(self.steady_aim(self.velocity.planned), dt=tick)

    def swing_on(self, clearance: float, dt: float, rough: bool = False) -> None:
        """Move what the swing foot shall do on to the foothold, over edges of the floor.

        Args:
            clearance: Height of the foot half-way, m.
            dt: Of the tick, s.
            rough: Whether the floor is: it may be met before its time.
        """
        plan, floor = self.plan, self.floor
        self._move_to_wish()
        foothold = self.heading.to_floor(plan.step.foothold)
        if floor.stairs is not None and plan.step.remaining > self.values.early:
            stance = self.body.feet[self.stance].position
            floor.move_foothold(foothold, stance, float(self.swing.position[0]))
            plan.step = plan.step._replace(foothold=self.heading.from_floor(foothold))
        floor.sink(dt)
        trip = self.touchdown.trip
        clearance = max(clearance, trip.over) if trip.met else clearance
        way = SwingWay(foothold, plan.step.remaining, clearance, floor.rise, floor.between)
        if trip.met or rough:
            rate = self.fall.rate
            growth = rate * math.exp(rate * max(way.remaining, 0.0))
            most = FASTEST * self.body.size.speed
            drift = np.clip(growth * self.fall.capture * AFTER, -most, most)
            way = way._replace(drift=self.heading.to_floor(drift), rate=rate)
        if trip.lifts(plan.elapsed):
            way = way._replace(over=trip.over, lifted=trip.until - plan.elapsed)
        dt = self.of_step(dt)
        # a silence is gone through in parts of two ticks
        parts = min(max(1, round(0.5 * dt * self.values.rate)), MOST_PARTS)
        part = dt / parts
        for i in range(parts - 1, -1, -1):
            self.swing.advance(way, plan.elapsed, part, self.values, part * i)
        self.hold_swing(self.values.swing_stiffness, self.values.swing_damping)

    def _move_to_wish(self) -> None:
        """Move the foothold towards the nearest one that is wished for, within the limits.

        What it is off the planned one the next step has to catch, so it is moved a little only.
        """
        if not self.values.footholds or self.plan.step.remaining <= self.values.early:
            return
        limits, size, step = self.limits, self.body.size, self.plan.step
        stance = self.place + self.body.feet[self.stance].position[:2]
        wishes = np.reshape(self.values.footholds, (-1, 2)) - stance
        ways = wishes - self.heading.to_floor(step.foothold)
        way = min(ways, key=lambda each: float(each @ each))
        far = math.hypot(*way)
        if far <= NEAR * size.length:
            share = min(1.0, MOVED * size.length / max(far, 1e-9))
            x, y = step.foothold + share * self.heading.from_floor(way)
            outward = SIDE[1 - self.stance] * y
            if abs(x) <= limits.reach and limits.narrowest <= outward <= limits.widest:
                self.plan.step = step._replace(foothold=np.array([x, y]))

    def hold_swing(self, stiffness: float, damping: float) -> None:
        """Let the swing foot be asked for no more than its leg can do; gains as of its task.

        Args:
            stiffness: Of the task of the foot, 1/s^2.
            damping: Likewise, 1/s.
        """
        able = min(1.0, self.values.swing_share + SPARE) * self.body.quickest
        gains = stiffness, damping, min(self.touchdown.trip.most(self.plan.elapsed), able)
        self.swing.hold(self.body.seen[0], self.body.seen[1], self.floor.tilted, gains)

    def lowering(self) -> float:
        """Return how much higher than usual over the stance foot the base shall be, m."""
        elapsed = self.plan.elapsed
        part = elapsed / max(elapsed + max(self.plan.step.remaining, 0.0), 1e-6)
        return self.floor.lowering(float(self.swing.position[2]), part)

    def on_sole(self, place: np.ndarray) -> np.ndarray:
        """Return the nearest place within the share of the sole that is pressed on, m."""
        most = (0.5 * ANKLE * self._sole).tolist()
        return np.array([min(max(x, -far), far) for x, far in zip(place.tolist(), most)])

    def act(
        self, standing: Sequence[int], tasks: Iterable[Task], dt: float, command: Command
    ) -> None:
        """Fill a `Command` with the torques that do what is wanted.

        Args:
            standing: Indices of the feet that stand.
            tasks: What is wanted.
            dt: Time since the last tick, s.
            command: Filled.
        """
        self.program.begin(standing)
        for task in tasks:
            task.add_to(self.program)
        torque = self.program.solve()
        self._prediction.remember(self.program.acceleration, self.coming(dt))
        body, robot = self.body, self.dynamics.robot
        command.effort[:] = torque[body.motors]
        command.acceleration[:] = self.program.acceleration[ROOT:][body.motors]
        if body.has_gear_losses:
            rates, limits = body.velocity[ROOT:][body.motors], robot.effort_limits
            effort = motor_efforts(robot, command.effort, rates, command.acceleration, RUBBING)
            command.effort[:] = np.clip(effort, -limits, limits)

    def coming(self, dt: float) -> float:
        """Return the time until the next tick, if it is as long as that since the last one, s.

        A silence before this tick tells nothing of the next one.
        """
        return min(dt, 2.0 / self.values.rate)

    def of_step(self, dt: float) -> float:
        """Return how much of the time since the last tick belongs to the step under way, s.

        A silence before its first tick was the last step's.
        """
        return self.coming(dt) if self.plan.elapsed == 0.0 else dt

    def brake_spin(self, dt: float, slippery: float, command: Command) -> None:
        """Brake a foot that stands on a corner of its sole, on which nothing else keeps it.

        The program takes it for held: the little that it asks of the hip turns the foot instead.
        One that spins for longer slides: from then on less friction is relied on. Sliding alone
        cannot be seen, for the place of the base is found from that foot.

        Args:
            dt: Of the tick, s.
            slippery: The friction that is relied on then.
            command: Efforts as the program has them.
        """
        body, foot, contact = self.body, self.body.feet[self.stance], self.program.contact
        turning = float(foot.velocity[5])
        contact.spin += min(1.0, dt / SMOOTHED) * (turning - contact.spin)
        if self.walking and self.plan.elapsed > LANDED and abs(contact.spin) > SLIDES:
            contact.rely_on(min(self.values.friction, slippery))
        if abs(turning) > SPINS:
            spin = turning - math.copysign(SPINS, turning)
            inertia = np.diag(body.mass_matrix)[ROOT:]
            command.effort[:] -= (BRAKE * spin * foot.jacobian[5, ROOT:] * inertia)[body.motors]

    def foot_plan(self) -> FootPlan:
        """Return where the feet are, where the next one shall land and where the fall would end."""
        feet, stance = self.body.feet, self.body.feet[self.stance].position
        foothold = None
        capture = stance.copy()
        if self.walking:
            foothold = stance.copy()
            foothold[:2] += self.heading.to_floor(self.plan.step.foothold)
            capture[:2] += self.heading.to_floor(self.fall.capture)
        else:
            capture[:2] = self.divergent_point()
        return FootPlan(
            np.array([foot.position for foot in feet]),
            np.array([math.atan2(foot.rotation[1, 0], foot.rotation[0, 0]) for foot in feet]),
            1 - self.stance if self.walking else None,
            foothold,
            capture,
            self.heading.angle,
            (self.values.sole_length, self.values.sole_width),
        )


def _make_program(body: Body, values: SteppingParameters, posture: np.ndarray | None) -> WholeBody:
    """Return the whole-body program of a robot, in Pinocchio's order of joints.

    A knee bends to the side of its posture alone: beyond straight it would be stuck, for a leg gets
    longer on the way back, and its foot would drag along the floor.
    """
    dynamics, robot = body.dynamics, body.dynamics.robot
    by_joint = np.argsort(body.motors)  # every joint has a motor
    motors, names = list(robot.actuators.values()), list(robot.actuators)
    limits = [robot.limits[names[i]] for i in by_joint]
    stops = np.array([[limit.lower, limit.upper] for limit in limits]).T
    for knee, straight in zip(body.knees, body.straight, strict=True):
        column = body.joint(knee)[2] - ROOT
        bent = 0.5 * float(stops[:, column].sum()) if posture is None else float(posture[knee])
        side = int(bent < straight)
        nearest = straight + (ALMOST - STOP_GAP) * (1.0 - 2.0 * side)
        if stops[0, column] < nearest < stops[1, column]:
            stops[side, column] = nearest
    return WholeBody(
        body,
        FootContact(
            values.sole_length,
            values.sole_width,
            values.friction,
            values.torsion,
            0.02 * dynamics.weight,
        ),
        MotorLimits(
            [motors[i] for i in by_joint],
            values.effort_share * robot.effort_limits[by_joint],
            np.array([limit.velocity for limit in limits]),
        ),
        stops,
        values.compiled,
        posture,
    )
