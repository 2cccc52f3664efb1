"""The frames of the `v2` wire: what each means, and what is counted."""

import json

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.decoded import outputs
from support.v2_protocol import conversation, plain
from turnwire.core.agent import ALIVE, NEVER, Decoded
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    AgentStatus,
    Event,
    Phase,
    Question,
    QuestionClosed,
    Queued,
    Reason,
    ReasoningDelta,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import Channel
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.v2.frames import SKIPPED


def test_a_conversation_begins_with_the_prompt() -> None:
    opened = conversation(client_message_id="m1", channel=Channel("slack", "c")).connection_opened(
        0
    )

    (prompt,) = outputs(opened)
    assert isinstance(prompt, bytes)
    assert json.loads(prompt) == {
        "type": "prompt",
        "content": "hi",
        "promptId": "p1",
        "clientMessageId": "m1",
        "channelType": "slack",
        "channelId": "c",
        "queueMode": "followup",
    }


def test_what_is_not_known_is_left_out_of_the_prompt() -> None:
    (prompt,) = conversation().connection_opened(0).to_agent

    assert b"clientMessageId" not in prompt


def test_it_never_holds_headers_back_and_has_no_deadline() -> None:
    made = conversation()

    assert (made.accepted, made.deadline, made.tick(9)) == (True, NEVER, Decoded())
    assert (DIALECTS["v2"].name, DIALECTS["v2"].idle_s) == ("v2", 120)
    assert made.connect_request() == ConnectRequest()


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (f.part("a"), "a"),
        (f.chunk("é"), "é"),
        (f.part("\ud83d"), "\ud83d"),
        (f.chunk("\ude00"), "\ude00"),
        (f.reasoning("h"), [ReasoningDelta("h")]),
        (f.reasoning("\ud83d"), [ReasoningDelta("\ud83d")]),
        (f.begin(), []),
        (f.begin("turn-2"), [TurnStarted("turn-2")]),
        (f.init(), []),
        (f.init(runnerBusy=True, runningTurnId=f.OURS), []),
        (f.frame("status"), []),
        (f.frame("agentStatus", status="thinking"), [AgentStatus("thinking")]),
        (
            f.frame("agentStatus", status="tool_calling", detail="d"),
            [AgentStatus("tool_calling", "d")],
        ),
        (
            f.tool("pending"),
            [ToolUpdate(call_id="c1", tool_name="bash", phase=Phase.PENDING)],
        ),
        (
            f.tool("completed", args=None, result=[1, "\u2028"], error={"message": "m"}),
            [
                ToolUpdate(
                    call_id="c1",
                    tool_name="bash",
                    phase=Phase.COMPLETED,
                    args=Raw(b"null"),
                    result=Raw(rb'[1, "\u2028"]'),
                    error="m",
                )
            ],
        ),
        (
            f.question(turnId=f.OURS, options=["x"], expiresAt=5),
            [
                Question(
                    "q1",
                    Raw(
                        b'{"questionId":"q1","text":"ok?","turnId":"turn-1","options":["x"],"expiresAt":5}'
                    ),
                )
            ],
        ),
        (f.finalize(), [TurnFinished(reason=Reason.END_TURN)]),
        (f.finalize(reason="canceled"), [TurnFinished(reason=Reason.CANCELED)]),
        (f.finalize(reason="exploded"), [TurnFinished(reason=Reason.END_TURN)]),
        (f.frame("message.finalize", turnId=f.OURS), [TurnFinished(reason=Reason.END_TURN)]),
        (
            f.finalize(reason="error", error={"message": "no"}, finalText="a", usage={"t": 1}),
            [TurnFinished(reason=Reason.ERROR, error="no", final_text="a", usage=Raw(b'{"t": 1}'))],
        ),
        (f.frame("complete"), [TurnFinished(reason=Reason.END_TURN)]),
        (f.frame("error", message="m"), [TurnFinished(reason=Reason.ERROR, error="m")]),
        (f.frame("error", error="e"), [TurnFinished(reason=Reason.ERROR, error="e")]),
        (f.frame("error"), [TurnFinished(reason=Reason.ERROR)]),
        (f.frame("message.updated", delta=7, turnId=f.OURS), None),
    ],
)
def test_what_a_frame_of_our_turn_means(frame: bytes, told: str | list[Event] | None) -> None:
    made = conversation(f.begin())

    assert plain(made.receive_frame(frame, 0)) == plain(told)
    assert (
        made.frame_stats.foreign,
        made.frame_stats.malformed,
        made.frame_stats.unrecognised,
    ) == (0, 0, {})


@pytest.mark.parametrize("kind", SKIPPED)
def test_domain_frames_are_known_and_counted_by_their_type(kind: str) -> None:
    made = conversation(f.begin())
    frame = f.frame(kind, turnId=7, anything=[1])

    assert made.receive_frame(frame, 0) is None
    assert (made.frame_stats.malformed, made.frame_stats.unrecognised) == (0, {})
    assert made.frame_stats.left_out == {kind: 1}
    assert made.frame_stats.left_out_bytes == len(frame)


@pytest.mark.parametrize("frame", f.NOISE[:6] + f.NOISE[8:10])
def test_what_cannot_be_read_is_malformed(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert (made.frame_stats.malformed, made.frame_stats.unrecognised) == (1, {})


@pytest.mark.parametrize(
    "frame",
    [
        f.frame("chunk", content=5, messageId=f.OURS),
        f.frame("message.part.text-delta", delta="x"),
        f.create(""),
        f.create("x" * 513),
        f.tool("exploded"),
        f.tool("pending", call=""),
        f.tool("pending", name=""),
        f.frame("agentStatus", status="bored"),
        f.frame("question"),
        f.frame("init", data=7),
    ],
)
def test_a_known_frame_with_wrong_fields_is_malformed(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert (made.frame_stats.malformed, made.frame_stats.foreign) == (1, 0)


def test_an_unknown_frame_is_counted_by_its_type() -> None:
    made = conversation(f.begin(), f.frame("new.thing"), f.frame("new.thing", x=1))

    assert made.frame_stats.unrecognised == {"new.thing": 2}
    assert made.frame_stats.malformed == 0


def test_what_is_almost_json_is_read_even_so() -> None:
    frame = f.tool("running").replace(b'"status"', b'"args":{"a":NaN},"status"')

    told = conversation(f.begin()).receive_frame(frame, 0)

    args = Raw(b'{"a":null}')
    update = ToolUpdate(call_id="c1", tool_name="bash", phase=Phase.RUNNING, args=args)
    assert plain(told) == plain([update])


def test_a_question_is_closed_by_id_and_once() -> None:
    made = conversation(f.begin(), f.question("q1"), f.question("q2"))
    resolved = f.frame("question.resolved", questionId="q1", answer={"a": 1})
    expired = f.frame("question.expired", questionId="q2")

    assert plain(made.receive_frame(resolved, 0)) == plain(
        [QuestionClosed("q1", answer=Raw(b'{"a": 1}'))]
    )
    assert made.receive_frame(expired, 0) == Decoded([QuestionClosed("q2", expired=True)])
    assert made.receive_frame(resolved, 0) is None
    assert made.receive_frame(expired, 0) is None
    assert made.frame_stats.foreign == 2


def test_the_questions_remembered_are_bounded() -> None:
    made = conversation(f.begin(), *(f.question(f"q{n}") for n in range(OPEN_QUESTIONS_MAX + 1)))

    assert made.receive_frame(f.frame("question.expired", questionId="q0"), 0) is None
    assert made.receive_frame(f.frame("question.expired", questionId="q1"), 0)


def test_queued_is_told_once_until_our_place_moves() -> None:
    made = conversation()

    assert made.receive_frame(f.begin("turn-0", "p0"), 0) == Decoded([Queued()])
    assert made.receive_frame(f.part("x", "turn-0"), 0) is None
    assert made.receive_frame(f.begin("turn-9", "p9"), 0) is None
    assert made.receive_frame(f.finalize("turn-0"), 0) == ALIVE
    assert made.receive_frame(f.finalize("turn-9"), 0) == ALIVE
    assert made.receive_frame(f.begin("turn-8", "p8"), 0) == Decoded([Queued()])


def test_a_loose_frame_of_an_unknown_type_is_counted_by_its_type() -> None:
    made = conversation(b'{"type":"agentPlan","cost":NaN}', b'{"type":"chunk","content":NaN}')

    assert made.frame_stats.unrecognised == {"agentPlan": 1}
    assert made.frame_stats.malformed == 1


@pytest.mark.parametrize(
    ("final", "left_out"), [("another", {"contradicted text": 1}), ("hello you", {}), ("hello", {})]
)
def test_a_final_text_that_contradicts_the_streamed_one_is_counted(
    final: str, left_out: dict[str, int]
) -> None:
    protocol = conversation()
    turn = Turn(protocol, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    output = turn.frames([f.create(), f.part("hello"), f.finalize(finalText=final)], 0)

    assert protocol.frame_stats.left_out == left_out
    assert protocol.frame_stats.left_out_bytes == (len(final) if left_out else 0)
    assert b"another" not in output.to_client
