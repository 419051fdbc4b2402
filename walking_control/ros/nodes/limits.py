# SPDX-License-Identifier: Apache-2.0
"""Messages and requests that become Python objects only up to a size.

rclpy turns what has arrived into objects while nothing else of the process runs: 1000 parameters
take 10 ms. It asks the class how (a function in C, in a capsule of the metaclass); ours looks at
the number of elements first, which every sequence and string of a ROS message in C tells in its
second word.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

from rclpy.type_support import check_for_type_support

_Convert = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p)
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
_name = ctypes.pythonapi.PyCapsule_GetName
_name.restype, _name.argtypes = ctypes.c_char_p, (ctypes.py_object,)
_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_kept: list[Any] = []  # what C calls must stay
SIZE = ctypes.sizeof(ctypes.c_void_p)  # bytes, where the number of elements stands


class Excess(NamedTuple):
    """Stands for a message that was not read.

    Args:
        elements: Of its first field.
    """

    elements: int


@cache
def limited(kind: Any, most: int) -> Any:
    """Return a message class that reads as `Excess` what has too many elements.

    Args:
        kind: Message class whose first field is a string or a sequence.
        most: Largest number of elements that is read.
    """
    check_for_type_support(kind)
    metaclass: Any = type(kind)
    told = metaclass._CONVERT_TO_PY
    convert = _Convert(_pointer(told, _name(told)))

    def judge(message: int) -> Any:
        count = ctypes.c_size_t.from_address(message + SIZE).value
        return Excess(count) if count > most else convert(message)

    called = _Convert(judge)
    _kept.append(called)
    ours = _capsule(ctypes.cast(called, ctypes.c_void_p), None, None)
    meta: Any = type(metaclass)
    reads = meta(metaclass.__name__, (metaclass,), {'_CONVERT_TO_PY': ours})
    return reads(kind.__name__, (kind,), {'__slots__': ()})


@cache
def limited_service(kind: Any, most: int) -> Any:
    """Return a service class whose requests are `limited`."""
    check_for_type_support(kind)
    meta: Any = type(kind)
    return meta(kind.__name__, (kind,), {'Request': limited(kind.Request, most)})
