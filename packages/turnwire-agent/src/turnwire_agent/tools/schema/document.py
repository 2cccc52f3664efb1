"""A checked schema, read as one dialect: JSON Schema 2020-12, in few forms.

One schema can be written in many ways: in words of older drafts, with a list of types, with a
`$ref` or an `allOf` around it. `Document.plain` writes all of them in one way, with the same
meaning. So the walk, the unions and `restore` have few forms to know.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from turnwire_agent.tools.schema.form import REFERENCES_MAX, BadSchemaError, resolve
from turnwire_agent.tools.schema.rules import CONSTRAINTS, KNOWN

_OBJECT: Final = frozenset(
    {
        *("additionalProperties", "dependentRequired", "dependentSchemas", "maxProperties"),
        *("minProperties", "patternProperties", "properties", "propertyNames", "required"),
        "unevaluatedProperties",
    }
)
_ARRAY: Final = frozenset(
    {
        *("contains", "items", "maxContains", "maxItems", "minContains", "minItems"),
        *("prefixItems", "unevaluatedItems", "uniqueItems"),
    }
)
_NUMBER: Final = frozenset(
    {*("exclusiveMaximum", "exclusiveMinimum", "format", "maximum", "minimum"), "multipleOf"}
)
_OF_TYPE: Final[Mapping[str, frozenset[str]]] = {
    "array": _ARRAY,
    "boolean": frozenset(),
    "integer": _NUMBER,
    "null": frozenset(),
    "number": _NUMBER,
    "object": _OBJECT,
    "string": frozenset({"format", "maxLength", "minLength", "pattern"}),
}
"""By type: the keywords that say something of its values."""
_JOINED: Final = frozenset({"$ref", "allOf"})
_WHOLE: Final = frozenset({"allOf", "anyOf", "if", "not", "oneOf"})
"""Keywords beside which a list of types stays a list: a branch of types would not hold them."""
_MERGED: Final = (
    KNOWN
    - {"$ref", "allOf", "anyOf", "const", "contains", "dependencies", "dependentSchemas", "else"}
    - {"enum", "if", "items", "not", "oneOf", "patternProperties", "prefixItems", "propertyNames"}
    - {"then", "unevaluatedItems", "unevaluatedProperties"}
)
"""Keywords of parts of an `allOf` that one schema can say at once, unless two parts differ."""

READING_MAX: Final = 24
"""Most parts of an `allOf` that lead to one another and are merged: reading them is recursive."""

REPEATED_MAX: Final = 100_000
"""Most bytes of JSON that are copied from definitions into where an `allOf` refers to them."""

Node = dict[str, Any]


def json_key(value: object) -> bytes:
    """A JSON value as a key: in Python `1 == True`, in JSON they differ, and `1` is `1.0`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return msgspec.json.encode(value, order="deterministic")


def type_of(value: object) -> str:
    """The JSON type of a value. A whole number is an integer."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case float():
            return "integer" if value.is_integer() else "number"
        case _:
            return "integer"


def named_types(node: Node) -> list[str]:
    """The types that a schema names, which may be none."""
    named = node.get("type", [])
    return named if isinstance(named, list) else [named]


class Document:
    """A schema that `check` has accepted."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self._read: dict[tuple[int, bool], tuple[object, Node]] = {}
        """By identity of a node: itself, so that the identity stays its own, and how it reads."""
        self._reading: set[int] = set()
        self._repeats: set[int] = set()
        """Identities of what was read with the content of a reference merged into it."""
        self._repeated = 0

    def target(self, reference: str, *, merge: bool = True) -> Node:
        """Return what a reference leads to, in plain words, behind all references on the way.

        Raises:
            BadSchemaError: it leads in a circle.

        """
        for _ in range(REFERENCES_MAX):
            node = self.plain(resolve(self.root, reference), merge=merge)
            if "$ref" not in node:
                return node
            reference = node["$ref"]
        raise BadSchemaError(f"`$ref` leads in a circle: {reference[:80]}")

    def repeats(self, plain: Node) -> bool:
        """Whether a plain node holds a copy of what a reference leads to."""
        return id(plain) in self._repeats

    def plain(self, node: object, *, merge: bool = True) -> Node:
        """Return a node in plain words. What is inside of it stays as it is.

        `$ref` has no constraint beside it. `allOf` is left only where its parts cannot be one
        schema. `type` is a list only for a primitive that may be null, or beside other unions.

        `merge`: whether references in an `allOf` may be replaced by what they lead to. Inside of
        such a copy they may not, or copies of copies would have no end.
        """
        if not isinstance(node, dict):
            return {"not": {}} if node is False else {}
        if (id(node), merge) in self._read:
            return self._read[id(node), merge][1]
        out = _renamed({keyword: node[keyword] for keyword in node if keyword in KNOWN}, node)
        if id(node) in self._reading or len(self._reading) == READING_MAX:
            return _apart(out)
        self._reading.add(id(node))
        try:
            out = _typed(self._joined(out, merge=merge))
        finally:
            self._reading.discard(id(node))
        self._read[id(node), merge] = (node, out)
        return out

    def _joined(self, node: Node, *, merge: bool) -> Node:
        """Write a reference with siblings, and an `allOf`, as one schema, if that is possible."""
        if "$ref" in node and self._repeats_type(node):
            del node["type"]
        apart = _apart(node)
        if "allOf" not in apart:
            return node
        parts = apart.pop("allOf")
        read = [apart, *(self.plain(part, merge=merge) for part in parts)]
        speaking = [part for part in read if part.keys() & CONSTRAINTS]
        references = [part["$ref"] for part in speaking if "$ref" in part]
        if len(speaking) == 1 or not references:
            merged = _merge(read, KNOWN if len(speaking) == 1 else _MERGED)
        elif merge and self._may_repeat(references):
            behind = [self.target(part["$ref"]) if "$ref" in part else part for part in read]
            merged = _merge(behind, _MERGED)
            self._repeats.add(id(merged))
        else:
            merged = None
        return {**apart, "allOf": parts} if merged is None else merged

    def _may_repeat(self, references: list[str]) -> bool:
        """Whether what these references lead to may be copied: all copies together are bounded."""
        for reference in references:
            if self._repeated <= REPEATED_MAX:
                self._repeated += len(json_key(resolve(self.root, reference)))
        return self._repeated <= REPEATED_MAX

    def _repeats_type(self, node: Node) -> bool:
        return "type" in node and self.target(node["$ref"]).get("type") == node["type"]


def _apart(node: Node) -> Node:
    """Write a reference with constraints beside it as a part of an `allOf`."""
    if "$ref" not in node or not node.keys() & CONSTRAINTS - {"$ref"}:
        return node
    rest = {keyword: value for keyword, value in node.items() if keyword not in _JOINED}
    return {**rest, "allOf": [{"$ref": node["$ref"]}, *node.get("allOf", [])]}


def _renamed(out: Node, node: Node) -> Node:
    """Replace words of older drafts by those of 2020-12."""
    if isinstance(tuple_items := out.get("items"), list):
        del out["items"]
        out["prefixItems"] = tuple_items
        if "additionalItems" in node:
            out["items"] = node["additionalItems"]
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.capitalize()}"
        if isinstance(flag := out.get(exclusive), bool):
            del out[exclusive]
            if flag and bound in out:
                out[exclusive] = out.pop(bound)
    return out


def _merge(parts: list[Node], keywords: frozenset[str]) -> Node | None:
    """Write several schemas that all hold as one.

    None: two of them speak of the same thing, or one has a keyword that is not in `keywords`.
    """
    speaking = [part for part in parts if part.keys() & CONSTRAINTS]
    out: Node = {}
    for part in parts:
        if not part.keys() <= keywords:
            return None
        if part.get("additionalProperties", True) is not True and len(speaking) > 1:
            return None  # it would refuse the properties of the other parts
        for keyword, value in part.items():
            if keyword not in out:
                out[keyword] = value
            elif keyword == "description":
                out[keyword] = f"{out[keyword]}\n{value}"
            elif keyword == "required":
                out[keyword] = list(dict.fromkeys([*out[keyword], *value]))
            elif keyword == "properties" and not _differ(out[keyword], value):
                out[keyword] = {**out[keyword], **value}
            elif keyword in CONSTRAINTS and json_key(out[keyword]) != json_key(value):
                return None
    return out


def _differ(one: Node, other: Node) -> bool:
    return any(json_key(one[name]) != json_key(other[name]) for name in one.keys() & other.keys())


def _typed(out: Node) -> Node:
    """Write the type where other words imply it, and a list of types as a union of schemas."""
    types = _types(out)
    if not types:
        return out
    if "enum" in out:
        distinct = {json_key(value): value for value in out["enum"]}.values()
        out["enum"] = [value for value in distinct if _is_one_of(value, types)]
    values = [out["const"]] if "const" in out else out.get("enum", [])
    if values:
        types = [each for each in types if any(_is_one_of(v, [each]) for v in values)] or types
    out["type"] = types[0] if len(types) == 1 else types
    if types == ["null"] or (types == ["boolean"] and len(values) == len((True, False))):
        out.pop("const", None)  # it says no more than the type
        out.pop("enum", None)
    return _split(out, types)


def _types(out: Node) -> list[str]:
    """The types that a schema allows by its own words. Empty: it says nothing of them."""
    if "type" in out:
        named = named_types(out)
    elif "const" in out or "enum" in out:
        named = [type_of(value) for value in out.get("enum", [out.get("const")])]
    elif out.keys() & {"patternProperties", "properties"}:
        named = ["object"]
    elif out.keys() & {"items", "prefixItems"}:
        named = ["array"]
    else:
        return []
    distinct = list(dict.fromkeys(named))
    return [each for each in distinct if each != "integer" or "number" not in distinct]


def _is_one_of(value: object, types: list[str]) -> bool:
    kind = type_of(value)
    return kind in types or (kind == "integer" and "number" in types)


def _split(out: Node, types: list[str]) -> Node:
    """Write several types as a union, except for a primitive that may be null."""
    others = [each for each in types if each != "null"]
    simple = len(others) == 1 and others[0] not in {"array", "object"} and "enum" not in out
    if len(types) == 1 or simple or out.keys() & _WHOLE:
        return out
    beside = {keyword: value for keyword, value in out.items() if keyword not in CONSTRAINTS}
    return {**beside, "anyOf": [_branch(out, each) for each in types]}


def _branch(out: Node, kind: str) -> Node:
    """One type of a list of types, with the constraints that are about it."""
    branch = {"type": kind, **{each: out[each] for each in out if each in _OF_TYPE[kind]}}
    if "enum" in out:
        branch["enum"] = out["enum"]
    return _typed(branch)
