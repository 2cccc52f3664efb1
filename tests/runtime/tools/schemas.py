"""Schemas of tools, real and hostile: what the normaliser, and the witnesses, are tried with.

Those of the MCP reference server are what `@modelcontextprotocol/server-everything` lists. Others
have the form that pydantic, zod, msgspec or a Kubernetes tool gives its schemas, or that broke a
provider's request in somebody's hands.
"""

from typing import Any, Final

Schema = dict[str, Any]
DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"


def of(properties: Schema | None = None, *required: str, **others: Any) -> Schema:
    """An object with these properties."""
    schema: Schema = {"type": "object", "properties": properties or {}, **others}
    return {**schema, "required": list(required)} if required else schema


def mcp(properties: Schema | None = None, *required: str) -> Schema:
    """An object as the MCP reference server declares one."""
    return {"$schema": DRAFT_7, **of(properties, *required)}


TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
WHOLE: Final[Schema] = {"type": "integer"}

EVERYTHING: Final[dict[str, Schema]] = {
    "echo": mcp({"message": {"type": "string", "description": "Message to echo"}}, "message"),
    "get-annotated-message": mcp(
        {
            "messageType": {"type": "string", "enum": ["error", "success", "debug"]},
            "includeImage": {"default": False, "type": "boolean"},
        },
        "messageType",
    ),
    "get-env": mcp(),
    "get-resource-links": mcp(
        {"count": {"default": 3, "type": "number", "minimum": 1, "maximum": 10}}
    ),
    "get-resource-reference": mcp(
        {
            "resourceType": {"default": "Text", "type": "string", "enum": ["Text", "Blob"]},
            "resourceId": {"default": 1, "type": "number"},
        }
    ),
    "get-roots-list": mcp(),
    "get-structured-content": mcp(
        {"location": {"type": "string", "enum": ["New York", "Chicago", "Los Angeles"]}},
        "location",
    ),
    "get-sum": mcp({"a": NUMBER, "b": NUMBER}, "a", "b"),
    "get-tiny-image": mcp(),
    "gzip-file-as-resource": mcp(
        {
            "name": {"default": "README.md.gz", "type": "string"},
            "data": {"default": "https://example.com/README.md", "type": "string", "format": "uri"},
            "outputType": {
                "default": "resourceLink",
                "type": "string",
                "enum": ["resourceLink", "resource"],
            },
        }
    ),
    "simulate-research-query": mcp(
        {"topic": TEXT, "ambiguous": {"default": False, "type": "boolean"}}, "topic"
    ),
    "toggle-simulated-logging": mcp(),
    "toggle-subscriber-updates": mcp(),
    "trigger-elicitation-request": mcp(),
    "trigger-long-running-operation": mcp(
        {"duration": {"default": 10, "type": "number"}, "steps": {"default": 5, "type": "number"}}
    ),
    "trigger-sampling-request": mcp(
        {"prompt": TEXT, "maxTokens": {"default": 100, "type": "number"}}, "prompt"
    ),
}
"""Every tool of the MCP reference server, for a client with roots, sampling and elicitation."""

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


def nested(levels: int) -> Schema:
    """Objects in each other."""
    schema: Schema = TEXT
    for _ in range(levels):
        schema = of({"inner": schema}, "inner")
    return schema


def deep(levels: int) -> Schema:
    schema: Schema = TEXT
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    return schema


def _chain(length: int, keyword: str) -> Schema:
    """Definitions that each lead to the next one."""
    definitions = {
        f"d{at}": of({"p": {keyword: [{"$ref": f"#/$defs/d{at + 1}"}, {"description": "next"}]}})
        for at in range(length)
    }
    return of({"p": {"$ref": "#/$defs/d0"}}, **{"$defs": {**definitions, f"d{length}": TEXT}})


def _doubling(length: int) -> Schema:
    """Each definition holds the next one twice, merged: written out, there are 2 ** length."""
    definitions: Schema = {
        f"d{at}": of(
            {
                side: {"allOf": [{"$ref": f"#/$defs/d{at + 1}"}, of({f"{side}{at}": TEXT})]}
                for side in ("left", "right")
            }
        )
        for at in range(length)
    }
    definitions[f"d{length}"] = of({"leaf": TEXT})
    return of({"p": {"$ref": "#/$defs/d0"}}, **{"$defs": definitions})


def _nullable(levels: int) -> Schema:
    """Objects in each other, each of which may be null: the deepest that a walk can be."""
    schema: Schema = TEXT
    for _ in range(levels):
        schema = {"type": ["object", "null"], "properties": {"x": schema}}
    return schema


LARGE: Final[dict[str, Schema]] = {
    "eleven objects in each other": nested(11),
    "1,001 values of enums": of(
        {f"e{at}": {"enum": [f"{at}-{value}" for value in range(143)]} for at in range(7)},
        *(f"e{at}" for at in range(7)),
    ),
    "long values of an enum": of({"e": {"enum": ["x" * 60_000, "y" * 60_001]}}, "e"),
    "forty branches": of({"n": {"anyOf": [{"const": at} for at in range(40)]}}, "n"),
    "forty objects in one of": of(
        {"n": {"oneOf": [of({"k": {"const": at}}, "k") for at in range(40)]}}, "n"
    ),
    "thirty levels of unions": of({"u": deep(30)}, "u"),
    "a chain of parts": _chain(300, "allOf"),
    "doubling": _doubling(40),
    "a chain of unions": _chain(300, "anyOf"),
    "an enum that is quoted": of({"o": {"enum": [{"n": at} for at in range(200)]}}, "o"),
    "five hundred objects at the root": {
        "anyOf": [of({"id": {"const": at}}, "id") for at in range(500)]
    },
    "a chain of roots": {
        "$ref": "#/$defs/d0",
        "$defs": {
            **{f"d{at}": {"anyOf": [{"$ref": f"#/$defs/d{at + 1}"}]} for at in range(30)},
            "d30": {"anyOf": [{"anyOf": [{"$ref": "#/$defs/d31"}]}]},
            **{f"d{at}": {"oneOf": [{"$ref": f"#/$defs/d{at + 1}"}]} for at in range(31, 61)},
            "d61": of({"a": TEXT}, "a"),
        },
    },
    "nullable objects, copied": of(
        {"n": {"allOf": [{"$ref": "#/$defs/N"}, of({"m": _nullable(25)})]}},
        **{"$defs": {"N": of({"x": _nullable(28)})}},
    ),
    "5,000 values": of({f"p{at}": TEXT for at in range(4_000)}),
}
"""Within the bounds of what is read, but beyond what a provider takes as strict."""

SCHEMAS: Final[dict[str, Schema]] = REAL | LARGE
"""All that a tool may have as a schema."""
