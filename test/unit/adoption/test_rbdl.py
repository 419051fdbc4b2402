# SPDX-License-Identifier: Apache-2.0
"""A model of RBDL in Lua is read as data, and becomes a robot."""

from xml.etree import ElementTree

from measured_set import MODEL
import numpy as np
import pinocchio as pin
import pytest

from walking_control.exceptions import InvalidInput
from walking_control.lab.adoption.description import read_description
from walking_control.lab.adoption.rbdl import read_lua, urdf_of_lua


def write(folder, text):
    """Return the path of a model."""
    path = folder / 'box.lua'
    path.write_text(text, encoding='utf-8')
    return path


def test_model_has_masses_axes_and_places_of_the_table(tmp_path):
    """Frames would be turned the other way, and all torques of the robot wrong."""
    path = write(tmp_path, MODEL)
    model = pin.buildModelFromXML(urdf_of_lua(path))
    data = model.createData()
    q = pin.neutral(model)
    q[model.joints[model.getJointId('left_joint')].idx_q] = 0.3
    pin.framesForwardKinematics(model, data, q)
    left = data.oMf[model.getFrameId('left_link')]
    # x of the foot points down at zero, so that its axis z points ahead: it turns y towards z
    assert left.translation == pytest.approx([0.0, 0.1, -0.5], abs=1e-9)
    assert left.rotation @ [0.0, 0.0, 1.0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
    assert left.rotation @ [1.0, 0.0, 0.0] == pytest.approx(
        [0.0, np.sin(0.3), -np.cos(0.3)], abs=1e-9
    )
    assert pin.computeTotalMass(model) == pytest.approx(2.0)  # the root is the world's here
    kinds = {
        j.get('name'): j.get('type')
        for j in ElementTree.fromstring(urdf_of_lua(path)).iter('joint')
    }
    assert kinds == {'left_joint': 'revolute', 'right_joint': 'revolute', 'head_joint': 'prismatic'}
    assert read_description(path).kind == 'Lua'


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ('return model', 'os.execute("touch x")\nreturn model', 'one table'),
        ('return model', 'return other', 'one table'),
        ('mass = 10.0', 'mass = weigh(3)', 'weigh'),
        ('mass = 10.0', 'mass = ', 'frames|data'),
        ('}}\nreturn', '}\nreturn', 'data'),
        ('frames', 'frame', 'frames'),
        ('{ {1, 0, 0, 0, 0, 0} }', '{ {1, 0, 0, 0, 0, 0}, {0, 1, 0, 0, 0, 0} }', 'several axes'),
        ('{ {1, 0, 0, 0, 0, 0} }', '{ {1, 0, 0, 0, 0, 1} }', 'several axes'),
        ('parent = "ROOT"', 'parent = "left_link"', 'axes'),
        ('parent = "ROOT",', '', 'parent'),
        ('{{0.2, 0, 0}, {0, 0.3, 0}, {0, 0, 0.1}}', '{0.2, 0.3, 0.1}', 'as RBDL does'),
    ],
)
def test_what_is_no_table_of_data_is_refused(tmp_path, old, new, words):
    """Code would be run or skipped silently, or a model of another form read as a robot."""
    assert old in MODEL
    with pytest.raises(InvalidInput, match=words) as refused:
        urdf_of_lua(write(tmp_path, MODEL.replace(old, new, 1)))
    assert '\n' not in str(refused.value) and not (tmp_path / 'x').exists()


def test_tables_are_lists_or_mappings(tmp_path):
    """Comments, semicolons and nested tables would be misread."""
    path = write(
        tmp_path, 'local a = { b = {1; -2.5e-1}, --[[c]] d = "e f", g = {} -- h\n}\nreturn a'
    )
    assert read_lua(path) == {'b': [1, -0.25], 'd': 'e f', 'g': {}}
