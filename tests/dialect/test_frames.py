"""A decoder of structs, in one call."""

from collections.abc import Sequence

import msgspec
import pytest
from msgspec import Raw

from turnwire.dialect import FrameDecoder, FrameStats, HandedOn, frame_decoder, type_inside


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


INSIDE: FrameDecoder[Say | Done] = frame_decoder(Say, Done, inside="event")


def test_frames_come_in_an_envelope() -> None:
    stats = FrameStats()

    half = rb'{"type":"event","event":{"type":"say","theText":"\ud83d"}}'

    assert INSIDE.read(b'{"type":"event","event":{"type":"done","count":2}}', stats) == Done(2)
    assert INSIDE.read(half, stats) == Say("\ud83d")
    assert INSIDE.read(b'{"type":"event","event":{"type":"done","count":NaN}}', stats) is None
    assert (stats.malformed, stats.unrecognised) == (1, {})


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (b'{"event":{"type":"done"},"type":"event"}', "done"),
        (rb'{"type":"event","event":{"type":"say","x":"\ud83d"}}', "say"),
        (b'{"type":"later","event":{"type":"done"}}', "later"),
        (b'{"type":"later","x":NaN}', "later"),
        (b'{"type":"event"}', ""),
        (b'{"type":"event","event":[]}', ""),
        (b'{"type":5}', ""),
        (b"no JSON", ""),
    ],
)
def test_the_type_in_an_envelope(frame: bytes, kind: str) -> None:
    assert type_inside("event")(frame) == kind


@pytest.mark.parametrize(
    ("frame", "counted"),
    [
        (b'{"type":"event","event":{"type":"done","count":"x"}}', (1, 0, {})),
        (b'{"type":"event","event":{"type":"more"}}', (0, 0, {"more": 1})),
        (b'{"type":"later","event":{"type":"done"}}', (0, 0, {"later": 1})),
        (b'{"type":"event"}', (1, 1, {})),
    ],
)
def test_what_cannot_be_read_of_an_envelope_is_counted(
    frame: bytes, counted: tuple[int, int, dict[str, int]]
) -> None:
    stats = FrameStats()

    assert INSIDE.read(frame, stats) is None
    assert (stats.malformed, stats.wasted, stats.unrecognised) == counted


SPLIT: FrameDecoder[Say | Done] = frame_decoder(Say, Done, split=lambda frame: (frame[1], frame[2]))


def test_decoders_of_the_same_kinds_may_read_other_envelopes() -> None:
    moved = frame_decoder(Say, Done, split=lambda frame: (frame[0], frame[1]))
    renamed = frame_decoder(Say, Done, inside="told")

    assert moved.read(b'["done",{"count":2}]', FrameStats()) == Done(2)
    assert renamed.read(b'{"told":{"type":"done","count":2}}', FrameStats()) == Done(2)
    assert SPLIT.read(b'[1,"done",{"count":2}]', FrameStats()) == Done(2)


@pytest.mark.parametrize(
    ("frame", "read"),
    [
        (b'[1,"say",{"theText":"hi"}]', Say("hi")),
        (b'[1,"done",{"count":2},"more"]', Done(2)),
        (rb'[1,"say",{"theText":"\ud83d"}]', Say("\ud83d")),
        (b'[NaN,"done",{"count":2}]', Done(2)),
    ],
)
def test_frames_may_be_arrays(frame: bytes, read: Say | Done) -> None:
    assert SPLIT.read(frame, FrameStats()) == read


@pytest.mark.parametrize(
    ("frame", "counted"),
    [
        (b'[1,"done",{"count":"x"}]', (1, 0, {})),
        (b'[1,"done"]', (1, 1, {})),
        (b'[1,"more",{}]', (0, 0, {"more": 1})),
        (b'[1,"more",{"x":NaN}]', (0, 0, {"more": 1})),
        (b'{"type":"done"}', (1, 1, {})),
        (b"no JSON", (1, 1, {})),
    ],
)
def test_what_cannot_be_read_of_an_array_is_counted(
    frame: bytes, counted: tuple[int, int, dict[str, int]]
) -> None:
    stats = FrameStats()

    assert SPLIT.read(frame, stats) is None
    assert (stats.malformed, stats.wasted, stats.unrecognised) == counted
