"""What every dialect does with a frame that is not what it should be."""

from collections.abc import Callable
from typing import Any, Union

import msgspec
import pytest
from msgspec import Struct

from turnwire.core.wire.decoder import FrameDecoder, known_frames
from turnwire.core.wire.frame_stats import FrameStats


class Frame(Struct, frozen=True, tag_field="type"):
    pass


class Text(Frame, frozen=True, tag="text"):
    text: str
    half: str = ""


class Number(Frame, frozen=True, tag="number"):
    number: float | None


class Skipped(Frame, frozen=True):
    pass


KNOWN = known_frames([Text, Skipped, Number], Skipped, ["toast", "models"])
UNREADABLE = (1, 1, dict[str, int]())


def restore_halves(frame: Frame, loose: Any) -> Frame:
    return msgspec.structs.replace(frame, text=loose["text"]) if isinstance(frame, Text) else frame


def keep_halves(loose: Any) -> None:
    loose["half"] = "kept"


decode: Callable[[bytes], Frame] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)
DECODER = FrameDecoder[Frame](decode, KNOWN, restore_halves)


def read(raw: bytes, decoder: FrameDecoder[Frame] = DECODER) -> tuple[Frame | None, FrameStats]:
    frame_stats = FrameStats()
    return decoder.read(raw, frame_stats), frame_stats


def counted(frame_stats: FrameStats) -> tuple[int, int, dict[str, int]]:
    return frame_stats.malformed, frame_stats.wasted, frame_stats.unrecognised


def test_the_known_frames_are_those_read_and_one_for_each_skipped_type() -> None:
    known = known_frames([Text, Skipped, Number], Skipped, ["toast", "models"])
    tags = [kind.__struct_config__.tag for kind in known]

    assert tags == ["text", "number", "toast", "models"]
    assert known[:2] == (Text, Number)
    assert all(issubclass(kind, Skipped) for kind in KNOWN[2:])


@pytest.mark.parametrize(
    ("raw", "frame"),
    [
        (b'{"type":"text","text":"a"}', Text("a")),
        (b'{"type":"number","number":NaN}', Number(None)),
        (b'{"type":"text","text":"\\ud83d"}', Text("\ud83d")),
        (b'{"type":"number","number":1,"other":"\\ud83d"}', Number(1)),
    ],
)
def test_a_frame_is_read_if_it_is_json_or_nearly(raw: bytes, frame: Frame) -> None:
    decoded, frame_stats = read(raw)

    assert decoded == frame
    assert counted(frame_stats) == (0, 0, {})


def test_a_skipped_frame_is_read_whatever_its_fields_are() -> None:
    decoded, frame_stats = read(b'{"type":"toast","text":[7]}')

    assert isinstance(decoded, Skipped)
    assert counted(frame_stats) == (0, 0, {})


@pytest.mark.parametrize(
    ("raw", "counts"),
    [
        (b"{", UNREADABLE),
        (b"7", UNREADABLE),
        (b'{"text":"a"}', UNREADABLE),
        (b"[" * 5_000, UNREADABLE),
        (b'{"type":"text","text":7}', (1, 0, {})),
        (b'{"type":"text","text":NaN}', (1, 0, {})),
        (b'{"type":"news"}', (0, 0, {"news": 1})),
        (b'{"type":"news","number":NaN}', (0, 0, {"news": 1})),
    ],
)
def test_what_cannot_be_read_is_counted(raw: bytes, counts: tuple[int, int, object]) -> None:
    decoded, frame_stats = read(raw)

    assert decoded is None
    assert counted(frame_stats) == counts


def test_what_strict_json_cannot_hold_may_be_kept_in_a_field() -> None:
    decoder = FrameDecoder[Frame](decode, KNOWN, lambda frame, _loose: frame, keep_halves)

    decoded, _ = read(b'{"type":"text","text":"a\\ud83d"}', decoder)

    assert decoded == Text("a\ufffd", "kept")


def test_a_recovered_frame_comes_with_its_strict_json() -> None:
    recovered = DECODER.recover(b'{"type":"number","number":NaN}', FrameStats())

    assert recovered is not None
    assert recovered[0] == Number(None)
    assert msgspec.json.decode(recovered[1]) == {"type": "number", "number": None}


def test_a_wire_may_say_the_type_of_a_frame_otherwise() -> None:
    decoder = FrameDecoder[Frame](
        decode, KNOWN, restore_halves, type_of=lambda raw: "text" if b"half" in raw else ""
    )

    assert counted(read(b'{"type":"text","half":7}', decoder)[1]) == (1, 0, {})
    assert counted(read(b"{}", decoder)[1]) == UNREADABLE
