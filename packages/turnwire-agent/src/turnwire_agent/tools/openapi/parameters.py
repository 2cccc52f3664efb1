"""Parameters of an operation: where each goes, and how it is written there."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from turnwire_agent.tools.openapi.references import Json, resolved
from turnwire_agent.tools.openapi.schemas import Schemas
from turnwire_agent.tools.openapi.unsupported import UnsupportedError

Location = Literal["path", "query", "header"]

IDEMPOTENCY_KEY: Final = "idempotency-key"

_IGNORED: Final = frozenset({"accept", "authorization", "content-type"})
"""Headers that the standard takes for none."""
_OWN: Final = frozenset(
    {
        *("connection", "content-encoding", "content-length", "cookie", "expect", "host"),
        *("keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"),
        *("user-agent", "x-api-key", "x-forwarded-for", "x-forwarded-host"),
    }
)
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_STYLES: Final = {"path": "simple", "query": "form", "header": "simple"}


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter of a request."""

    argument: str
    """The name of the argument of the tool."""
    name: str
    location: Location
    required: bool = False
    explode: bool = False
    """Whether each value of a list is written as a parameter of its own."""


class Read(Struct, frozen=True):
    """A parameter, its schema, and its description."""

    parameter: Parameter
    schema: Any


def merged(document: Json, *lists: Any) -> list[Json]:
    """Return the parameters of a path and of its operation, which override those of the path.

    Raises:
        UnsupportedError: one of them is none.
    """
    found: dict[tuple[Any, Any], Json] = {}
    for each in lists:
        if not isinstance(each, list):
            raise UnsupportedError("path", "its parameters are no list")
        for entry in each:
            parameter = resolved(document, entry, "a parameter")
            found[str(parameter.get("name")), str(parameter.get("in"))] = parameter
    return list(found.values())


def argument_name(name: str, location: str, taken: Iterable[str]) -> str:
    """Return a name that no other argument has: a path and a query may have one of one name."""
    names, candidate, number = set(taken), name, 1
    while candidate in names:
        candidate = f"{name}_{location}" if number == 1 else f"{name}_{location}_{number}"
        number += 1
    return candidate


def is_ignored(parameter: Json) -> bool:
    """Whether the standard says that the parameter is none."""
    return parameter.get("in") == "header" and str(parameter.get("name")).lower() in _IGNORED


def is_key(parameter: Json) -> bool:
    """Whether it is the header that tells a second request from the first one again."""
    name = str(parameter.get("name")).lower()
    return parameter.get("in") == "header" and name == IDEMPOTENCY_KEY


def read(parameter: Json, document: Json, schemas: Schemas, taken: Sequence[str]) -> Read:
    """Read one parameter.

    Raises:
        UnsupportedError: it cannot be written into a request.
    """
    name, location = parameter.get("name"), parameter.get("in")
    if not isinstance(name, str) or not name:
        raise UnsupportedError("path", "a parameter has no name")
    where = f"the parameter {name[:60]!a}"
    if location == "cookie":
        raise UnsupportedError("cookie", where)
    if location not in ("path", "query", "header"):
        raise UnsupportedError("path", f"{where} is nowhere")
    if location == "header" and (name.lower() in _OWN or not _TOKEN.fullmatch(name)):
        raise UnsupportedError("header", where)
    if "schema" not in parameter:
        raise UnsupportedError("content-parameter", where)
    style = parameter.get("style", _STYLES[location])
    if style == "deepObject" or _is_object(parameter["schema"], document):
        raise UnsupportedError("object-parameter", where)
    if style != _STYLES[location]:
        raise UnsupportedError("style", f"{where} has {str(style)[:40]!a}")
    schema = schemas.taken(parameter["schema"])
    if isinstance(parameter.get("description"), str) and isinstance(schema, dict):
        schema = {"description": parameter["description"], **schema}
    return Read(
        Parameter(
            argument=argument_name(name, location, taken),
            name=name,
            location=location,
            required=parameter.get("required") is True or location == "path",
            explode=location == "query" and parameter.get("explode", True) is not False,
        ),
        schema,
    )


def _is_object(schema: Any, document: Json) -> bool:
    """Whether a value may be an object, as far as the schema says so by itself."""
    plain = resolved(document, schema, "a schema") if isinstance(schema, dict) else {}
    kinds = plain.get("type", [])
    return "object" in (kinds if isinstance(kinds, list) else [kinds]) or "properties" in plain
