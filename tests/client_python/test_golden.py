"""Each golden stream of the gateway becomes events, and the message that a strict client has."""

from pathlib import Path

import pytest

from support.golden import STREAMS
from turnwire.testing.client_model import Client
from turnwire_client.events import Abort, Error, Finish, TextDelta
from turnwire_client.limits import Limits
from turnwire_client.turn import Turn

PIECE = 700


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
