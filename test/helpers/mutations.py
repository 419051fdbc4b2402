# SPDX-License-Identifier: Apache-2.0
"""Strategies that spoil good input: a document with a leaf replaced, removed or moved."""

from copy import deepcopy

from hypothesis import strategies as st

# what people and exporters leave in files, and what breaks careless readers
ODD = st.one_of(
    st.sampled_from(
        [
            None,
            True,
            '',
            ' ',
            '..',
            '../../evil',
            '/tmp/evil',
            'a\nb',
            'a\0b',
            'x' * 300,
            '\N{GREEK SMALL LETTER ALPHA}',
            '${x}',
            '{',
            '1e3',
            '.nan',
            'nan',
            [],
            {},
            [None],
            [[]],
            {'a': {}},
            0,
            -1,
            10**400,
            1e300,
            -1e300,
            1e-300,
            float('nan'),
            float('inf'),
            -0.0,
        ]
    ),
    st.integers(-3, 1000),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.floats(), max_size=4),
    st.dictionaries(st.text(max_size=3), st.floats(), max_size=2),
)


def places(tree, prefix=()):
    """Return the path of every node of nested lists and dictionaries, the root left out."""
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    found = []
    for key, value in entries:
        found.append((*prefix, key))
        if isinstance(value, (dict, list)):
            found += places(value, (*prefix, key))
    return found


def at(tree, path):
    """Return the node of a path."""
    for key in path:
        tree = tree[key]
    return tree


@st.composite
def spoilt(draw, tree, most=2):
    """Return a copy of a document with one node or more replaced, removed, moved or renamed."""
    tree = deepcopy(tree)
    for _ in range(draw(st.integers(1, most))):
        paths = places(tree)
        if not paths:
            break
        *parents, key = draw(st.sampled_from(paths))
        parent, how = (
            at(tree, parents),
            draw(
                st.sampled_from(
                    ('replace', 'replace', 'replace', 'remove', 'move', 'rename', 'scale')
                )
            ),
        )
        if how == 'replace':
            parent[key] = draw(ODD)
        elif how == 'remove':
            del parent[key]
        elif how == 'move':
            parent[key] = deepcopy(at(tree, draw(st.sampled_from(paths))))
        elif how == 'rename' and isinstance(parent, dict):
            parent[draw(st.text(max_size=6))] = parent.pop(key)
        elif how == 'scale' and isinstance(parent[key], float):
            parent[key] = parent[key] * draw(st.sampled_from((-1.0, 0.0, 1e-6, 1e3, 1e200)))
    return tree


@st.composite
def spoilt_text(draw, text):
    """Return a text with a piece cut out, doubled or replaced."""
    begin = draw(st.integers(0, len(text) - 1))
    end = min(len(text), begin + draw(st.integers(0, 80)))
    piece = draw(
        st.one_of(
            st.just(''),
            st.just(2 * text[begin:end]),
            st.text(max_size=8),
            st.sampled_from(
                ('\t', '<', '"', ': ', '- ', '&a', '*a', '!!python/none', '\0', '\ufeff', '# ')
            ),
        )
    )
    return text[:begin] + piece + text[end:]


@st.composite
def spoilt_element(draw, root):
    """Return a copy of an XML element with attributes or elements spoilt."""
    root = deepcopy(root)
    for _ in range(draw(st.integers(1, 2))):
        parents = [element for element in root.iter() if len(element) or element.attrib]
        element = draw(st.sampled_from(parents))
        names = sorted(element.attrib)
        how = draw(
            st.sampled_from(('attribute', 'attribute', 'attribute', 'remove', 'double', 'drop'))
        )
        if how == 'attribute' and names:
            name = draw(st.sampled_from(names))
            element.set(
                name,
                draw(
                    st.one_of(
                        st.sampled_from(
                            (
                                '',
                                '0',
                                '-1',
                                '1e300',
                                'nan',
                                'inf',
                                'x',
                                '0 0',
                                '0 0 0 0',
                                '1 1 1',
                                '1e-300 0 0',
                                'nan 0 0',
                                '../../evil',
                                'base',
                                'fixed',
                                'floating',
                                'planar',
                                'prismatic',
                                'continuous',
                            )
                        ),
                        st.floats().map(str),
                        st.sampled_from(
                            [
                                other.get(name)
                                for other in root.iter()
                                if other.get(name) is not None
                            ]
                        ),
                    )
                ),
            )
        elif how == 'drop' and names:
            del element.attrib[draw(st.sampled_from(names))]
        elif len(element):
            child = element[draw(st.integers(0, len(element) - 1))]
            element.remove(child)
            if how == 'double':
                element.extend((child, deepcopy(child)))
    return root
