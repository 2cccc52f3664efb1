"""From the arguments of a call to its request: data, which somebody else sends."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from turnwire_agent.tools.contract import ToolFailed
from turnwire_agent.tools.openapi.operations import HttpOperation
from turnwire_agent.tools.openapi.parameters import Parameter

TARGET_MAX: Final = 8_000
"""Most characters of path and query: what most servers take."""

_STEPS: Final = re.compile(r"[/\\]")
_VISIBLE: Final = re.compile(r"[\x20-\x7e]*")


class HttpRequest(Struct, frozen=True):
    """One request, without address and credential."""

    method: str
    target: str
    """Path and query, percent-encoded, to be put behind the address."""
    headers: Mapping[str, str]
    body: bytes | None = None

    def __repr__(self) -> str:
        return f"HttpRequest({self.method!r}, …)"


def request_of(operation: HttpOperation, arguments: Mapping[str, Any]) -> HttpRequest:
    """Write the request of a call. The arguments are valid by the schema of the operation.

    Raises:
        ToolFailed: an argument cannot be written where it belongs. It names the argument, and
            never shows its value.
    """
    path, query, headers = operation.path, list[str](), dict[str, str]()
    filled = dict[str, str]()
    for each in operation.parameters:
        value = arguments.get(each.argument)
        if value is None and each.location != "path":
            continue
        match each.location:
            case "path":
                filled[each.name] = _joined(each, value)
            case "query":
                query += _pairs(each, value)
            case _:
                headers[each.name] = _header(each, _joined(each, value))
    segments = [_segment(operation, segment, filled) for segment in path.split("/")]
    target = "/".join(segments) + (f"?{'&'.join(query)}" if query else "")
    if len(target) > TARGET_MAX:
        raise ToolFailed(f"The arguments are too long for an address: {TARGET_MAX} characters.")
    if operation.body is None or operation.body not in arguments:
        return HttpRequest(operation.method, target, headers)
    headers["content-type"] = operation.body_type
    body = msgspec.json.encode(arguments[operation.body])
    return HttpRequest(operation.method, target, headers, body)


def _segment(operation: HttpOperation, segment: str, filled: Mapping[str, str]) -> str:
    """Fill the holes of a segment with what stays in it.

    `.`, `..` and nothing are steps to somewhere else for whoever reads the path, also when they
    are percent-encoded. A `/` is one for servers that unpack the path before they read it.
    """
    holes = re.split(r"\{([^{}]+)\}", segment)
    if len(holes) == 1:
        return segment
    plain = "".join(filled[each] if at % 2 else each for at, each in enumerate(holes))
    names = ", ".join(f"`{each}`" for each in holes[1::2])
    if {"", ".", ".."} & set(_STEPS.split(plain)) or not all(filled[each] for each in holes[1::2]):
        raise ToolFailed(f"{names} is a part of a path: neither empty, nor `.`, nor `..`.")
    if not operation.slashes and _STEPS.search(plain):
        raise ToolFailed(f"{names} is a part of a path: it has no slash.")
    if any(character < " " or character == "\x7f" for character in plain):
        raise ToolFailed(f"{names} is a part of a path: it has no control characters.")
    return "".join(_encoded(filled[each]) if at % 2 else each for at, each in enumerate(holes))


def _pairs(parameter: Parameter, value: Any) -> Iterable[str]:
    name = _encoded(parameter.name)
    if parameter.explode and isinstance(value, list):
        return [f"{name}={_encoded(_text(parameter, each))}" for each in value]
    if isinstance(value, list):
        return [f"{name}={','.join(_encoded(_text(parameter, each)) for each in value)}"]
    return [f"{name}={_encoded(_text(parameter, value))}"]


def _header(parameter: Parameter, text: str) -> str:
    """A line break would be the end of the header, and the begin of another."""
    if not _VISIBLE.fullmatch(text):
        raise ToolFailed(f"`{parameter.argument}` is a header: visible ASCII characters alone.")
    return text.strip()


def _joined(parameter: Parameter, value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ",".join(_text(parameter, each) for each in values)


def _text(parameter: Parameter, value: Any) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return msgspec.json.encode(value).decode()
        case _:
            raise ToolFailed(f"`{parameter.argument}` is a text, a number, or a list of them.")


def _encoded(text: str) -> str:
    """Percent-encode all but letters, digits, `-`, `.`, `_` and `~`."""
    return quote(text.encode("utf-8", "replace"), safe="")
