"""Schemas of a document stand alone, in the words of JSON Schema 2020-12."""

from typing import Any

import pytest

from runtime.tools.openapi.documents import TEXT, Json, converted, json_body
from turnwire_agent.tools.arguments import Invalid, Valid, untyped
from turnwire_agent.tools.openapi import schemas
from turnwire_agent.tools.openapi.references import resolved
from turnwire_agent.tools.openapi.schemas import Schemas
from turnwire_agent.tools.openapi.unsupported import UnsupportedError


def body(schema: Any, version: str = "3.1.0", **components: Any) -> Json:
    """The schema of an operation with this body."""
    operation = {"requestBody": json_body(schema)}
    seen = converted(
        {"/a": {"post": operation}}, version=version, components={"schemas": components}
    )
    assert seen.refusals == ()
    return seen.operations[0].schema


def in_3_0(schema: Any, **components: Any) -> Any:
    return body(schema, "3.0.3", **components)["properties"]["body"]


def test_what_is_referred_to_comes_along_and_refers_to_it() -> None:
    pet = {"type": "object", "properties": {"of": {"$ref": "#/components/schemas/Owner"}}}
    owner = {
        "type": "object",
        "properties": {"pets": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}}},
    }

    schema = body({"$ref": "#/components/schemas/Pet"}, Pet=pet, Owner=owner, Other=TEXT)

    assert schema["properties"]["body"] == {"$ref": "#/$defs/Pet"}
    assert schema["$defs"] == {
        "Pet": {"type": "object", "properties": {"of": {"$ref": "#/$defs/Owner"}}},
        "Owner": {
            "type": "object",
            "properties": {"pets": {"type": "array", "items": {"$ref": "#/$defs/Pet"}}},
        },
    }
    validate = untyped(schema)
    assert isinstance(validate('{"body": {"of": {"pets": [{}]}}}'), Valid)
    assert isinstance(validate('{"body": {"of": {"pets": 5}}}'), Invalid)


def test_two_places_with_one_last_step_are_two_definitions() -> None:
    first = {"properties": {"id": TEXT}}
    second = {"properties": {"id": {"type": "integer"}}}
    ids = [{"$ref": f"#/components/schemas/{name}/properties/id"} for name in ("A", "B")]

    schema = body({"oneOf": [*ids, ids[0]]}, A=first, B=second)

    assert schema["properties"]["body"] == {
        "oneOf": [{"$ref": "#/$defs/id"}, {"$ref": "#/$defs/id_2"}, {"$ref": "#/$defs/id"}]
    }
    assert schema["$defs"] == {"id": TEXT, "id_2": {"type": "integer"}}


def test_steps_of_a_reference_are_unescaped() -> None:
    tilde = {"$ref": "#/components/schemas/a~1b~0c%20d"}
    named: Json = {"a/b~c d": TEXT}

    assert body(tilde, **named)["$defs"] == {"a_1b_0c_20d": TEXT}
    in_a_list = {"$ref": "#/components/schemas/A/anyOf/1"}
    assert body(in_a_list, A={"anyOf": [TEXT, {"type": "null"}]})["$defs"] == {
        "1": {"type": "null"}
    }


def test_words_that_say_nothing_of_a_request_are_left_out() -> None:
    words = {
        "deprecated": True,
        "discriminator": {"propertyName": "x"},
        "example": 5,
        "examples": [5],
        "externalDocs": {},
        "writeOnly": True,
        "xml": {},
        "x-of-ours": 1,
        "$schema": "https://json-schema.org/draft/2020-12/schema",
    }

    assert body({**TEXT, **words, "title": "T"})["properties"]["body"] == {**TEXT, "title": "T"}


def test_data_in_a_schema_is_no_schema() -> None:
    default = {"example": 1, "$ref": "x", "nullable": True}

    assert in_3_0({"type": "object", "default": default, "enum": [default]}) == {
        "type": "object",
        "default": default,
        "enum": [default],
    }


def test_properties_of_answers_alone_are_left_out() -> None:
    properties = {"id": {**TEXT, "readOnly": True}, "item": {**TEXT, "readOnly": False}}
    order = {"type": "object", "properties": properties, "required": ["id", "item"]}

    assert body(order)["properties"]["body"] == {
        "type": "object",
        "properties": {"item": TEXT},
        "required": ["item"],
    }
    without = {"type": "object", "properties": {"id": {"readOnly": True}}}
    assert body(without)["properties"]["body"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        (
            {"type": "string", "enum": ["a"], "nullable": True},
            {"type": ["string", "null"], "enum": ["a", None]},
        ),
        (
            {"type": "string", "enum": [None], "nullable": True},
            {"type": ["string", "null"], "enum": [None]},
        ),
        (
            {"allOf": [{"type": "object"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "object"}]}, {"type": "null"}]},
        ),
        (
            {"type": "number", "minimum": 1, "exclusiveMinimum": True},
            {"type": "number", "exclusiveMinimum": 1},
        ),
        (
            {"type": "number", "maximum": 1, "exclusiveMaximum": False},
            {"type": "number", "maximum": 1},
        ),
        ({"type": "number", "exclusiveMaximum": True}, {"type": "number"}),
        (
            {"type": "array", "items": {"type": "integer", "nullable": True}},
            {"type": "array", "items": {"type": ["integer", "null"]}},
        ),
        (
            {"type": "object", "additionalProperties": True},
            {"type": "object", "additionalProperties": True},
        ),
    ],
)
def test_words_of_3_0_are_those_of_3_1(old: Json, new: Json) -> None:
    assert in_3_0(old) == new


def test_beside_a_reference_3_0_reads_nothing_and_3_1_does() -> None:
    both = {"$ref": "#/components/schemas/A", "description": "that one"}

    assert in_3_0(both, A=TEXT) == {"$ref": "#/$defs/A"}
    assert body(both, A=TEXT)["properties"]["body"] == {
        "$ref": "#/$defs/A",
        "description": "that one",
    }


def test_3_1_has_schemas_that_are_true_or_false() -> None:
    assert body({"type": "object", "properties": {"x": True}})["properties"]["body"] == {
        "type": "object",
        "properties": {"x": True},
    }
    (refusal,) = converted(
        {"/a": {"post": {"requestBody": json_body(schema=True)}}}, version="3.0.0"
    ).refusals
    assert refusal.name == "schema"


def test_there_are_so_many_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schemas, "DEFINITIONS_MAX", 2)
    components = {"a": TEXT, "b": TEXT, "c": TEXT}
    taken = Schemas({"components": components}, is_3_0=False)
    for name in ("a", "b", "a"):
        taken.taken({"$ref": f"#/components/{name}"})

    with pytest.raises(UnsupportedError, match="more than 2 schemas"):
        taken.taken({"$ref": "#/components/c"})


def test_a_circle_of_references_leads_nowhere() -> None:
    circle = {"a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}

    with pytest.raises(UnsupportedError, match="leads in a circle"):
        resolved(circle, circle["a"], "a parameter")
