"""What no schema of a tool may be is refused before anything recurses."""

import pytest

from runtime.tools.hostile_schemas import HOSTILE
from runtime.tools.schema_words import TEXT, deep, of
from runtime.tools.schemas import SCHEMAS
from turnwire_agent.tools.schema.form import BadSchemaError, check, resolve


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_accepted(name: str) -> None:
    check(SCHEMAS[name])


def test_the_place_of_a_fault_is_named() -> None:
    schema = of({"a/b": of({"c~": {"anyOf": [TEXT, {"type": "text"}]}})})

    with pytest.raises(BadSchemaError, match=r"^#/properties/a~1b/properties/c~0/anyOf/1: `type`"):
        check(schema)


def test_a_long_name_is_cut_in_the_place() -> None:
    with pytest.raises(BadSchemaError) as refused:
        check(of({"x" * 1_000: 1}))

    assert len(str(refused.value)) < 150


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("100,000 nodes", "more than 10000 values"),
        ("10,000 levels", "more than 64 levels"),
        ("inside itself", "more than 64 levels"),
        ("megabytes of text", "more than 1000000 characters"),
        ("a reference elsewhere", "leads to no schema of this document: https://example.com"),
        ("a root that is a list", "must be an object"),
        ("half of a surrogate pair", "is no JSON that every reader accepts"),
        ("a required that is true", "`required` must be a list of names"),
    ],
)
def test_a_hostile_schema_is_refused_for_its_reason(name: str, words: str) -> None:
    with pytest.raises(BadSchemaError, match=words):
        check(HOSTILE[name])


def test_sixty_four_levels_are_accepted() -> None:
    check(of({"deep": deep(30)}))
    with pytest.raises(BadSchemaError):
        check(of({"deep": deep(31)}))


def test_what_is_called_like_a_keyword_is_none() -> None:
    check(of({"type": TEXT, "required": TEXT, "$ref": TEXT, "anyOf": TEXT}))
    check(of({"a": {"default": {"type": 5, "$ref": "#/no"}, "enum": [{"required": True}]}}))


def test_a_pointer_is_read() -> None:
    root = {"a/b": {"~": [1, {"c d": 2}]}}

    assert resolve(root, "#") is root
    assert resolve(root, "#/a~1b/~0/1/c%20d") == 2
    assert resolve(root, "#/a~1b/~0/0") == 1
    for nothing in ("#a", "x", "#/a~1b/~0/2", "#/a~1b/~0/-1", "#/a~1b/~0/0/x", "#/no"):
        assert resolve(root, nothing) is None
