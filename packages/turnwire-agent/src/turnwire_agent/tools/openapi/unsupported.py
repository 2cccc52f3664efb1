"""What of OpenAPI is not supported. Each thing has a name, and is refused by it."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

UNSUPPORTED: Final[Mapping[str, str]] = {
    "body": "a request body of another type than JSON: forms, files, text",
    "body-of-get": "a request body of GET or HEAD",
    "content-parameter": "a parameter with `content` in place of a `schema`",
    "cookie": "a parameter in a cookie",
    "header": "a header that the client itself writes, as `Host`, or that carries a credential",
    "method": "OPTIONS and TRACE",
    "object-parameter": "an object as a parameter, also as `deepObject`",
    "path": "a path that is not one below the address of the server, or without its parameters",
    "reference": "a `$ref` to another document, to a name (`#name`), or to nothing",
    "schema": "a schema that no tool can have: too large, too deep, malformed",
    "security": "a key in the query or in a cookie, and client certificates",
    "server": "a server of the operation's or the path's own",
    "style": "the styles `matrix`, `label`, `spaceDelimited` and `pipeDelimited`",
}
"""By name: what it is. An operation that needs it is no tool; an optional parameter is left out."""


class UnsupportedError(ValueError):
    """Something that is not supported, or not as the standard has it."""

    def __init__(self, name: str, where: str) -> None:
        super().__init__(f"{where} ({name}: {UNSUPPORTED[name]})")
        self.name = name


class Refusal(Struct, frozen=True):
    """An operation that is no tool, or a parameter that was left out: a line for the operator."""

    operation: str
    """Its name as a tool, or the method and path."""
    name: str
    """One of `UNSUPPORTED`, or `name`: another operation has its name."""
    why: str
