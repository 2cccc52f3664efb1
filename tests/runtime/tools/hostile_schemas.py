"""Schemas that no tool may have: too large, too deep, malformed, or no schemas at all."""

from typing import Any, Final

from runtime.tools.schema_words import TEXT, Schema, deep, of


def _itself() -> Schema:
    schema = of()
    schema["properties"]["me"] = schema
    return schema


def all_referred(levels: int) -> Schema:
    """A tree of which each node is referred to, so that each is a definition of its own."""
    tree: Schema = TEXT
    nodes = last = ["#/$defs/T"]
    for _ in range(levels):
        tree = of({"l": tree, "r": tree})
        last = [f"{each}/properties/{side}" for each in last for side in "lr"]
        nodes = [*nodes, *last]
    references = {f"p{at}": {"$ref": pointer} for at, pointer in enumerate(nodes)}
    return of(references, **{"$defs": {"T": tree}})


HOSTILE: Final[dict[str, Any]] = {
    "100,000 nodes": of({f"p{at}": TEXT for at in range(50_000)}),
    "65 levels": of({"deep": deep(32)}),
    "10,000 levels": of({"deep": deep(10_000)}),
    "inside itself": _itself(),
    "a default of 65 levels": of({"a": {"default": deep(64)}}),
    "megabytes of text": of({"a": {"description": "x" * 1_000_001}}),
    "merged with itself": of(
        {"a": {"$ref": "#/$defs/A"}},
        **{"$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}},
    ),
    "a reference to itself": of(
        {"a": {"$ref": "#/$defs/A"}}, **{"$defs": {"A": {"$ref": "#/$defs/A"}}}
    ),
    "references in a circle": of(
        {"a": {"$ref": "#/$defs/A"}},
        **{"$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    ),
    "a reference to nothing": of({"a": {"$ref": "#/$defs/A"}}),
    "a reference into a list": of({"a": {"$ref": "#/required/1"}}, "a"),
    "a reference beyond a list": of(
        {"a": {"anyOf": [TEXT], "items": {"$ref": "#/properties/a/anyOf/1"}}}
    ),
    "a reference into a string": of({"a": {"$ref": "#/type/x"}}),
    "a reference to no schema": of({"a": {"$ref": "#/properties"}}),
    "a reference elsewhere": of({"a": {"$ref": "https://example.com/schema.json"}}),
    "a reference to an anchor": of({"a": {"$ref": "#name"}}),
    "a root that is a string": TEXT,
    "a root that is nothing": False,
    "a root that is a list": [],
    "a root of strings or null": {"type": ["string", "null"]},
    "a root union without an object": {"anyOf": [TEXT, {"type": "array"}]},
    "properties in a list": {"type": "object", "properties": []},
    "a property that is a string": of({"a": "string"}),
    "a type that is none": of({"a": {"type": "any"}}),
    "no types": of({"a": {"type": []}}),
    "a required that is true": of({"a": {"type": "string", "required": True}}),
    "a required of numbers": of({"a": TEXT}, required=[1]),
    "an enum that is a string": of({"a": {"enum": "b"}}),
    "a union that is an object": of({"a": {"anyOf": {}}}),
    "a union of nothing": of({"a": {"oneOf": []}}),
    "a pattern that is a number": of({"a": {"pattern": 1}}),
    "a count below zero": of({"a": {"type": "array", "minItems": -1}}),
    "a bound that is a word": of({"a": {"minimum": "1"}}),
    "dependencies of numbers": of(dependentRequired={"a": [1]}),
    "no number": of({"a": {"default": float("nan")}}),
    "a number that few can read": of({"a": {"default": 2**64}}),
    "bytes": of({"a": {"default": b"x"}}),
    "a key that is no string": of({1: TEXT}),  # type: ignore[dict-item]
    "half of a surrogate pair": of({"a": {"description": "\ud800"}}),
    "half of a surrogate pair in a key": of({"\ud800": TEXT}),
}
"""What no tool may have as a schema."""
