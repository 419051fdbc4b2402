# SPDX-License-Identifier: Apache-2.0
"""What a class defines itself, read from its text."""

import ast


def own_names(node):
    """Return the names that a class defines itself: methods, class variables, what it assigns."""
    names = {child.name for child in node.body if isinstance(child, ast.FunctionDef)}
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            names.add(child.id)
        if isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
            names.add(child.attr)
    return names
