"""The same thing is read the same way, whatever the words."""

from typing import Any

import pytest

from runtime.tools.schema_words import NUMBER, TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS
from turnwire_agent.tools.schema.document import Document, json_key, type_of
from turnwire_agent.tools.schema.form import BadSchemaError

TEXT_AGAIN = {"$ref": "#/$defs/Text"}
DEFINITIONS = {"Address": ADDRESS, "Text": TEXT}


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        (True, {}),
        (False, {"not": {}}),
        ({"x-order": 1, "nullable": True}, {}),
        ({"properties": {}}, {"type": "object", "properties": {}}),
        ({"items": TEXT}, {"type": "array", "items": TEXT}),
        ({"const": 1}, {"type": "integer", "const": 1}),
        ({"const": None}, {"type": "null"}),
        ({"enum": ["a", "a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [True, False]}, {"type": "boolean"}),
        ({"enum": []}, {"enum": []}),
        ({"enum": [1, 1.5]}, {"type": "number", "enum": [1, 1.5]}),
        ({"type": "string", "enum": ["a", 1]}, {"type": "string", "enum": ["a"]}),
        ({"type": "string", "enum": [1]}, {"type": "string", "enum": []}),
        ({"type": "string", "const": 1}, {"type": "string", "const": 1}),
        ({"type": ["string"]}, TEXT),
        ({"type": ["number", "integer"]}, NUMBER),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"type": ["string", "null"], "enum": ["a", None], "title": "T"},
            {"title": "T", "anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        ),
        (
            {"type": ["string", "integer"], "minLength": 1, "minimum": 2},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 2}]},
        ),
        ({"type": ["string", "integer"], "not": {}}, {"type": ["string", "integer"], "not": {}}),
        (
            {"items": [TEXT], "additionalItems": False},
            {"type": "array", "prefixItems": [TEXT], "items": False},
        ),
        ({"items": [TEXT]}, {"type": "array", "prefixItems": [TEXT]}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"exclusiveMaximum": True}, {}),
        ({"$ref": "#/$defs/Address"}, {"$ref": "#/$defs/Address"}),
        ({"$ref": "#/$defs/Address", "type": "object"}, {"$ref": "#/$defs/Address"}),
        (
            {"$ref": "#/$defs/Address", "description": "D"},
            {"$ref": "#/$defs/Address", "description": "D"},
        ),
        ({"$ref": "#/$defs/Text", "maxLength": 1}, {"type": "string", "maxLength": 1}),
        (
            {"$ref": "#/$defs/Text", "enum": ["a"]},
            {"enum": ["a"], "type": "string", "allOf": [{"$ref": "#/$defs/Text"}]},
        ),
        ({"allOf": [TEXT]}, TEXT),
        ({"allOf": [TEXT, {"description": "D"}]}, {**TEXT, "description": "D"}),
        (
            {"allOf": [{"$ref": "#/$defs/Text"}], "title": "T"},
            {"$ref": "#/$defs/Text", "title": "T"},
        ),
        ({"allOf": [{"enum": ["a"]}]}, {"enum": ["a"], "type": "string"}),
        ({"allOf": [{"minLength": 1}, {"maxLength": 2}]}, {"minLength": 1, "maxLength": 2}),
        ({"allOf": [{"minimum": 1}, {"minimum": 2}]}, {"allOf": [{"minimum": 1}, {"minimum": 2}]}),
        (
            {"allOf": [of({"a": TEXT}, "a"), of({"b": WHOLE, "a": TEXT}, "b", "a")]},
            of({"a": TEXT, "b": WHOLE}, "a", "b"),
        ),
        (
            {"allOf": [of({"a": TEXT}), of({"a": WHOLE})]},
            {"allOf": [of({"a": TEXT}), of({"a": WHOLE})]},
        ),
        (
            {"allOf": [of({"a": TEXT}), of(additionalProperties=False)]},
            {"allOf": [of({"a": TEXT}), of(additionalProperties=False)]},
        ),
        (
            {"allOf": [{"$ref": "#/$defs/Address"}, of({"zip": TEXT})]},
            {
                **of({"street": TEXT, "city": TEXT, "zip": TEXT}, "street", "city"),
                "title": "Address",
            },
        ),
        (
            {"allOf": [{"title": "A", "description": "a"}, {"title": "B", "description": "b"}]},
            {"title": "A", "description": "a\nb"},
        ),
    ],
)
def test_a_schema_in_plain_words(written: Any, plain: Any) -> None:
    document = Document(of(**{"$defs": DEFINITIONS}))

    assert document.plain(written) == plain
    assert document.plain(document.plain(written)) == plain


def test_references_are_followed_to_what_they_lead_to() -> None:
    document = Document(of(**{"$defs": {"A": {"$ref": "#/$defs/B"}, "B": ADDRESS}}))

    assert document.target("#/$defs/A")["properties"] == ADDRESS["properties"]


def test_parts_that_lead_in_a_circle_are_refused() -> None:
    part = {"allOf": [{"$ref": "#/$defs/A"}, {"title": "A"}]}

    with pytest.raises(BadSchemaError, match="circle"):
        Document(of(**{"$defs": {"A": part}})).target("#/$defs/A")


def test_a_part_of_its_own_is_not_merged_into_itself() -> None:
    part = {"allOf": [{"$ref": "#/$defs/A"}, of({"a": TEXT})]}
    document = Document(of(**{"$defs": {"A": part}}))

    assert document.target("#/$defs/A")["allOf"] == part["allOf"]


def test_inside_of_a_copy_references_are_not_merged() -> None:
    document = Document(of(**{"$defs": DEFINITIONS}))
    written = {"allOf": [{"$ref": "#/$defs/Address"}, of({"zip": TEXT})]}

    assert document.plain(written, merge=False) == written
    assert document.repeats(document.plain(written))
    assert not document.repeats(document.plain(written, merge=False))


def test_only_so_much_is_copied() -> None:
    large = of({f"p{at}": TEXT for at in range(1_500)})
    document = Document(of(**{"$defs": {"Large": large}}))
    written = [{"allOf": [{"$ref": "#/$defs/Large"}, of({f"x{at}": TEXT})]} for at in range(4)]

    assert ["allOf" in document.plain(each) for each in written] == [False, False, True, True]


def test_a_json_value_has_one_key() -> None:
    assert json_key(1) == json_key(1.0)
    assert json_key(1) != json_key(True)  # noqa: FBT003
    assert json_key({"a": 1, "b": 2}) == json_key({"b": 2, "a": 1})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "integer"),
        (1.0, "integer"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_a_value_has_a_type(value: Any, kind: str) -> None:
    assert type_of(value) == kind
