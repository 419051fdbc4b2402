# SPDX-License-Identifier: Apache-2.0
"""A film of a walk that shows the robot as it looks, with the meshes of its description.

    python examples/mesh_film.py my_robot.yaml --duration 6 --set stepping.speed=0.3 --out film.gif

MuJoCo draws, with the graphics of this machine; MUJOCO_GL=egl needs no screen. The robot walks as
by `walking_control simulate`. Where nothing can be drawn so, the film of `simulate --out` remains.
"""

import argparse
import os
from pathlib import Path
import re
import sys

import mujoco
import numpy as np
from PIL import Image
import yaml

import walking_control as wc
from walking_control.models.resources import place_meshes

RATE, WIDTH, HEIGHT = 20.0, 480, 360  # frames a second; pixels


def scene_of(robot, slope):
    """Return a MuJoCo model of the robot's looks, free over a chequered floor.

    Args:
        robot: The `Robot`.
        slope: Of the floor, rad, downhill positive; the picture leans, the floor does not.
    """
    own = re.sub(r'<mujoco.*?</mujoco>', '', place_meshes(robot.urdf, robot.meshes), flags=re.S)
    text = own.replace(
        '</robot>',
        '<mujoco><compiler strippath="false" discardvisual="false" fusestatic="false"/></mujoco>'
        '</robot>',
    )
    spec = mujoco.MjSpec.from_string(text)
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    spec.visual.headlight.ambient = spec.visual.headlight.diffuse = [0.3, 0.3, 0.3]
    base = next(body for body in spec.bodies if body.name == robot.base_link)
    base.add_freejoint(name='base')
    spec.add_texture(
        name='floor',
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.5, 0.53, 0.57],
        rgb2=[0.4, 0.43, 0.48],
        width=256,
        height=256,
    )
    textures = [''] * int(mujoco.mjtTextureRole.mjNTEXROLE)
    textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = 'floor'
    spec.add_material(name='floor', textures=textures, texrepeat=[1, 1], texuniform=True)
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.01], material='floor', contype=0
    )
    spec.worldbody.add_light(
        type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, pos=[0, 0, 4], dir=[np.sin(slope), 0.3, -1]
    )
    spec.add_texture(
        name='sky',
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=[0.68, 0.76, 0.86],
        width=64,
        height=64,
    )
    return spec.compile()


def pictures_of(run, model):
    """Yield the pictures of a run, `RATE` a second, seen from ahead and the side.

    Args:
        run: The `Run`.
        model: From `scene_of`.
    """
    data, base, robot = mujoco.MjData(model), run.base, run.robot
    places = [model.joint(name).qposadr[0] for name in robot.joints]
    start = model.joint('base').qposadr[0]
    camera = mujoco.MjvCamera()
    camera.azimuth, camera.elevation = 135.0, -12.0
    tall = float(base.position[0, 2])
    camera.distance = 3.6 * tall
    times = np.arange(0.0, run.time[-1], 1.0 / RATE)
    with mujoco.Renderer(model, HEIGHT, WIDTH) as renderer:
        for row in np.searchsorted(run.time, times):
            data.qpos[start : start + 3] = base.position[row]
            x, y, z, w = base.orientation[row]
            data.qpos[start + 3 : start + 7] = w, x, y, z
            data.qpos[places] = run.joints[row]
            mujoco.mj_forward(model, data)
            camera.lookat[:] = base.position[row, 0], base.position[row, 1], 0.95 * tall
            renderer.update_scene(data, camera)
            yield Image.fromarray(renderer.render()).quantize(96)


def main():
    """Walk and film."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('robot', help='robot file, or name of a shipped robot')
    parser.add_argument('--controller', help='its name (default: of the robot file)')
    parser.add_argument('--duration', type=float, default=6.0, help='s')
    parser.add_argument('--set', action='append', default=[], metavar='NAME=VALUE')
    parser.add_argument('--out', type=Path, default=Path('film.gif'))
    given = parser.parse_args()
    overrides = [
        (name, yaml.safe_load(value)) for name, _, value in (s.partition('=') for s in given.set)
    ]
    try:
        robot_file = wc.load_robot(given.robot, overrides)
        run = wc.simulate(robot_file, given.controller, duration=given.duration)
        frames = list(pictures_of(run, scene_of(run.robot, run.world.slope)))
    except wc.WalkingControlError as error:
        sys.exit(f'error: {error}')
    except (mujoco.FatalError, AttributeError, RuntimeError, ValueError) as error:
        where = os.environ.get('MUJOCO_GL', 'not set')
        print(f'error: MuJoCo draws nothing here (MUJOCO_GL {where}): {error}', file=sys.stderr)
        sys.exit(2)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    frames[0].save(
        given.out, save_all=True, append_images=frames[1:], duration=round(1e3 / RATE), loop=0
    )
    print(f'wrote {given.out}: {len(frames)} pictures of {run.robot.name}')


if __name__ == '__main__':
    main()
