"""How much memory an object takes with all that it holds."""

import gc
import sys
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    ModuleType,
)
from typing import Any, Final

from msgspec import Raw, Struct

_SHARED: Final = (type, ModuleType, FunctionType, BuiltinFunctionType, CodeType, FrameType)
"""What belongs to the program, and not to one object."""


def deep_size(top: object) -> int:
    """Return about how many bytes an object takes, with what can be reached from it."""
    seen: set[int] = set()
    waiting: list[Any] = [top]
    size = 0
    while waiting:
        each = waiting.pop()
        if id(each) in seen or isinstance(each, _SHARED):
            continue
        seen.add(id(each))
        if isinstance(each, Raw):  # it does not know its size
            size += len(bytes(each))
            continue
        size += sys.getsizeof(each)
        if isinstance(each, Struct):  # the collector does not know what some of them hold
            waiting += [getattr(each, name, None) for name in each.__struct_fields__]
        elif isinstance(each, dict):  # it does not show the collector keys that are strings
            waiting += [*each.keys(), *each.values()]
        elif not isinstance(each, str | bytes | int | float):
            waiting += gc.get_referents(each)
    return size
