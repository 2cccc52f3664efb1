"""Pieces of inputs, preliminary results and data on the `v2` wire."""

from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.continued import approval, called, chunks, continued, init
from support.v2_protocol import conversation
from turnwire.core.agent import Decoded
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import DataPart, Event, Phase, ToolInputDelta, ToolUpdate

LONGEST = "n" * 64


def runs(result: Raw, *, preliminary: bool = False) -> ToolUpdate:
    return ToolUpdate(
        call_id="c1",
        tool_name="bash",
        phase=Phase.RUNNING,
        result=result,
        preliminary=preliminary,
    )


def given(event: Event) -> Any:
    """The event with its JSON as bytes, to be compared."""
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    return type(event), {
        name: bytes(value) if isinstance(value, Raw) else value for name, value in fields.items()
    }


@pytest.mark.parametrize(
    ("frame", "event"),
    [
        (f.tool_input('{"a'), ToolInputDelta("c1", "bash", '{"a')),
        (f.tool_input("\ud83d"), ToolInputDelta("c1", "bash", "\ud83d")),
        (f.tool_input(""), ToolInputDelta("c1", "bash", "")),
        (
            f.tool("running", result=1, preliminary=True),
            runs(Raw(b"1"), preliminary=True),
        ),
        (f.tool("running", result=1, preliminary=None), runs(Raw(b"1"))),
        (f.tool("running", result=1, preliminary=False), runs(Raw(b"1"))),
        (f.data(), DataPart("state", None, Raw(b"1"))),
        (f.data(dataName=LONGEST, dataId="d"), DataPart(LONGEST, "d", Raw(b"1"))),
        (f.data(dataName="a-B_9", dataId=""), DataPart("a-B_9", None, Raw(b"1"))),
        (f.data(dataId=None, transient=None), DataPart("state", None, Raw(b"1"))),
        (f.data(None, transient=True), DataPart("state", None, Raw(b"null"), transient=True)),
    ],
)
def test_a_frame_of_our_turn_is_an_event(frame: bytes, event: Event) -> None:
    received = conversation(f.begin()).receive_frame(frame, 0)

    assert isinstance(received, Decoded)
    assert list(map(given, received.events)) == [given(event)]


@pytest.mark.parametrize("frame", [f.tool_input("{", turn="turn-9"), f.data(turn="turn-9")])
def test_one_of_another_turn_is_foreign_and_shows_that_it_is_open(frame: bytes) -> None:
    ours, waiting = conversation(f.begin()), conversation()

    assert ours.receive_frame(frame, 0) is None
    waiting.receive_frame(frame, 0)

    assert ours.frame_stats.foreign == 1
    assert waiting.queued


@pytest.mark.parametrize(
    "frame",
    [
        f.tool_input("{", call=""),
        f.tool_input("{", name=""),
        f.frame("message.part.tool-input-delta", turnId=f.OURS, callId="c1", toolName="bash"),
        f.tool("running", result=1, preliminary="yes"),
        *(f.data(dataName=name) for name in ("", "a b", "a.b", "é", "a\n", LONGEST + "n", 7)),
        f.data(dataId=7),
        f.data(dataId="d" * 513),
        f.data(transient="yes"),
        f.frame("message.part.data", turnId=f.OURS, dataName="state"),
        f.frame("message.part.data", turnId=f.OURS, value=1),
    ],
)
def test_one_with_wrong_fields_is_counted(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.malformed == 1


def test_data_that_the_client_has_is_replaced_or_not_sent_again() -> None:
    def data(value: int, **fields: str) -> dict[str, Any]:
        return {"type": "data", "dataName": "s", "value": value, **fields}

    turn = continued(known=ClientCopy(message_id="m1", data=2))
    before, since = [data(1, dataId="d"), data(2)], [data(3), data(4), data(5, dataId="e")]

    act = turn.frames([init(*before, called(), approval(), *since)], 1)

    shown = [c for c in chunks(act) if c["type"] == "data-s"]
    assert [(c["data"], c.get("id")) for c in shown] == [(1, "d"), (4, None), (5, "e")]


@pytest.mark.parametrize("status", ["completed", "error"])
def test_an_outcome_is_never_preliminary(status: str) -> None:
    protocol = conversation(f.begin())

    received = protocol.receive_frame(f.tool(status, result=1, preliminary=True), 0)

    assert isinstance(received, Decoded)
    (update,) = received.events
    assert isinstance(update, ToolUpdate)
    assert not update.preliminary
