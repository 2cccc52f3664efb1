"""What the wire view is told: which chunk came from which frame, and what is kept for whom."""

import json
from collections.abc import Iterator, Mapping

import pytest

from turnwire_lab.wiretap.matching import Link, Matcher
from turnwire_lab.wiretap.records import Records
from turnwire_lab.wiretap.wire import AT_FIRST, WAITING, Wire, fields_of, kind_of

Told = tuple[tuple[str, Mapping[str, object]], ...]

TURN: Told = (
    ("f", {"type": "init"}),
    ("f", {"type": "message.create", "turnId": "t"}),
    ("c", {"type": "start", "messageId": "t"}),
    ("c", {"type": "start-step"}),
    ("f", {"type": "agentStatus", "status": "streaming"}),
    ("f", {"type": "chunk", "content": "Hi "}),
    ("f", {"type": "message.part.text-delta", "delta": "Hi "}),
    ("c", {"type": "data-agent-status", "data": {"status": "streaming"}}),
    ("c", {"type": "text-start"}),
    ("c", {"type": "text-delta", "delta": "Hi "}),
    ("f", {"type": "message.part.tool-update", "callId": "a", "status": "pending"}),
    ("f", {"type": "message.part.tool-update", "callId": "a", "status": "running"}),
    ("c", {"type": "text-end"}),
    ("c", {"type": "tool-input-start", "toolCallId": "a"}),
    ("c", {"type": "tool-input-available", "toolCallId": "a"}),
    ("f", {"type": "question", "questionId": "q", "callId": "a"}),
    ("c", {"type": "tool-approval-request", "toolCallId": "a"}),
    ("f", {"type": "question.resolved", "questionId": "q"}),
    ("c", {"type": "data-question", "id": "q", "data": {"state": "resolved"}}),
    ("f", {"type": "message.part.tool-update", "callId": "a", "status": "error"}),
    ("c", {"type": "tool-output-error", "toolCallId": "a#2"}),
    ("f", {"type": "message.part.reasoning-delta", "delta": "hm"}),
    ("c", {"type": "finish-step"}),
    ("c", {"type": "start-step"}),
    ("c", {"type": "reasoning-start"}),
    ("c", {"type": "reasoning-delta", "delta": "hm"}),
    ("f", {"type": "message.part.file"}),
    ("c", {"type": "file"}),
    ("f", {"type": "message.part.source"}),
    ("c", {"type": "source-url"}),
    ("f", {"type": "message.finalize", "reason": "end_turn"}),
    ("f", {"type": "complete"}),
    ("c", {"type": "finish-step"}),
    ("c", {"type": "finish"}),
    ("c", {}),
)
CAME_FROM = {
    2: 1, 3: 1, 7: 4, 8: 5, 9: 5, 12: 10, 13: 10, 14: 11, 16: 15, 18: 17, 20: 19,
    22: 21, 23: 21, 24: 21, 25: 21, 27: 26, 29: 28, 32: 30, 33: 30, 34: 30,
}  # fmt: skip


def links(told: Told) -> Iterator[Link]:
    matcher = Matcher()
    for number, (side, fields) in enumerate(told):
        if side == "f":
            matcher.frame(number, fields)
        else:
            yield from matcher.chunk(number, fields)


def test_each_chunk_of_a_turn_finds_its_frame() -> None:
    assert dict(links(TURN)) == CAME_FROM


def test_what_is_told_again_at_a_resume_came_from_the_hydration() -> None:
    told: Told = (
        ("f", {"type": "init"}),
        ("c", {"type": "start"}),
        ("c", {"type": "start-step"}),
        ("c", {"type": "text-start"}),
        ("c", {"type": "text-delta", "delta": "all of it"}),
        ("f", {"type": "chunk", "content": "all"}),
        ("c", {"type": "text-delta", "delta": "all"}),
    )
    assert dict(links(told)) == {1: 0, 2: 0, 3: 0, 4: 0, 6: 5}


def test_what_came_from_no_frame_is_not_linked() -> None:
    assert list(links((("c", {"type": "data-agent-status", "data": None}),))) == []


ACP_TURN: Told = (
    ("f", {"id": 1, "result": {"protocolVersion": 1}}),
    ("f", {"id": 2, "result": {"sessionId": "s"}}),
    ("c", {"type": "start"}),
    ("f", {"method": "session/update", "params": {"update": {
        "sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": "hm"}}}}),
    ("c", {"type": "reasoning-delta", "delta": "hm"}),
    ("f", {"method": "session/update", "params": {"update": {
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hi"}}}}),
    ("c", {"type": "text-delta", "delta": "Hi"}),
    ("f", {"method": "session/update", "params": {"update": {"sessionUpdate": "plan"}}}),
    ("c", {"type": "data-plan"}),
    ("f", {"method": "session/update", "params": {"update": {
        "sessionUpdate": "tool_call", "toolCallId": "a", "status": "pending"}}}),
    ("c", {"type": "data-agent-status", "data": {"status": "tool_call"}}),
    ("c", {"type": "tool-input-start", "toolCallId": "a"}),
    ("f", {"id": 0, "method": "session/request_permission", "params": {"toolCall": {}}}),
    ("c", {"type": "data-question", "id": "q"}),
    ("f", {"method": "session/update", "params": {"update": {
        "sessionUpdate": "tool_call_update", "toolCallId": "a", "status": "failed"}}}),
    ("c", {"type": "tool-output-error", "toolCallId": "a"}),
    ("f", {"id": 10, "result": {"stopReason": "end_turn"}}),
    ("c", {"type": "finish"}),
    ("c", {"type": "file"}),
)  # fmt: skip
UI_STREAM_TURN: Told = (
    ("f", {"type": "start"}),
    ("c", {"type": "start", "messageId": "m"}),
    ("f", {"type": "text-delta", "delta": "one "}),
    ("f", {"type": "text-delta", "delta": "two"}),
    ("c", {"type": "text-delta", "delta": "two"}),
    ("f", {"type": "tool-input-start", "toolCallId": "b"}),
    ("f", {"type": "tool-input-start", "toolCallId": "a"}),
    ("c", {"type": "tool-input-start", "toolCallId": "a"}),
    ("f", {"type": "finish"}),
    ("c", {"type": "finish"}),
)


def passed(told: Told) -> Told:
    """The same, with messages of JSON-RPC as the wire reads them."""
    return tuple(
        (side, fields_of(json.dumps({"jsonrpc": "2.0", **fields}).encode()))
        if side == "f" and "type" not in fields
        else (side, fields)
        for side, fields in told
    )


@pytest.mark.parametrize("told", [ACP_TURN, UI_STREAM_TURN], ids=["acp", "ui-stream"])
def test_each_chunk_of_other_wires_finds_its_frame(told: Told) -> None:
    expected: dict[int, int] = {}
    last = 0
    for number, (side, _) in enumerate(told):
        if side == "f":
            last = number
        else:
            expected[number] = last
    assert dict(links(passed(told))) == expected


def test_messages_of_json_rpc_have_a_kind() -> None:
    kinds = (
        ({"method": "session/prompt", "params": {"prompt": []}}, "session/prompt"),
        ({"method": "session/update", "params": {"update": []}}, "session/update"),
        ({"method": "session/update"}, "session/update"),
        ({"id": 1, "error": {"code": 1}}, "error"),
        ({"id": 1, "error": None, "result": None}, "result"),
    )
    for message, kind in kinds:
        assert kind_of(json.dumps({"jsonrpc": "2.0", **message}).encode()) == kind


def test_records_are_cut_wherever_the_pieces_end() -> None:
    stream = (
        b': keepalive\n\nevent: finish\ndata: {"type":"finish"}\n\nretry: 1\n\ndata: [DONE]\n\n'
    )
    for size in range(1, len(stream)):
        records = Records()
        pieces = (stream[at : at + size] for at in range(0, len(stream), size))
        told = [data for piece in pieces for data in records.take(piece)]
        assert told == [b"keepalive", b'{"type":"finish"}', b"[DONE]"]


@pytest.fixture
def wire() -> Wire:
    times = iter(range(100_000))
    return Wire(clock=lambda: next(times) / 1000)


async def test_who_watches_is_told_what_was_and_what_comes(wire: Wire) -> None:
    wire.request("r", "s", "POST chat", b"{}")
    wire.command("r", "s", b'{"type":"prompt"}')
    wire.frame("r", "s", b'{"type":"chunk","content":"a"}')
    with wire.watch() as watch:
        wire.chunk("r", "s", b"keepalive")
        wire.chunk("r", "s", b'{"type":"text-delta","delta":"a"}')
        wire.chunk("r", "s", b"[DONE]")
        wire.frame("r", "s", b"no JSON")
        wire.note("s", "something happens", "r")
        wire.frame("quiet-1", "s", b'{"type":"init"}')
        batch = await watch.next()

    lanes = ["request", "command", "frame", "chunk", "chunk", "chunk", "frame", "note"]
    kinds = ["POST chat", "prompt", "chunk", "keepalive", "text-delta", "[DONE]", "?"]
    assert [entry.lane for entry in batch.entries] == lanes
    assert [entry.kind for entry in batch.entries] == [*kinds, "something happens"]
    assert [entry.at for entry in batch.entries] == [float(n) for n in range(1, 9)]
    assert json.loads(batch.entries[2].body)["content"] == "a"
    assert (batch.links, batch.skipped) == ([(5, 3), (6, 3)], 0)


async def test_who_watches_slowly_misses_the_oldest_and_knows_it(wire: Wire) -> None:
    with wire.watch() as watch:
        for number in range(WAITING + 5):
            wire.note("s", str(number))
        batch = await watch.next()
    with wire.watch() as watch:
        late = await watch.next()

    assert (len(batch.entries), batch.entries[0].kind, batch.skipped) == (WAITING, "5", 5)
    assert len(late.entries) == AT_FIRST
