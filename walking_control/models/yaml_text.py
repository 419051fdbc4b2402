# SPDX-License-Identifier: Apache-2.0
"""YAML without surprises: a key that stands twice is refused instead of the first one lost."""

from collections.abc import Hashable

import yaml


class _Loader(yaml.SafeLoader):
    def construct_mapping(self, node, deep=False):
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


def load_yaml(text):
    """Return what a YAML text says, in plain types.

    Raises:
        yaml.YAMLError: It is not YAML, or a key of a mapping stands twice.
    """
    return yaml.load(text, _Loader)
