"""Each schema, for each shape: without loss, or not strict, and always acceptable."""

import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from runtime.tools.hostile_schemas import HOSTILE, all_referred
from runtime.tools.random_schemas import random_schema
from runtime.tools.reference_server import EVERYTHING
from runtime.tools.rule_checker import broken
from runtime.tools.sample_values import TooDeep, sample
from runtime.tools.schema_words import TEXT, of
from runtime.tools.schemas import ADDRESS, REAL, SCHEMAS
from support.seeds import each_seed
from turnwire_agent.tools.schema.form import BadSchemaError
from turnwire_agent.tools.schema.normalise import Normalised, normalise, size, too_strict
from turnwire_agent.tools.schema.restore import restore
from turnwire_agent.tools.schema.rules import Shape

TESTS = Path(__file__).parents[3]
SHAPES: tuple[Shape, ...] = ("chat", "messages", "google")
"""Responses has the rules of chat: one of both is enough."""
OPENAI_STRICT = {name for name, schema in REAL.items() if normalise(schema, "chat").strict}


def accepts(schema: dict[str, Any], value: Any) -> bool:
    """Whether a library that is not ours accepts a value."""
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    return bool(validator(schema).is_valid(value))


def samples(normalised: Normalised, random: Random, count: int) -> list[Any]:
    """Return some arguments that a model could send."""
    found = []
    for _ in range(count):
        try:
            found.append(sample(normalised.schema, random))
        except TooDeep:
            continue
    return found


def is_acceptable(schema: dict[str, Any], shape: Shape, *, strict: bool | None) -> None:
    normalised = normalise(schema, shape, strict=strict)

    assert broken(normalised.schema, shape, strict=normalised.strict) == []
    assert not (normalised.strict and (normalised.losses or normalised.obstacles))
    text = msgspec.json.encode(normalised.schema).decode()
    for loss in normalised.losses:
        assert loss.what in text, f"the description says nothing of {loss}"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_acceptable(name: str) -> None:
    before = msgspec.json.encode(SCHEMAS[name])

    for shape in SHAPES:
        for strict in (None, True, False):
            is_acceptable(SCHEMAS[name], shape, strict=strict)

    assert msgspec.json.encode(SCHEMAS[name]) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_sent_is_a_schema_of_2020(shape: Shape) -> None:
    for schema in REAL.values():
        jsonschema.Draft202012Validator.check_schema(normalise(schema, shape).schema)


def test_responses_takes_what_chat_takes() -> None:
    for schema in REAL.values():
        assert normalise(schema, "responses") == normalise(schema, "chat")


def test_there_are_sixty_and_all_of_the_reference_server() -> None:
    assert len(SCHEMAS) >= 60
    assert len(EVERYTHING) == 16
    strict = [name for name in EVERYTHING if normalise(EVERYTHING[name], "chat").strict]
    assert set(EVERYTHING) - set(strict) == {"gzip-file-as-resource"}  # for its format `uri`


@each_seed(150)
def test_any_schema_is_acceptable(seed: int) -> None:
    schema = random_schema(Random(seed))  # noqa: S311 (the same every time)
    for shape in SHAPES:
        for strict in (None, True):
            try:
                is_acceptable(schema, shape, strict=strict)
            except BadSchemaError as exc:
                assert "`$ref`" in str(exc)  # noqa: PT017 (most schemas raise nothing)


@pytest.mark.parametrize("name", sorted(OPENAI_STRICT))
def test_what_a_strict_model_sends_is_valid(name: str) -> None:
    schema, random = REAL[name], Random(name)  # noqa: S311 (the same every time)
    sent = samples(normalise(schema, "chat"), random, 60)

    assert len(sent) > 5
    for value in sent:
        assert accepts(schema, restore(value, schema)), value


@each_seed(400)
def test_what_any_strict_model_sends_is_valid(seed: int) -> None:
    """And what the strict words can say, the others accept."""
    random = Random(seed)  # noqa: S311 (the same every time)
    schema = random_schema(random)
    for shape in ("chat", "messages"):
        try:
            normalised = normalise(schema, shape, strict=True)
        except BadSchemaError:
            return
        if normalised.strict:
            for value in samples(normalised, random, 8):
                restored = restore(value, schema)
                assert accepts(schema, restored), value
                for other in SHAPES:
                    sent = normalise(schema, other, strict=False).schema
                    assert accepts(sent, restored), (other, value)


def test_an_optional_property_is_a_union_with_null() -> None:
    sent = normalise(of({"city": TEXT, "unit": TEXT}, "city"), "chat")

    assert sent.strict
    assert sent.schema == {
        "type": "object",
        "properties": {"city": TEXT, "unit": {"anyOf": [TEXT, {"type": "null"}]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    }


def test_a_union_with_null_is_not_strict_where_null_means_something_else() -> None:
    either = {"anyOf": [TEXT, {"type": "null"}]}

    assert normalise(of({"note": {**either, "default": None}}), "chat").strict
    sent = normalise(of({"note": either}), "chat")

    assert not sent.strict
    assert [(each.where, each.what) for each in sent.obstacles] == [
        ("#/properties/note", "required")
    ]
    assert sent.losses == ()


def test_anthropic_is_strict_only_if_it_is_asked_for() -> None:
    schema = of({"city": TEXT, "unit": TEXT}, "city")

    assert not normalise(schema, "messages").strict
    sent = normalise(schema, "messages", strict=True)

    assert sent.strict
    assert sent.schema["required"] == ["city"]
    assert sent.schema["additionalProperties"] is False


def test_google_has_no_strict_tools() -> None:
    sent = normalise(of({"city": TEXT}), "google", strict=True)

    assert not sent.strict
    assert sent.obstacles == ()


def test_a_shape_that_may_be_strict_can_be_told_not_to() -> None:
    assert not normalise(of({"a": TEXT}, "a"), "chat", strict=False).strict


def test_what_is_dropped_is_said_in_the_description() -> None:
    schema = of({"n": {"type": "string", "minLength": 2, "description": "A name"}}, "n")

    sent = normalise(schema, "google")

    assert sent.schema["properties"]["n"]["description"] == "A name (minLength: 2)"
    assert [(each.where, each.what) for each in sent.losses] == [("#/properties/n", "minLength")]


def test_a_long_value_is_cut_in_the_description() -> None:
    sent = normalise(of({"e": {"enum": [{"n": at} for at in range(200)]}}), "google")

    assert len(sent.schema["properties"]["e"]["description"]) < 320
    assert sent.schema["properties"]["e"]["description"].endswith("…")


def test_a_default_is_said_and_nothing_is_lost() -> None:
    sent = normalise(of({"n": {"type": "integer", "default": 3}}), "chat")

    assert sent.strict
    assert sent.schema["properties"]["n"]["description"] == "default: 3"


def test_a_title_is_said_unless_it_repeats_the_name() -> None:
    sent = normalise(
        of({"user_id": {**TEXT, "title": "User Id"}, "b": {**TEXT, "title": "The buyer"}}), "chat"
    )

    assert "description" not in sent.schema["properties"]["user_id"]
    assert sent.schema["properties"]["b"]["description"] == "The buyer"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_refused_at_once(name: str) -> None:
    began = time.thread_time()
    with pytest.raises(BadSchemaError) as refused:
        normalise(HOSTILE[name], "chat")
    took = time.thread_time() - began

    assert took < 0.05
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400


def test_references_that_are_merged_into_each_other_have_an_end() -> None:
    schema = SCHEMAS["doubling"]
    began = time.thread_time()
    sent = normalise(schema, "google")
    took = time.thread_time() - began

    assert took < 0.5
    assert len(msgspec.json.encode(sent.schema)) < 20 * len(msgspec.json.encode(schema))


def test_definitions_in_definitions_have_an_end() -> None:
    began = time.thread_time()
    with pytest.raises(BadSchemaError, match="too large once its parts are put together"):
        normalise(all_referred(9), "google")
    took = time.thread_time() - began

    assert took < 1
    assert normalise(all_referred(6), "google").losses == ()


def test_the_same_is_sent_in_every_process() -> None:
    """Or a provider would have nothing of it in its cache after a restart."""
    code = (
        "import hashlib, msgspec\n"
        "from runtime.tools.schemas import SCHEMAS\n"
        "from turnwire_agent.tools.schema.normalise import normalise\n"
        "sent = [normalise(s, x) for s in SCHEMAS.values() for x in ('chat', 'google')]\n"
        "print(hashlib.sha256(msgspec.json.encode(sent)).hexdigest())"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(runs) == 1


def test_what_openai_counts_is_counted() -> None:
    counted = size(normalise(SCHEMAS["pydantic nested"], "chat").schema)

    assert (counted.properties, counted.depth, counted.characters) == (
        3,
        1,
        len("tostreetcityAddress"),
    )
    assert size(normalise(SCHEMAS["constant"], "chat").schema).characters == len("versionkind2v")
    assert size(normalise(SCHEMAS["array of arrays"], "chat").schema).depth == 3


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("eleven objects in each other", "depth"),
        ("1,001 values of enums", "enum_values"),
        ("long values of an enum", "characters"),
    ],
)
def test_a_schema_above_the_limits_is_not_strict(name: str, what: str) -> None:
    sent = normalise(SCHEMAS[name], "chat")

    assert not sent.strict
    assert [each.what for each in sent.obstacles] == [what]


def test_too_many_strict_tools_are_named() -> None:
    one = normalise(of({"at": ADDRESS, "a": TEXT}, "at"), "messages", strict=True)
    either = of({"a": {"anyOf": [TEXT, {"type": "null"}]}, "b": {"type": ["string", "null"]}})
    unions = normalise(either, "messages", strict=True)

    assert too_strict([one] * 20, "messages") is None
    assert too_strict([one] * 21, "messages") == "21 strict tools, most are 20"
    assert too_strict([unions] * 9, "messages") == "18 unions, most are 16"
    assert (
        too_strict([unions] * 13, "messages")
        == "26 optional properties, most are 24; 26 unions, most are 16"
    )
    assert too_strict([one] * 100, "chat") is None
