"""What a model sends is a value, or a sentence that helps it and quotes nothing."""

import enum
import sys
from typing import Any, Literal

import msgspec
import pytest

from runtime.tools.schema_words import TEXT, WHOLE, of
from runtime.tools.schemas import ADDRESS, NODE, REAL
from turnwire_agent.tools.arguments import (
    SENTENCE_MAX,
    Invalid,
    Valid,
    Validate,
    decoded,
    schema_of,
    typed,
    untyped,
)

CANARY = "canary-5f2e"
DEEP = '{"a":' * 5_000 + "1" + "}" * 5_000


class Level(enum.Enum):
    LOW = "low"


class Order(msgspec.Struct, forbid_unknown_fields=True):
    count: int
    note: str = ""
    level: Level = Level.LOW
    size: Literal["s", "m"] = "s"
    at: "Place | None" = None


class Place(msgspec.Struct):
    city: str = "Oslo"

    def __post_init__(self) -> None:
        if self.city.startswith("canary"):
            raise ValueError(f"{self.city} is no city")


@pytest.fixture
def order() -> Validate:
    return typed(Order, schema_of(Order))


@pytest.fixture(params=["library", "own"])
def raw(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Validation by a schema, with the library and without."""
    if request.param == "own":
        monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    return untyped


@pytest.mark.parametrize(
    ("text", "value"),
    [("", {}), (" \n", {}), ("{}", {}), ('{"a": [1.5, "ö"]}', {"a": [1.5, "ö"]})],
)
def test_json_is_read(text: str, value: Any) -> None:
    assert decoded(text) == Valid(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"city": "Os', "not a complete JSON object"),
        ('{"a": 1} {"b": 2}', "not a complete JSON object"),
        ("{'a': 1}", "not a complete JSON object"),
        ('{"a": NaN}', "not a complete JSON object"),
        ("[" * 100_000, "not a complete JSON object"),
        ("[1]", "must be a JSON object, not of type array"),
        ("null", "must be a JSON object, not of type null"),
        ('"' + "x" * 1_000_000 + '"', "more than 1000000 characters"),
        ('{"a": "\ud800"}', "not a complete JSON object"),
        ('{"a":' * 129 + "1" + "}" * 129, "more than 128 levels"),
        (DEEP, "not a complete JSON object"),
    ],
)
def test_what_is_no_object_is_said(text: str, words: str) -> None:
    read = decoded(text)

    assert isinstance(read, Invalid)
    assert words in read.sentence


def test_many_brackets_are_not_many_levels() -> None:
    assert isinstance(decoded('{"a": [' + ",".join(["{}"] * 500) + "]}"), Valid)


def test_typed_arguments_are_a_value_of_the_type(order: Validate) -> None:
    assert order('{"count": 2, "at": {"city": "Rome"}}') == Valid(Order(2, at=Place("Rome")))


def test_a_null_that_stands_for_nothing_is_no_mistake(order: Validate) -> None:
    assert order('{"count": 2, "note": null, "size": null}') == Valid(Order(2))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"count": "2"}', "Expected `int`, got `str` - at `$.count`."),
        ('{"count": 1, "note": null, "level": 5}', "Expected `str`, got `int` - at `$.level`."),
        ("", "Object missing required field `count`."),
        ('{"count": 1, "x": 1}', "Object contains unknown field `x`."),
        ('{"count": 1', "they are not a complete JSON object."),
    ],
)
def test_a_sentence_says_what_is_wrong(order: Validate, text: str, sentence: str) -> None:
    assert order(text) == Invalid(f"The arguments are not valid: {sentence}")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (f'{{"count": 1, "level": "{CANARY}"}}', "$.level"),
        (f'{{"count": 1, "size": "{CANARY}"}}', "$.size"),
        (f'{{"count": 1, "at": {{"city": "{CANARY}"}}}}', "$.at"),
    ],
)
def test_no_sentence_quotes_a_value(order: Validate, text: str, place: str) -> None:
    answer = order(text)

    assert isinstance(answer, Invalid)
    assert place in answer.sentence
    assert CANARY not in answer.sentence


def test_a_choice_at_the_root_of_a_type_is_not_quoted() -> None:
    validate = typed(Literal["a"], {})

    assert validate("{}") == Invalid("The arguments are not valid: Expected `str`, got `object`.")


def test_arguments_are_not_shown() -> None:
    assert CANARY not in repr(Valid({"password": CANARY}))


def test_raw_arguments_are_a_dict(raw: Any) -> None:
    assert raw(of({"at": ADDRESS}))('{"at": {"street": "A", "city": "B"}}') == Valid(
        {"at": {"street": "A", "city": "B"}}
    )


def test_in_raw_arguments_a_null_may_stand_for_nothing(raw: Any) -> None:
    assert raw(of({"a": TEXT, "b": WHOLE}, "a"))('{"a": "x", "b": null}') == Valid({"a": "x"})


@pytest.mark.parametrize(
    ("schema", "text", "words"),
    [
        (of({"a": TEXT}, "a"), "{}", "a"),
        (of({"a": TEXT}, "a"), f'{{"a": {{"{CANARY}": 1}}}}', "$.a"),
        (of({"a": WHOLE}), f'{{"a": "{CANARY}"}}', "$.a"),
        ({"$ref": "#/$defs/N", "$defs": {"N": NODE, "Node": NODE}}, "{}", "value"),
        (of({"a": TEXT}), '{"a": ', "not a complete JSON object"),
    ],
)
def test_raw_arguments_that_do_not_fit(raw: Any, schema: Any, text: str, words: str) -> None:
    answer = raw(schema)(text)

    assert isinstance(answer, Invalid)
    assert words in answer.sentence
    assert CANARY not in answer.sentence.replace(f"'{CANARY}' was unexpected", "")


def test_the_library_checks_all_of_a_schema() -> None:
    validate = untyped(of({"l": {"type": "array", "items": {"type": "string", "minLength": 2}}}))
    answer = validate('{"l": ["ab", "a", "b", "c", "d"]}')

    assert isinstance(answer, Invalid)
    assert answer.sentence.count("the value is shorter than 2 characters") == 3
    assert "at `$.l[1]`" in answer.sentence


def test_without_the_library_the_types_at_the_root_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    validate = untyped(of({"n": {"type": "number", "minimum": 3}, "any": {}}))

    assert validate('{"n": 1, "any": null, "more": 1}') == Valid({"n": 1, "any": None, "more": 1})
    assert validate('{"n": "x"}') == Invalid(
        "The arguments are not valid: Expected number - at `$.n`."
    )


def test_every_real_schema_is_one_for_the_library() -> None:
    for schema in REAL.values():
        untyped(schema)


def test_a_schema_of_an_unknown_draft_is_read_as_the_newest() -> None:
    validate = untyped({**of({"a": TEXT}, "a"), "$schema": "https://example.com/draft"})

    assert isinstance(validate("{}"), Invalid)


def test_the_library_refuses_what_is_no_schema() -> None:
    with pytest.raises(ValueError, match="regex"):
        untyped(of({"a": {"type": "string", "pattern": "("}}))


def test_a_sentence_has_a_bound() -> None:
    answer = untyped(of(additionalProperties=False))(f'{{"{"x" * 5_000}": 1}}')

    assert isinstance(answer, Invalid)
    assert len(answer.sentence) == SENTENCE_MAX


def test_the_schema_of_a_type_has_its_fields_at_the_root() -> None:
    schema = schema_of(Order)

    assert schema["type"] == "object"
    assert "title" not in schema
    assert [*schema["$defs"]] == ["Level", "Place"]
    assert schema_of(Place) == {
        "type": "object",
        "properties": {"city": {"type": "string", "default": "Oslo"}},
        "required": [],
    }


def test_the_schema_of_a_recursive_type_is_a_reference() -> None:
    class Tree(msgspec.Struct):
        children: list["Tree"]

    Tree.__annotations__["children"] = list[Tree]  # a local name that msgspec cannot look up

    assert schema_of(Tree)["$ref"] == "#/$defs/Tree"


def test_the_schema_of_a_plain_type_is_as_it_is() -> None:
    assert schema_of(int) == {"type": "integer"}
