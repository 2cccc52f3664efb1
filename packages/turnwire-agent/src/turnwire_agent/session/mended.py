"""Text that can be written: without halves of surrogate pairs, which have no UTF-8."""

import re
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def mended(value: Any) -> Any:
    """The same value with U+FFFD for each half of a surrogate pair, at any depth."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, tuple | list):
        return type(value)(map(mended, value))
    if isinstance(value, dict):
        return {mended(key): mended(each) for key, each in value.items()}
    if isinstance(value, Struct):
        changed = {name: mended(getattr(value, name)) for name in value.__struct_fields__}
        return replace(value, **changed)
    return value
