"""The schema of a wire: its names, paths that lead somewhere, and frames in an envelope."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from turnwire.core.wire.schema import (
    ODD,
    WireSchema,
    name_or_odd,
    names,
    split_bytes,
    split_value,
    type_by,
)
from turnwire.dialects import DIALECTS

SCHEMAS = [pytest.param(dialect.schema, id=name) for name, dialect in DIALECTS.items()]


@pytest.mark.parametrize("name", ["message.part.text-delta", "a", "a" * 64, "user:joined/2", "$_1"])
def test_what_looks_like_a_name_is_shown(name: str) -> None:
    assert name_or_odd(name) == name


@pytest.mark.parametrize("text", ["", "a" * 65, "two words", "a\n", "\u00e9", '{"a":1}', "<b>"])
def test_any_other_text_is_not(text: str) -> None:
    assert name_or_odd(text) == ODD


def test_names_are_separated_by_white_space() -> None:
    assert names(" a b\n  c-d ") == {"a", "b", "c-d"}
    assert names("") == frozenset()


@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_path_begins_with_a_frame_type(schema: WireSchema) -> None:
    types = {str(frame.__struct_config__.tag) for frame in schema.frames}
    paths = {*schema.unread, *schema.inside, *schema.types}

    assert schema.deltas <= types
    assert not [path for path in paths if not any(f"{path}.".startswith(f"{t}.") for t in types)]


def of_array(frame: Any) -> tuple[Any, Any]:
    return frame[1], frame[2]


def of_object(frame: Any) -> tuple[Any, Any]:
    return frame["kind"], frame["body"]


OTHER_SHAPES = [b"[]", b"[1]", b"7", b"null", b'"say"', b"{}", b"[1,2,{}]", b'{"kind":"say"}']


def test_one_function_splits_what_is_decoded_and_what_is_not() -> None:
    assert split_bytes(of_array, b'[7,"say",{"a":1}]') == ("say", Raw(b'{"a":1}'))
    assert split_bytes(of_object, b'{"body":[1],"kind":"say"}') == ("say", Raw(b"[1]"))
    assert split_value(of_array, [7, "say", {"a": 1}]) == ("say", {"a": 1})
    assert split_value(of_object, {"body": [1], "kind": "say"}) == ("say", [1])


@pytest.mark.parametrize("frame", OTHER_SHAPES)
def test_another_shape_is_no_frame(frame: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        split_bytes(of_array, frame)
    assert split_value(of_array, msgspec.json.decode(frame))[0] == ""
    assert type_by(of_array)(frame) == ""


def test_the_type_may_be_a_word_of_the_function() -> None:
    def of_rpc(frame: Any) -> tuple[Any, Any]:
        return ("reply", frame["result"]) if "result" in frame else (frame["method"], frame)

    assert split_bytes(of_rpc, b'{"id":1,"result":{}}') == ("reply", Raw(b"{}"))
    assert split_value(of_rpc, {"id": 1, "result": {}}) == ("reply", {})


def test_a_function_that_returns_too_much_finds_nothing() -> None:
    with pytest.raises(msgspec.ValidationError):
        split_bytes(lambda frame: frame, b'[7,"say",{}]')
    assert split_value(lambda frame: frame, [7, "say", {}]) == ("", [7, "say", {}])


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (b'[7,"say",{"a":1}]', "say"),
        (b'[7,"say",{"a":NaN}]', "say"),
        (rb'[7,"say",{"a":"\ud83d"}]', "say"),
        (b"[NaN]", ""),
        (b"no JSON", ""),
        (b"[" * 5_000, ""),
    ],
)
def test_the_type_of_a_frame(frame: bytes, kind: str) -> None:
    assert type_by(of_array)(frame) == kind


@pytest.mark.parametrize("frame", [b'[7,"say",{"a":NaN}]', rb'[7,"\ud83d",{}]'])
def test_what_is_no_strict_json_is_not_split(frame: bytes) -> None:
    with pytest.raises(msgspec.DecodeError) as raised:
        split_bytes(of_array, frame)

    assert not isinstance(raised.value, msgspec.ValidationError)
