# SPDX-License-Identifier: Apache-2.0
"""Ten robots, and URDFs of them with one slip or two, each made anew from a seed alone."""

from copy import deepcopy
from functools import cache
from pathlib import Path
import random
import sys
import traceback
import warnings
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from static_robots import REAL, real_path
from stranger import rabbit_urdf

from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption.adopt import adopt
from walking_control.lab.experiments.check import check_robot
from walking_control.loading import load_robot

SHIPPED = ('compass', 'dribbel', 'walker3d', 'humanoid')
OTHERS = {
    **{name: urdf for name, (urdf, _) in REAL.items() if name != 'romeo'},
    'bolt': 'bolt_description/robots/bolt.urdf',
}
ROBOTS = (*SHIPPED, 'rabbit', *OTHERS)
NUMBERS = ('0', '-1', '1e-300', '1e30', '-1e9', 'nan', 'inf', '', 'x', '1e400', '1e-9')
KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'floating', 'planar', 'wheel', '')


@cache
def urdf_of(robot):
    """Return the URDF text of one of `ROBOTS`."""
    if robot in SHIPPED:
        return load_robot(robot).robot.urdf
    return rabbit_urdf() if robot == 'rabbit' else real_path(OTHERS[robot]).read_text()


def mutate(seed):
    """Return the URDF text that belongs to a seed, its robot, and in words what was done to it."""
    rng = random.Random(seed)
    robot = ROBOTS[seed % len(ROBOTS)]
    root, done = ElementTree.fromstring(urdf_of(robot)), []
    for _ in range(rng.choice((1, 1, 2))):
        slip = rng.choice(SLIPS)
        done.append(f'{slip.__name__.strip("_")}: {slip(rng, root)}')
    for element in root.iter():  # a name that a slip before took away is told as none
        element.attrib.update({key: value or '' for key, value in element.attrib.items()})
    return ElementTree.tostring(root, encoding='unicode'), robot, ', '.join(done)


def judge(seed, folder):
    """Return what is wrong with how adopt and check answer to a seed, or None.

    A traceback, a warning of NumPy, an answer of several lines or one that names neither a link nor
    a joint is wrong.
    """
    text, robot, done = mutate(seed)
    path = Path(folder) / f'{robot}.urdf'
    path.write_text(text, encoding='utf-8')
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('error', RuntimeWarning)
            adoption = adopt(path)
            said = [str(error) for error in adoption.suspicions]
            check_robot(adoption.write(folder)[0])
    except InvalidInput as error:
        said = [str(each) for each in (error, *error.others)]
        if not any(names_a_part(line) for line in said):
            return f'{robot}, {done}: names no part: {said[0][:300]}'
    except Exception:  # whatever it is
        return f'{robot}, {done}: {traceback.format_exc(limit=-3)}'
    lines = [line for line in said if '\n' in line]
    return f'{robot}, {done}: several lines: {lines[0]}' if lines else None


def names_a_part(line):
    """Return whether a refusal says which link or joint it means."""
    return any(word in line for word in ('link', 'joint', 'feet'))


def _parts(root):
    return [*root.findall('link'), *root.findall('joint')]


def _frame_added(rng, root):
    """Add a frame without mass: on a link, or as a new root below, above or beside the old one."""
    links = [link.get('name') for link in root.findall('link')]
    children = {child.get('link') for child in root.iterfind('joint/child')}
    top = next((name for name in links if name not in children), links[0])
    as_root = rng.random() < 0.5
    other = top if as_root else rng.choice(links)
    ends = ('new_frame', other) if as_root else (other, 'new_frame')
    SubElement(root, 'link', name='new_frame')
    joint = SubElement(root, 'joint', name='new_frame_joint', type='fixed')
    SubElement(joint, 'parent', link=ends[0])
    SubElement(joint, 'child', link=ends[1])
    place = ' '.join(rng.choice(('0', '0.5', '-0.5', '1', '-1.5')) for _ in range(3))
    turn = ' '.join(rng.choice(('0', '0', '1.5707963')) for _ in range(3))
    SubElement(joint, 'origin', xyz=place, rpy=turn)
    return f'{ends[0]} to {ends[1]} at {place}, {turn}'


def _tag_dropped(rng, root):
    part = rng.choice(_parts(root))
    parents = [element for element in part.iter() if len(element)]
    if not parents or rng.random() < 0.1:
        root.remove(part)
        return f'{part.tag} {part.get("name")}'
    parent = rng.choice(parents)
    child = rng.choice(list(parent))
    parent.remove(child)
    return f'{child.tag} of {part.get("name")}'


def _attribute_dropped(rng, root):
    part = rng.choice(_parts(root))
    element = rng.choice([element for element in part.iter() if element.attrib])
    name = rng.choice(sorted(element.attrib))
    del element.attrib[name]
    return f'{name} of {element.tag} of {part.get("name")}'


def _number_changed(rng, root):
    part = rng.choice(_parts(root))
    places = [
        (element, name)
        for element in part.iter()
        for name in sorted(element.attrib)
        if name not in ('name', 'link', 'joint', 'type', 'filename')
    ]
    if not places:
        return 'nothing'
    element, name = rng.choice(places)
    words = element.get(name).split() or ['0']
    words[rng.randrange(len(words))] = rng.choice((*NUMBERS, '1000', '-0.5'))
    element.set(name, ' '.join(words))
    return f'{name} of {element.tag} of {part.get("name")} is {element.get(name)!r}'


def _mimic(rng, root):
    joints = root.findall('joint')
    joint, other = rng.choice(joints), rng.choice(joints)
    number = rng.choice(('1', '-1', '0', 'nan'))
    SubElement(joint, 'mimic', joint=other.get('name'), multiplier=number, offset='0')
    return f'{joint.get("name")} of {other.get("name")}, {number}'


def _loop(rng, root):
    joint = rng.choice(root.findall('joint'))
    links = [link.get('name') for link in root.findall('link')]
    end = rng.choice(('parent', 'child'))
    joint.find(end).set('link', rng.choice(links))
    return f'{end} of {joint.get("name")} is {joint.find(end).get("link")}'


def _doubled(rng, root):
    part = rng.choice(_parts(root))
    if rng.random() < 0.5:
        root.append(deepcopy(part))
        return f'{part.tag} {part.get("name")}'
    other = rng.choice(root.findall(part.tag))
    part.set('name', other.get('name'))
    return f'a {part.tag} is called {other.get("name")}'


def _kind_changed(rng, root):
    joint = rng.choice(root.findall('joint'))
    joint.set('type', rng.choice(KINDS))
    return f'{joint.get("name")} is {joint.get("type")}'


def _inertial_dropped(rng, root):
    links = [link for link in root.findall('link') if link.find('inertial') is not None]
    link = rng.choice(links) if links else Element('link')
    for inertial in link.findall('inertial'):
        link.remove(inertial)
    return link.get('name')


SLIPS = (
    _frame_added,
    _tag_dropped,
    _attribute_dropped,
    _number_changed,
    _number_changed,
    _mimic,
    _loop,
    _doubled,
    _kind_changed,
    _inertial_dropped,
)

if __name__ == '__main__':  # python test/helpers/urdf_mutations.py FIRST BEYOND FOLDER
    wrong, seeds = 0, range(int(sys.argv[1]), int(sys.argv[2]))
    for seed in seeds:
        found = judge(seed, sys.argv[3])
        if found is not None:
            wrong += 1
            print(f'{seed}: {found}', flush=True)
    print(f'{len(seeds)} mutations, {wrong} answered wrongly')
    sys.exit(wrong > 0)
