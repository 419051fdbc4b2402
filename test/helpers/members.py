# SPDX-License-Identifier: Apache-2.0
"""What a class defines itself, and what private members a file touches, read from their text."""

import ast

NAMED_TUPLE = {'_replace', '_asdict', '_fields', '_make'}  # public, by the library's own word


def own_names(node):
    """Return the names that a class defines itself: methods, class variables, what it assigns."""
    names = {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            names.add(child.attr)
    return names


def private_members(path):
    """Yield (node, mine, own) of the private members that a file touches.

    Mine: of ``self`` or ``cls``. Own: defined by the class in whose text it stands.
    """
    tree, owner = ast.parse(path.read_text(encoding='utf-8')), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            names = own_names(node)
            owner.update({id(child): names for child in ast.walk(node)})
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr in NAMED_TUPLE:
            continue
        if not node.attr.startswith('_') or node.attr.endswith('__'):
            continue
        mine = isinstance(node.value, ast.Name) and node.value.id in ('self', 'cls')
        yield node, mine, node.attr in owner.get(id(node), ())
