"""What is wrong with plain values of settings, in a line that begins with the setting's name."""

import difflib
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

S = TypeVar("S", bound=Struct)

_KINDS: Final = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "an array",
    "object": "a table",
}
"""Words of TOML for those of msgspec."""
_PLACE: Final = re.compile(r"(?P<text>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`")
_EXPECTED: Final = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_NO_CHOICE: Final = re.compile(r"Invalid enum value (.+)", re.DOTALL)


class BadValueError(ValueError):
    """A value that is no setting. The text is one line, with the dotted name of the setting."""

    def __init__(self, line: str) -> None:
        # Names and values are the operator's own, and a quoted key of TOML may have a line break.
        super().__init__(line if line.isprintable() else line.encode("unicode_escape").decode())


def struct_of(kind: type[S], values: Any, name: str = "") -> S:
    """Make settings of plain values. A text stands for a number or a boolean, too.

    Args:
        kind: What they are.
        values: As TOML has them.
        name: Where they stand, as `mcp.files`; empty: they are the whole.

    Raises:
        BadValueError: one does not fit, or there is no such setting.

    """
    if isinstance(values, Mapping):
        for key in values:
            if key not in kind.__struct_fields__:
                raise BadValueError(_unknown(kind, name, key))
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise BadValueError(_line(kind, str(error), name)) from None


def _unknown(kind: type[Struct], name: str, key: str) -> str:
    similar = difflib.get_close_matches(key, kind.__struct_fields__, n=1)
    hint = f"; did you mean {similar[0]}?" if similar else ""
    return f"{_dotted(name, key)}: there is no such setting{hint}"


def _line(kind: type[Struct], text: str, name: str) -> str:
    place = _PLACE.fullmatch(text)
    path = ""
    if place:
        text, path = place["text"], place["path"]
    name = _dotted(name, path)
    if missing := _MISSING.fullmatch(text):
        return f"{_dotted(name, missing[1])}: must be given"
    if expected := _EXPECTED.fullmatch(text):
        wanted, got = (_in_toml(each) for each in expected.groups())
        return f"{name}: expected {wanted}, got {got}"
    if choice := _NO_CHOICE.fullmatch(text):
        return f"{name}: {choice[1]} is none of {', '.join(_choices(kind, path))}"
    # What our own rules say may begin with the name itself.
    return text if not name or text.startswith(f"{name}.") else f"{name}: {text}"


def _dotted(name: str, more: str) -> str:
    return f"{name}.{more}" if name and more else name or more


def _in_toml(kinds: str) -> str:
    """`str | null` as `a string`: in TOML nothing is null."""
    names = [each for each in kinds.split(" | ") if each != "null"]
    return " or ".join(_KINDS.get(each, each) for each in names)


def _choices(kind: type[Struct], field: str) -> list[str]:
    """The words that a field takes, if it takes words alone, or nothing."""
    hint = get_type_hints(kind)[field]
    options = get_args(hint) if get_origin(hint) is not Literal else (hint,)
    return [word for each in options for word in get_args(each)]
