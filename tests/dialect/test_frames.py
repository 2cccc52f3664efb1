"""A decoder of structs, in one call."""

from collections.abc import Sequence

import msgspec
import pytest
from msgspec import Raw

from turnwire.dialect import FrameDecoder, FrameStats, HandedOn, frame_decoder


class Say(msgspec.Struct, tag="say", rename="camel", frozen=True):
    the_text: HandedOn = ""
    data: Raw = Raw()


class Done(msgspec.Struct, tag="done", frozen=True):
    count: int = 0


DECODER: FrameDecoder[Say | Done] = frame_decoder(Say, Done)


def read(*frames: bytes) -> tuple[Sequence[Say | Done | None], FrameStats]:
    stats = FrameStats()
    return [DECODER.read(frame, stats) for frame in frames], stats


def test_frames_are_told_apart_by_their_type() -> None:
    (said, done), _ = read(b'{"type":"say","theText":"hi"}', b'{"type":"done","count":2}')

    assert (said, done) == (Say("hi"), Done(2))


def test_a_text_that_is_cut_in_a_surrogate_pair_is_not_changed() -> None:
    first, second = rb'{"type":"say","theText":"\ud83d"}', rb'{"type":"say","theText":"\ude00"}'

    assert [said.the_text for said in read(first, second)[0] if isinstance(said, Say)] == [
        "\ud83d",
        "\ude00",
    ]
    assert read(rb'{"type":"say","data":"\ud83d"}')[0] == [Say(data=Raw('"\ufffd"'.encode()))]
    assert read(rb'{"type":"done","count":1,"x":NaN}')[0] == [Done(1)]


def test_one_kind_alone_is_a_wire_too() -> None:
    assert frame_decoder(Done).read(b'{"type":"done"}', FrameStats()) == Done()


@pytest.mark.parametrize(
    ("frame", "counted"),
    [
        (b"no JSON", (1, {})),
        (b'{"type":"done","count":"x"}', (1, {})),
        (b'{"type":"more"}', (0, {"more": 1})),
    ],
)
def test_what_cannot_be_read_is_counted(frame: bytes, counted: tuple[int, dict[str, int]]) -> None:
    frames, stats = read(frame)

    assert frames == [None]
    assert (stats.malformed, stats.unrecognised) == counted
