# SPDX-License-Identifier: Apache-2.0
"""YAML without surprises.

A key that stands twice is refused instead of the first one lost; so are whole numbers beyond any
float and nodes that hold themselves, which end the code behind in tracebacks.
"""

from collections.abc import Hashable
import sys
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a mapping in which a key stands twice; merged (``<<``) keys may be overridden."""
        seen = set()
        for key_node, _ in node.value:
            if key_node.tag == 'tag:yaml.org,2002:merge':
                continue
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable):
                if key in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, f'the key {key} stands twice', key_node.start_mark)
                seen.add(key)
        return super().construct_mapping(node, deep)


def _read_integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    value = loader.construct_yaml_int(node)
    if abs(value) > sys.float_info.max:
        raise yaml.constructor.ConstructorError(None, None, 'the number is too large',
                                                node.start_mark)
    return value


_Loader.add_constructor('tag:yaml.org,2002:int', _read_integer)


def load_yaml(text: str) -> Any:
    """Return what a YAML text says, in plain types.

    Raises:
        yaml.YAMLError: It is not YAML, a key of a mapping stands twice, a number is too large or a
            node holds itself.
    """
    try:
        document = yaml.load(text, _Loader)
        _refuse_loops(document, ())
    except (ValueError, RecursionError) as error:   # of a date that is none, or nested too deep
        raise yaml.YAMLError(f'{type(error).__name__}: {error}') from error
    return document


def _refuse_loops(node: object, above: tuple[int, ...]) -> None:
    if not isinstance(node, (dict, list)):
        return
    if id(node) in above:
        raise yaml.YAMLError('a node holds itself')
    for child in node.values() if isinstance(node, dict) else node:
        _refuse_loops(child, (*above, id(node)))
