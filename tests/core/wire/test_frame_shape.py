"""The short way for frames that are the same but for one text is as good as the long one."""

import json
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec import Struct

from support.seeds import each_seed
from turnwire.core.wire.frame_shape import FrameShape


class Frame(Struct):
    delta: str
    name: str = ""


_decode = msgspec.json.Decoder(Frame).decode


def long_way(raw: bytes) -> str | None:
    try:
        return _decode(raw).delta or None
    except msgspec.DecodeError:
        return None


def frame(delta: str, **more: Any) -> bytes:
    return json.dumps({"id": 1, **more, "delta": delta, "end": [None]}).encode()


def learned(*frames: bytes) -> FrameShape:
    shape = FrameShape()
    for raw in frames:
        text = long_way(raw)
        assert text is not None
        shape.learn(raw, text, long_way)
    return shape


@pytest.fixture
def shape() -> FrameShape:
    return learned(frame("one"), frame("two"))


def test_two_frames_of_one_shape_are_enough(shape: FrameShape) -> None:
    assert learned(frame("one")).text(frame("two")) is None
    assert FrameShape().text(frame("one")) is None
    assert shape.text(frame("three")) == "three"


@pytest.mark.parametrize("text", ['a"b\\c', "\n\t", "äöü \u2028 😀", "x" * 100_000, "{}", "null"])
def test_any_text_is_as_on_the_long_way(text: str, shape: FrameShape) -> None:
    for raw in (frame(text), json.dumps(text, ensure_ascii=False).encode()):
        assert shape.text(raw) == (long_way(raw) if raw.startswith(b"{") else None)
    assert shape.text(frame(text)) == text


@pytest.mark.parametrize(
    "raw",
    [
        frame(""),
        frame("a", name="b"),
        frame("a").replace(b'"a"', b"7"),
        frame("a").replace(b'"a"', b'"a" '),
        frame("a").replace(b'"a"', b'"a", "name": "b"'),
        frame("a").replace(b'"a"', b'"a\n"'),
        frame("a").replace(b'"a"', b'"\\ud83d"'),
        frame("a").replace(b'"a"', b'"'),
        frame("a")[:-1],
        b"[DONE]",
        b"",
    ],
)
def test_what_is_of_another_shape_takes_the_long_way(raw: bytes, shape: FrameShape) -> None:
    assert shape.text(raw) is None


def test_a_text_that_stands_twice_is_not_taken_for_the_other() -> None:
    hidden = b'{"name":"%b","delta":"\\u0068i"}'
    shape = learned(hidden % b"hi", hidden % b"hi")

    assert shape.text(hidden % b"no") is None
    shape.learn(frame("a"), "a", long_way)
    shape.learn(frame("b"), "b", long_way)
    assert shape.text(frame("c")) is None, "such a stream gets no second try"


def test_a_text_that_is_spelt_otherwise_is_not_learned() -> None:
    spelt = b'{"delta":"\\u0068i"}'

    assert learned(spelt, spelt).text(spelt) is None


def test_another_shape_is_learned_anew(shape: FrameShape) -> None:
    for number in range(2):
        shape.learn(frame(str(number), id=2), str(number), long_way)

    assert shape.text(frame("a", id=2)) == "a"
    assert shape.text(frame("a")) is None


def test_a_stream_whose_frames_all_differ_is_not_compared_for_ever() -> None:
    shape = learned(*(frame("a", id=number) for number in range(8)))

    for _ in range(2):
        shape.learn(frame("a"), "a", long_way)
    assert shape.text(frame("b")) is None


@each_seed(40)
def test_random_frames_are_as_on_the_long_way(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (reproducible)
    shape, short = FrameShape(), 0
    pieces = ["a", '"', "\\", "\\u0041", "é", "}", ",", '"delta":"', " ", "\n", "😀"]
    for _ in range(200):
        text = "".join(random.choices(pieces, k=random.randrange(4)))
        whole = json.dumps(text, ensure_ascii=random.random() < 0.1)
        quoted = f'"{text}"' if random.random() < 0.2 else whole
        raw = b'{"id":%d,"delta":%b}' % (
            random.randrange(2) if random.random() < 0.01 else 0,
            quoted.encode(),
        )
        told = shape.text(raw)
        right = long_way(raw)
        assert told in {None, right}
        short += told is not None
        if right is not None:
            shape.learn(raw, right, long_way)
    assert short >= 5, short


def test_half_of_a_pair_is_not_learned_and_changes_nothing(shape: FrameShape) -> None:
    shape.learn(frame("a"), "hi \ud83d", long_way)

    assert shape.text(frame("b")) == "b"


def test_an_earlier_string_that_is_the_text_is_not_taken_for_it() -> None:
    raw = b'{"name":"%b","delta":"\\u0070robe-1"}'
    shape = learned(raw % b"probe-1", raw % b"probe-1")

    assert shape.text(raw % b"wrong") is None
