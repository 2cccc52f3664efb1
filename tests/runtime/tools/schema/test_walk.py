"""What is sent for each form of a schema, word by word."""

from typing import Any

import pytest

from runtime.tools.schema_words import NUMBER, TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS
from turnwire_agent.tools.schema.normalise import normalise
from turnwire_agent.tools.schema.rules import Shape

NULL = {"type": "null"}
TUPLE = {"type": "array", "prefixItems": [TEXT, WHOLE]}
PAIR = {"type": "array", "prefixItems": [TEXT, TEXT], "items": False, "maxItems": 5}


@pytest.mark.parametrize(
    ("shape", "written", "sent"),
    [
        ("google", {**WHOLE, "minimum": 3, "exclusiveMinimum": 0}, {**WHOLE, "minimum": 3}),
        ("google", {**WHOLE, "minimum": 3, "exclusiveMinimum": 5}, {**WHOLE, "minimum": 6}),
        ("google", {**WHOLE, "maximum": 3, "exclusiveMaximum": 9}, {**WHOLE, "maximum": 3}),
        ("google", {**WHOLE, "exclusiveMaximum": 2.0}, {**WHOLE, "maximum": 1}),
        (
            "google",
            {**NUMBER, "exclusiveMinimum": 0.5},
            {**NUMBER, "minimum": 0.5, "description": "exclusiveMinimum: 0.5"},
        ),
        ("google", {"const": "a"}, {"enum": ["a"], "type": "string"}),
        ("google", {"enum": [None, "a"]}, {"anyOf": [NULL, {"enum": ["a"], "type": "string"}]}),
        ("google", PAIR, {"type": "array", "prefixItems": [TEXT, TEXT], "maxItems": 2}),
        (
            "google",
            {"required": ["a"]},
            {"description": 'required: ["a"]'},
        ),
        (
            "google",
            {"oneOf": [NUMBER, WHOLE]},
            {"anyOf": [NUMBER, WHOLE], "description": "oneOf: only one of these may fit"},
        ),
        ("google", {"oneOf": [TEXT, WHOLE]}, {"anyOf": [TEXT, WHOLE]}),
        ("google", {"type": "array", "items": False}, {"type": "array", "maxItems": 0}),
        (
            "chat",
            {"anyOf": [{"anyOf": [TEXT, WHOLE]}, NULL]},
            {"anyOf": [TEXT, WHOLE, NULL]},
        ),
        (
            "chat",
            {"anyOf": [{"anyOf": [TEXT, WHOLE], "description": "D"}, NULL]},
            {"anyOf": [{"anyOf": [TEXT, WHOLE], "description": "D"}, NULL]},
        ),
        ("chat", {"oneOf": [NUMBER, WHOLE]}, {"oneOf": [NUMBER, WHOLE]}),
        (
            "chat",
            {**TEXT, "not": {**TEXT, "pattern": "(?=a)"}},
            {**TEXT, "description": 'not: {"type":"string","pattern":"(?=a)"}'},
        ),
        ("chat", {**TEXT, "not": {"const": "a"}}, {**TEXT, "not": {"const": "a", **TEXT}}),
        (
            "chat",
            {**TEXT, "if": {"pattern": "(?!a)"}, "then": {"minLength": 2}, "else": True},
            {
                **TEXT,
                "description": 'if: {"pattern":"(?!a)"}; then: {"minLength":2}; else: true',
            },
        ),
        (
            "chat",
            {**TEXT, "if": {"maxLength": 9}, "then": {"minLength": 2}, "else": False},
            {**TEXT, "if": {"maxLength": 9}, "then": {"minLength": 2}, "else": False},
        ),
        (
            "chat",
            TUPLE,
            {
                "type": "array",
                "items": {"anyOf": [TEXT, WHOLE, {}]},
                "description": 'prefixItems: [{"type":"string"},{"type":"integer"}]',
            },
        ),
        (
            "chat",
            PAIR,
            {
                "type": "array",
                "items": TEXT,
                "maxItems": 2,
                "description": 'prefixItems: [{"type":"string"},{"type":"string"}]',
            },
        ),
        ("chat", {"type": "object"}, {"type": "object"}),
        (
            "chat",
            {"type": "object", "additionalProperties": {**TEXT, "title": "T"}},
            {"type": "object", "additionalProperties": {**TEXT, "description": "T"}},
        ),
        (
            "chat",
            of({"b": TEXT}, "a", "b", additionalProperties=WHOLE),
            {**of({"b": TEXT, "a": WHOLE}, "a", "b"), "additionalProperties": WHOLE},
        ),
        (
            "messages",
            of({"a b": TEXT, "c": TEXT}, "a b", "c", additionalProperties=False),
            {
                **of({"c": TEXT}, "c"),
                "description": 'property \'a b\' (required): {"type":"string"}',
            },
        ),
        ("messages", {**TEXT, "pattern": "(?=a)"}, {**TEXT, "pattern": "(?=a)"}),
    ],
)
def test_a_schema_in_the_words_of_a_shape(shape: Shape, written: Any, sent: Any) -> None:
    whole = normalise(of({"p": written}, "p"), shape, strict=False).schema

    assert whole["properties"]["p"] == sent


@pytest.mark.parametrize(
    ("shape", "written", "sent"),
    [
        ("chat", TEXT, {"anyOf": [TEXT, NULL]}),
        (
            "chat",
            {**TEXT, "description": "D", "default": "x"},
            {"anyOf": [TEXT, NULL], "description": "D (default: x)"},
        ),
        ("chat", {"anyOf": [TEXT, WHOLE]}, {"anyOf": [TEXT, WHOLE, NULL]}),
        (
            "chat",
            {"$ref": "#/$defs/A", "description": "D"},
            {"anyOf": [{"$ref": "#/$defs/A"}, NULL], "description": "D"},
        ),
        ("messages", {"type": "array", "items": TEXT, "minItems": 1}, None),
        ("messages", {**TEXT, "format": "uri"}, None),
    ],
)
def test_an_optional_property_in_strict_words(shape: Shape, written: Any, sent: Any) -> None:
    schema = of({"p": written}, **{"$defs": {"A": ADDRESS}})
    strict = normalise(schema, shape, strict=True)

    assert strict.strict
    assert strict.schema["properties"]["p"] == (written if sent is None else sent)


@pytest.mark.parametrize(
    ("shape", "written", "what"),
    [
        ("chat", {**TEXT, "format": "uri"}, "format"),
        ("chat", {**TEXT, "minLength": 1}, "minLength"),
        ("chat", {"type": "object"}, "additionalProperties"),
        ("chat", of({"a": TEXT}, additionalProperties=True), "additionalProperties"),
        ("chat", {"type": "array"}, "items"),
        ("chat", {}, "type"),
        ("messages", {"type": "array", "items": TEXT, "minItems": 2}, "minItems"),
        ("messages", {"type": "array", "items": TEXT, "maxItems": 2}, "maxItems"),
        ("messages", {**WHOLE, "minimum": 2}, "minimum"),
        ("messages", {**TEXT, "pattern": "a"}, "pattern"),
        ("messages", {"const": [1]}, "const"),
    ],
)
def test_what_strict_words_cannot_say_is_named(shape: Shape, written: Any, what: str) -> None:
    normalised = normalise(of({"p": written}, "p"), shape, strict=True)

    assert not normalised.strict
    assert what in [each.what for each in normalised.obstacles]
    assert {each.where for each in normalised.obstacles} == {"#/properties/p"}


def test_definitions_keep_their_names_where_they_can() -> None:
    schema = of(
        {
            "a": {"$ref": "#/$defs/A"},
            "b": {"$ref": "#/definitions/A"},
            "c": {"$ref": "#/$defs/Page[int]"},
            "d": {"$ref": "#/$defs/日本"},
        },
        **{"$defs": {"A": TEXT, "Page[int]": WHOLE, "日本": TEXT}, "definitions": {"A": WHOLE}},
    )

    assert normalise(schema, "google").schema["$defs"] == {
        "A": TEXT,
        "A_2": WHOLE,
        "Page_int": WHOLE,
        "root": TEXT,
    }
