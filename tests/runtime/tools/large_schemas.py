"""Schemas that a tool may have, but that are more than a provider takes as strict."""

from typing import Final

from runtime.tools.schema_words import TEXT, Schema, deep, nested, of


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
    "5,000 values": of({f"p{at}": TEXT for at in range(2_400)}),
}
"""Within the bounds of what is read, but beyond what a provider takes as strict."""
