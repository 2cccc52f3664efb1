"""Nulls that stand for an absent property are taken out again; no others are."""

from typing import Any

import pytest

from runtime.tools.schema_words import NUMBER, TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS, CAT, TREE
from turnwire_agent.tools.schema.restore import restore

OPTIONAL = of({"city": TEXT, "unit": TEXT}, "city")
NULLABLE = {"type": ["string", "null"]}
PETS = {"anyOf": [CAT, of({"kind": {"enum": ["fish"]}, "lives": WHOLE}, "kind")]}


@pytest.mark.parametrize(
    ("schema", "sent", "restored"),
    [
        (OPTIONAL, {"city": "Oslo", "unit": None}, {"city": "Oslo"}),
        (OPTIONAL, {"city": None, "unit": "C"}, {"city": None, "unit": "C"}),
        (OPTIONAL, {"city": "Oslo", "other": None}, {"city": "Oslo", "other": None}),
        (OPTIONAL, [None], [None]),
        (OPTIONAL, None, None),
        (of({"a": NULLABLE}), {"a": None}, {"a": None}),
        (of({"a": {}}), {"a": None}, {"a": None}),
        (of({"at": OPTIONAL}), {"at": {"unit": None}}, {"at": {}}),
        (
            of({"l": {"type": "array", "items": OPTIONAL}}),
            {"l": [{"unit": None}, None, {}]},
            {"l": [{}, None, {}]},
        ),
        (
            of({"l": {"type": "array", "prefixItems": [TEXT, OPTIONAL]}}),
            {"l": ["x", {"unit": None}, {"unit": None}]},
            {"l": ["x", {}, {"unit": None}]},
        ),
        (of(additionalProperties=OPTIONAL), {"x": {"unit": None}}, {"x": {}}),
        ({"$ref": "#/$defs/A", "$defs": {"A": OPTIONAL}}, {"unit": None}, {}),
        ({"allOf": [OPTIONAL, of({"b": TEXT})]}, {"unit": None, "b": None}, {}),
        (of({"a": {"anyOf": [TEXT, OPTIONAL]}}), {"a": {"unit": None}}, {"a": {}}),
        (
            of({"a": {"type": ["null", "object"], "properties": {"b": TEXT}}}),
            {"a": {"b": None}},
            {"a": {}},
        ),
        (of({"p": PETS}), {"p": {"kind": "fish", "lives": None}}, {"p": {"kind": "fish"}}),
        (
            of({"p": PETS}),
            {"p": {"kind": "cat", "lives": None}},
            {"p": {"kind": "cat", "lives": None}},
        ),
        (
            of({"p": PETS}),
            {"p": {"kind": "bird", "lives": None}},
            {"p": {"kind": "bird", "lives": None}},
        ),
        (of({"p": {"anyOf": [of({"a": TEXT}), of({"b": TEXT})]}}), {"p": {"a": None}}, {"p": {}}),
        (of({"p": {"anyOf": [{}, OPTIONAL]}}), {"p": {"unit": None}}, {"p": {"unit": None}}),
        (
            of({"p": {"anyOf": [of({"n": {"const": at}, "a": TEXT}, "n") for at in range(40)]}}),
            {"p": {"n": 1, "a": None}},
            {"p": {"n": 1, "a": None}},
        ),
        (
            of(
                {
                    "p": {
                        "anyOf": [
                            {"type": "array", "items": OPTIONAL},
                            {"type": "array", "items": NUMBER},
                        ]
                    }
                }
            ),
            {"p": [{"unit": None}]},
            {"p": [{"unit": None}]},
        ),
    ],
)
def test_only_a_null_that_stands_for_nothing_goes(schema: Any, sent: Any, restored: Any) -> None:
    assert restore(sent, schema) == restored


def test_the_arguments_stay_as_they_are() -> None:
    sent = {"at": {"street": None, "city": "Oslo"}}
    schema = of({"at": {**ADDRESS, "required": []}})

    assert restore(sent, schema) == {"at": {"city": "Oslo"}}
    assert sent == {"at": {"street": None, "city": "Oslo"}}


def test_depth_is_no_matter() -> None:
    schema = {**TREE, "required": []}
    sent: dict[str, Any] = {"name": None}
    for _ in range(5_000):
        sent = {"name": None, "children": [sent]}

    restored, levels = restore(sent, schema), 0
    while "children" in restored:
        assert "name" not in restored
        restored, levels = restored["children"][0], levels + 1

    assert levels == 5_000


def test_the_order_of_properties_stays() -> None:
    schema = of({"b": ADDRESS, "a": TEXT, "c": ADDRESS})

    assert [*restore({"b": {}, "a": "x", "c": {}}, schema)] == ["b", "a", "c"]
