"""The root of a schema as one object: no provider takes a reference or a union there."""

from typing import Any, Final

from turnwire_agent.tools.schema.document import Document, Node, json_key
from turnwire_agent.tools.schema.form import BadSchemaError
from turnwire_agent.tools.schema.rules import CONSTRAINTS
from turnwire_agent.tools.schema.unions import types_of

_STEPS_MAX: Final = 64
_UNIONS: Final = ("anyOf", "oneOf")


def as_object(document: Document) -> Node:
    """Return the root in plain words, with the properties of all its branches.

    `anyOf`, `oneOf` and `allOf` are still there, for whoever says what is lost with them.

    Raises:
        BadSchemaError: its values are no objects.

    """
    node = document.plain(document.root)
    beside: Node = {}
    objects: list[Any] = []
    for _ in range(_STEPS_MAX):
        beside = {**{key: node[key] for key in node if key not in CONSTRAINTS}, **beside}
        branches = [*node.get("anyOf", []), *node.get("oneOf", [])]
        objects = [each for each in branches if "object" in types_of(document, each)]
        if "$ref" in node:
            node = document.target(node["$ref"])
        elif len(objects) == 1 and len(node.keys() & CONSTRAINTS) == 1:
            node = document.plain(objects[0])
        else:
            break
    if "object" not in types_of(document, node):
        raise BadSchemaError("#: the arguments of a tool are an object, and this is none")
    out = {**node, **beside, "type": "object"}
    for keyword in (*_UNIONS, "allOf"):
        if keyword in out:
            _gather(document, out, keyword)
    return out


def _gather(document: Document, out: Node, keyword: str) -> None:
    """Give the root the properties of branches that cannot be sent as such."""
    read = [document.plain(each) for each in out[keyword]]
    read = [document.target(each["$ref"]) if "$ref" in each else each for each in read]
    found: dict[str, dict[bytes, Any]] = {}
    for branch in (out, *read):
        for name, schema in branch.get("properties", {}).items():
            found.setdefault(name, {}).setdefault(json_key(schema), schema)
    names = [set(branch.get("required", [])) for branch in read]
    required = set.union(*names) if keyword == "allOf" else set.intersection(*names)
    out["properties"] = {
        name: {"anyOf": [*schemas.values()]} if len(schemas) > 1 else next(iter(schemas.values()))
        for name, schemas in found.items()
    }
    out["required"] = list(dict.fromkeys([*out.get("required", []), *sorted(required)]))
