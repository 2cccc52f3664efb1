"""Schemas of tools: what the normaliser, and the witnesses, are tried with.

They have the form that pydantic, zod, msgspec or a Kubernetes tool gives its schemas, or broke a
provider's request in somebody's hands. Those that no tool may have are in `hostile_schemas`.
"""

from typing import Final

from runtime.tools.large_schemas import LARGE
from runtime.tools.reference_server import EVERYTHING
from runtime.tools.schema_words import NUMBER, TEXT, WHOLE, Schema, mcp, of

NODE: Final = of({"value": WHOLE, "next": {"$ref": "#/$defs/Node"}}, "value")
TREE: Final = of(
    {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#"}}}, "name", "children"
)
ADDRESS: Final = of({"street": TEXT, "city": TEXT}, "street", "city", title="Address")
CAT: Final = of({"kind": {"const": "cat"}, "lives": WHOLE}, "kind", "lives")
DOG: Final = of({"kind": {"const": "dog"}, "breed": TEXT}, "kind", "breed")

REAL: Final[dict[str, Schema]] = {
    **EVERYTHING,
    "no properties at all": {"type": "object"},
    "closed and empty": of(additionalProperties=False),
    "nothing but an object of everything": {},
    "optional string": of({"city": TEXT, "unit": {"type": "string", "enum": ["C", "F"]}}, "city"),
    "pydantic optional": of(
        {"note": {"anyOf": [TEXT, {"type": "null"}], "default": None, "title": "Note"}}
    ),
    "pydantic optional with another default": of(
        {"note": {"anyOf": [TEXT, {"type": "null"}], "default": "none"}}
    ),
    "pydantic nested": of(
        {"to": {"$ref": "#/$defs/Address"}}, "to", **{"$defs": {"Address": ADDRESS}}
    ),
    "pydantic 1 nested": of(
        {"to": {"title": "To", "allOf": [{"$ref": "#/definitions/Address"}]}},
        "to",
        definitions={"Address": ADDRESS},
    ),
    "pydantic generic": of(
        {"page": {"$ref": "#/$defs/Page[int]"}},
        "page",
        **{"$defs": {"Page[int]": of({"items": {"type": "array", "items": WHOLE}}, "items")}},
    ),
    "reference at the root": {"$ref": "#/$defs/Node", "$defs": {"Node": NODE}},
    "reference with a description": of(
        {
            "home": {"$ref": "#/$defs/Address", "description": "Where to"},
            "work": {"$ref": "#/$defs/Address"},
        },
        "home",
        "work",
        **{"$defs": {"Address": ADDRESS}},
    ),
    "reference with a constraint": of(
        {"name": {"$ref": "#/$defs/Name", "maxLength": 8}}, "name", **{"$defs": {"Name": TEXT}}
    ),
    "reference with its own type": of(
        {"at": {"$ref": "#/$defs/Address", "type": "object"}},
        "at",
        **{"$defs": {"Address": ADDRESS}},
    ),
    "reference to a property": of({"a": ADDRESS, "b": {"$ref": "#/properties/a"}}, "a", "b"),
    "reference to an escaped name": of(
        {"a": {"$ref": "#/$defs/a~1b%20c"}}, "a", **{"$defs": {"a/b c": TEXT}}
    ),
    "recursive list": of({"head": {"$ref": "#/$defs/Node"}}, "head", **{"$defs": {"Node": NODE}}),
    "recursive tree from the root": TREE,
    "mutual recursion": of(
        {"a": {"$ref": "#/$defs/A"}},
        "a",
        **{
            "$defs": {
                "A": of({"b": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "null"}]}}, "b"),
                "B": of({"a": {"$ref": "#/$defs/A"}}, "a"),
            }
        },
    ),
    "tagged union": of(
        {"pet": {"oneOf": [CAT, DOG], "discriminator": {"propertyName": "kind"}}}, "pet"
    ),
    "tagged union of references": of(
        {
            "pets": {
                "type": "array",
                "items": {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            }
        },
        "pets",
        **{"$defs": {"Cat": CAT, "Dog": DOG}},
    ),
    "tagged union with optional properties": of(
        {"pet": {"anyOf": [CAT, of({"kind": {"const": "fish"}, "lives": WHOLE}, "kind")]}}, "pet"
    ),
    "union of objects that share their properties": of(
        {"at": {"anyOf": [of({"x": WHOLE}), of({"x": TEXT})]}}, "at"
    ),
    "union of primitives": of({"id": {"anyOf": [TEXT, WHOLE]}}, "id"),
    "union in a union": of(
        {"env": {"anyOf": [{"anyOf": [TEXT, {"type": "array", "items": TEXT}]}, {"type": "null"}]}},
        "env",
    ),
    "one of overlapping": of({"n": {"oneOf": [NUMBER, {"type": "integer", "minimum": 5}]}}, "n"),
    "types in a list": of({"id": {"type": ["string", "integer"], "minLength": 2}}, "id"),
    "null in a list of types": of({"note": {"type": ["string", "null"]}}, "note"),
    "object or null in a list": of({"at": {**ADDRESS, "type": ["object", "null"]}}, "at"),
    "null in an enum": of({"mode": {"type": ["string", "null"], "enum": ["a", "b", None]}}, "mode"),
    "enum without a type": of({"level": {"enum": [1, 2, 3]}}, "level"),
    "enum of mixed types": of({"level": {"enum": [1, "high", True, None]}}, "level"),
    "enum with repetitions": of({"level": {"type": "integer", "enum": [1, 1.0, 2]}}, "level"),
    "enum of objects": of({"preset": {"enum": [{"a": 1}, {"a": 2}]}}, "preset"),
    "constant": of({"version": {"const": 2}, "kind": {"const": "v"}}, "version", "kind"),
    "constant of a boolean": of({"agree": {"const": True}}, "agree"),
    "map of numbers": of({"scores": {"type": "object", "additionalProperties": NUMBER}}, "scores"),
    "object of anything": of({"extra": {"type": "object"}}, "extra"),
    "anything": of({"value": {}, "other": True}, "value"),
    "open root": of({"a": TEXT}, "a", additionalProperties=True),
    "pattern of names": of(
        {"labels": {"type": "object", "patternProperties": {"^x-": TEXT}}}, "labels"
    ),
    "tuple of 2020": of(
        {"point": {"type": "array", "prefixItems": [NUMBER, NUMBER], "items": False}}, "point"
    ),
    "tuple of draft 7": mcp(
        {"pair": {"type": "array", "items": [TEXT, WHOLE], "additionalItems": NUMBER}}, "pair"
    ),
    "array of anything": of({"list": {"type": "array"}}, "list"),
    "array of nothing": of({"list": {"type": "array", "items": False}}, "list"),
    "array of arrays": of(
        {"grid": {"type": "array", "items": {"type": "array", "items": NUMBER, "minItems": 2}}},
        "grid",
    ),
    "set of strings": of(
        {"tags": {"type": "array", "items": TEXT, "uniqueItems": True, "maxItems": 5}}, "tags"
    ),
    "lengths": of({"name": {"type": "string", "minLength": 1, "maxLength": 9}}, "name"),
    "pattern": of({"code": {"type": "string", "pattern": "^[A-Z]{3}$"}}, "code"),
    "look-ahead": of({"password": {"type": "string", "pattern": r"^(?=.*\d).{8,}$"}}, "password"),
    "look-behind": of({"price": {"type": "string", "pattern": r"(?<!\$)\d+"}}, "price"),
    "an escaped parenthesis": of({"call": {"type": "string", "pattern": r"f\(?=x"}}, "call"),
    "formats": of(
        {
            "when": {"type": "string", "format": "date-time"},
            "id": {"type": "string", "format": "uuid"},
        },
        "when",
        "id",
    ),
    "formats of numbers": of({"n": {"type": "integer", "format": "int32"}}, "n"),
    "exclusive bounds": of(
        {
            "age": {
                "type": "integer",
                "exclusiveMinimum": 0,
                "exclusiveMaximum": 150,
                "minimum": 3,
            },
            "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        },
        "age",
        "share",
    ),
    "exclusive bounds of draft 4": of(
        {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": True}},
        "n",
        **{"$schema": "http://json-schema.org/draft-04/schema#"},
    ),
    "multiples": of({"n": {"type": "integer", "multipleOf": 5}}, "n"),
    "inheritance": of(
        {
            "admin": {
                "allOf": [
                    {"$ref": "#/$defs/User"},
                    of({"level": WHOLE}, "level", description="An admin"),
                ]
            }
        },
        "admin",
        **{"$defs": {"User": of({"name": TEXT}, "name", description="A user")}},
    ),
    "parts that disagree": of(
        {"n": {"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3}]}}, "n"
    ),
    "parts of the root": {
        "allOf": [of({"a": TEXT}, "a"), {"if": {"required": ["b"]}, "then": of({"b": TEXT})}]
    },
    "any of at the root": {
        "anyOf": [of({"id": TEXT}, "id"), of({"id": WHOLE, "name": TEXT}, "id")]
    },
    "at least one of": of(
        {"title": TEXT, "text": TEXT}, anyOf=[{"required": ["title"]}, {"required": ["text"]}]
    ),
    "at least one of, inside": of(
        {"change": of({"a": TEXT, "b": TEXT}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])},
        "change",
    ),
    "an object or null at the root": {"anyOf": [of({"a": TEXT}, "a"), {"type": "null"}]},
    "at least one of, of anything": of(
        {"change": {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}}, "change"
    ),
    "a union that says its type again": of(
        {
            "pet": {"type": "object", "oneOf": [CAT, DOG]},
            "id": {"type": "string", "anyOf": [{"enum": ["me"]}, {**TEXT, "format": "uuid"}]},
            "code": {"type": "string", "anyOf": [{"pattern": "^a"}, {"enum": ["b"]}]},
        },
        "pet",
        "id",
        "code",
    ),
    "one of few objects": of({"a": WHOLE}, "a", enum=[{"a": 1}, {"a": 2}]),
    "two definitions of one name": of(
        {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/definitions/A"}},
        "a",
        "b",
        **{"$defs": {"A": TEXT}, "definitions": {"A": WHOLE}},
    ),
    "condition": of(
        {"kind": TEXT, "size": WHOLE},
        "kind",
        **{"if": {"properties": {"kind": {"const": "box"}}}, "then": {"required": ["size"]}},
    ),
    "condition inside": of(
        {
            "box": of(
                {"kind": TEXT},
                **{
                    "if": of({"kind": {"type": "string", "pattern": "(?!a)"}}),
                    "then": {"required": ["kind"]},
                    "else": False,
                },
            )
        },
        "box",
    ),
    "negation": of({"name": {"type": "string", "not": {"enum": ["root", "admin"]}}}, "name"),
    "dependencies": of(
        {"card": TEXT, "cvc": TEXT},
        dependentRequired={"card": ["cvc"]},
        dependencies={"cvc": ["card"]},
    ),
    "a required property that is not declared": of({"a": TEXT}, "a", "b"),
    "annotations everywhere": of(
        {
            "file": {
                "type": "string",
                "title": "File",
                "examples": ["a.txt"],
                "deprecated": True,
                "contentEncoding": "base64",
                "x-order": 1,
                "$comment": "no",
                "readOnly": False,
            }
        },
        "file",
        title="Upload arguments",
        **{"$id": "https://example.com/upload"},
    ),
    "a property that is called like a keyword": of(
        {"type": TEXT, "properties": WHOLE, "$ref": TEXT, "enum": {"type": "array", "items": TEXT}},
        "type",
        "properties",
        "$ref",
        "enum",
    ),
    "names in brackets": of({"filter[id]": TEXT, "größe": WHOLE, "a/b~c": TEXT}, "filter[id]"),
    "kubernetes": of(
        {
            "spec": of(
                {
                    "replicas": {"type": "integer", "format": "int32", "minimum": 0},
                    "ports": {
                        "type": "array",
                        "items": of(
                            {
                                "port": {"anyOf": [WHOLE, TEXT]},
                                "protocol": {
                                    "type": "string",
                                    "enum": ["TCP", "UDP"],
                                    "default": "TCP",
                                },
                            },
                            "port",
                        ),
                        "x-kubernetes-list-type": "map",
                    },
                    "labels": {"type": "object", "additionalProperties": TEXT},
                },
                "ports",
            )
        },
        "spec",
    ),
}
"""Schemas that a tool may have, by what is special about them."""


SCHEMAS: Final[dict[str, Schema]] = REAL | LARGE
"""All that a tool may have as a schema."""
