"""Which branches of a union share a value, and which can be told apart."""

from typing import Any

import pytest

from runtime.tools.schema_words import NUMBER, TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS, CAT, DOG
from turnwire_agent.tools.schema.document import Document
from turnwire_agent.tools.schema.unions import accepts_null, look_alike, overlap, types_of

CLOSED = of({"a": TEXT}, "a", additionalProperties=False)
MANY = [{"const": at} for at in range(33)]


def document(**definitions: Any) -> Document:
    return Document(of(**{"$defs": definitions}))


@pytest.mark.parametrize(
    ("branches", "share"),
    [
        ([TEXT, WHOLE], False),
        ([NUMBER, WHOLE], True),
        ([TEXT, {}], True),
        ([CAT, DOG], False),
        ([CAT, of({"kind": {"enum": ["cat", "dog"]}}, "kind")], True),
        ([CAT, of({"kind": {"const": "dog"}})], True),
        ([CAT, of({"kind": TEXT}, "kind")], True),
        ([CAT, of({"kind": True}, "kind")], True),
        ([CAT, {"$ref": "#/$defs/Dog"}], False),
        ([of({"a": TEXT}, "a"), of({"b": TEXT}, "b")], True),
        ([CLOSED, of({"b": TEXT}, "b")], False),
        ([of({"b": TEXT}, "b"), CLOSED], False),
        ([{**CLOSED, "patternProperties": {".": TEXT}}, of({"b": TEXT}, "b")], True),
        ([{"enum": [1, 2]}, {"const": 3}], False),
        ([{"enum": [1, 2]}, {"const": 2.0}], True),
        ([{"const": 1}, {"const": True}], False),
        ([{"type": "array"}, {"type": "array"}], True),
        ([{"anyOf": [TEXT, WHOLE]}, {"type": "null"}], False),
        ([{"anyOf": [TEXT, WHOLE]}, NUMBER], True),
        (MANY, True),
        ([{"anyOf": MANY}, TEXT], True),
        ([{"type": ["object", "string"], "not": {}}, CAT], True),
    ],
)
def test_two_branches_share_a_value(branches: list[Any], *, share: bool) -> None:
    assert overlap(document(Dog=DOG), branches) is share


@pytest.mark.parametrize(
    ("branches", "alike"),
    [
        ([TEXT, WHOLE], False),
        ([CAT, DOG], False),
        ([CAT, of({"kind": {"const": "dog"}, "lives": WHOLE}, "kind")], False),
        ([CAT, of({"kind": TEXT, "lives": WHOLE}, "kind")], True),
        ([{**ADDRESS}, {"$ref": "#/$defs/Address"}], True),
        ([{"$ref": "#/$defs/Address"}, {"$ref": "#/$defs/Address"}], False),
        ([{"type": "array"}, {"type": "array", "items": TEXT}], True),
        ([ADDRESS, {"type": "null"}], False),
        ([{}, of()], True),
        (MANY, True),
    ],
)
def test_two_branches_look_alike(branches: list[Any], *, alike: bool) -> None:
    assert look_alike(document(Address=ADDRESS), {"anyOf": branches}) is alike


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        (TEXT, {"string"}),
        (NUMBER, {"integer", "number"}),
        ({"enum": [1, None]}, {"integer", "null"}),
        ({"type": ["string", "null"], "enum": ["x"]}, {"string"}),
        ({"$ref": "#/$defs/A"}, {"object"}),
        ({"oneOf": [TEXT, {"$ref": "#/$defs/A"}]}, {"object", "string"}),
        ({"$ref": "#/$defs/Circle"}, {"null"}),
    ],
)
def test_types_are_found_through_all_words(schema: Any, types: set[str]) -> None:
    circle = {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Circle"}]}

    assert types_of(document(A=ADDRESS, Circle=circle), schema) == types


def test_null_is_possible_where_nothing_is_said() -> None:
    assert accepts_null(document(), {})
    assert accepts_null(document(), {"allOf": [{"minimum": 1}, {"minimum": 2}]})
    assert accepts_null(document(), {"anyOf": [{"anyOf": MANY}] * 3})
    assert not accepts_null(document(), ADDRESS)
