"""Documents for these tests."""

from collections.abc import Mapping
from typing import Any

from turnwire_agent.tools.openapi.operations import Converted, HttpOperation, openapi_operations
from turnwire_agent.tools.openapi.policy import Policy

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
ID: Json = {"name": "id", "in": "path", "required": True, "schema": TEXT}


def document(paths: Json, version: str = "3.1.0", **others: Any) -> Json:
    return {"openapi": version, "info": {"title": "Shop", "version": "1"}, "paths": paths, **others}


def converted(
    paths: Json, *, version: str = "3.1.0", policy: Mapping[str, Any] = {}, **others: Any
) -> Converted:
    return openapi_operations(document(paths, version, **others), Policy(name="shop", **policy))


def one(operation: Json, *, path: str = "/orders", method: str = "get", **others: Any) -> Converted:
    """A document with one operation."""
    return converted({path: {method: operation}}, **others)


def read(operation: Json, **others: Any) -> HttpOperation:
    """The one operation, which must be one."""
    seen = one(operation, **others)
    assert seen.refusals == ()
    return seen.operations[0]


def json_body(schema: Any, *, required: bool = True, kind: str = "application/json") -> Json:
    return {"required": required, "content": {kind: {"schema": schema}}}
