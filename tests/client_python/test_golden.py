"""Each golden stream of the gateway becomes events, and the message that a strict client has."""

from pathlib import Path
from typing import get_args

import pytest

from support.golden import GOLDEN, STREAMS
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.testing.client_model import Client
from turnwire_client.chunks import Known
from turnwire_client.events import Abort, Error, Event, Finish, Restart, TextDelta
from turnwire_client.limits import Limits
from turnwire_client.turn import Turn

PIECE = 700
KNOWN = {each.__struct_config__.tag for each in get_args(Known)}
RESETS = sorted((GOLDEN / "native/v2").glob("*-7.1.sse"))
"""Streams of the profile 7.1, some of which take an attempt back."""


def name(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("stream", STREAMS, ids=name)
def test_a_stream_becomes_the_message_of_a_strict_client(stream: Path) -> None:
    body = stream.read_bytes()
    model = Client(named=None)
    model.read(body)
    turn = Turn(Limits())
    turn.connect()

    events = [
        event for at in range(0, len(body), PIECE) for event in turn.feed(body[at : at + PIECE])
    ]

    assert turn.message.parts == model.parts
    assert turn.message_id == model.message_id
    text = "".join(event.delta for event in events if isinstance(event, TextDelta))
    assert text == model.streamed_text
    ends = [event for event in events if isinstance(event, Finish | Abort | Error)]
    assert ends == [events[-1]] == [turn.end]
    assert getattr(turn.end, "error_text", None) == model.error


@pytest.mark.parametrize("stream", STREAMS, ids=name)
def test_a_stream_that_is_read_again_brings_nothing_but_its_end(stream: Path) -> None:
    """A turn log repeats the same records."""
    body = stream.read_bytes()
    end = body.rindex(b'data: {"type":"finish"')
    turn = Turn(Limits())
    turn.connect()
    list(turn.feed(body[:end]))
    cut = turn.cut()
    if turn.end is not None:  # the verdict came before the cut
        assert isinstance(cut[-1], Error | Abort)
        return
    before = turn.message

    turn.connect()
    again = [*turn.feed(body.replace(b": keepalive\n\n", b""))]

    assert again == [turn.end]
    assert turn.message.parts == before.parts


def test_each_type_of_chunk_that_a_gateway_sends_is_known() -> None:
    tags = [each.__struct_config__.tag for each in get_args(Chunk)]
    named = {tag for tag in tags if isinstance(tag, str) and not tag.startswith("data-")}

    assert len(named) > 18
    assert [tag for tag in sorted(named) if tag not in KNOWN] == []


def since_restart(events: list[Event]) -> str:
    """The text that a program has which drops all that came before a `Restart`."""
    begun = [number for number, event in enumerate(events) if isinstance(event, Restart)]
    last = events[begun[-1] + 1 if begun else 0 :]
    return "".join(event.delta for event in last if isinstance(event, TextDelta))


@pytest.mark.parametrize("stream", RESETS, ids=name)
def test_a_program_shows_no_attempt_that_is_taken_back(stream: Path) -> None:
    body = stream.read_bytes()
    model = Client(named=None, native=True, resets=True)
    model.read(body)
    turn = Turn(Limits())
    turn.connect()

    events = list(turn.feed(body))

    assert turn.message.parts == model.parts
    assert since_restart(events) == turn.message.text
    assert sum(isinstance(event, Restart) for event in events) == body.count(b'"reset-step"')


def test_some_streams_take_an_attempt_back() -> None:
    assert sum(b'"reset-step"' in stream.read_bytes() for stream in RESETS) > 2


@pytest.mark.parametrize("stream", RESETS, ids=name)
def test_wherever_it_breaks_nothing_comes_twice_and_nothing_is_missing(stream: Path) -> None:
    """A turn log repeats the lost attempts, and takes them back again."""
    body = stream.read_bytes().replace(b": keepalive\n\n", b"")
    whole = Turn(Limits())
    whole.connect()
    expected = list(whole.feed(body))

    for at in range(0, body.index(b'data: {"type":"finish"'), 37):
        turn = Turn(Limits())
        turn.connect()
        events = list(turn.feed(body[:at]))
        assert turn.cut() == []
        turn.connect()
        events += turn.feed(body)

        assert turn.message.parts == whole.message.parts
        assert since_restart(events) == since_restart(expected)
        assert events.count(Restart(turn.message_id)) == expected.count(Restart(turn.message_id))
