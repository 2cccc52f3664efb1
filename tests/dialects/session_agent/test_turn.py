"""What is read of a frame, and what is counted."""

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support import v2_frames as v2
from support.decoded import outputs
from support.session_agent_protocol import REJECTED, conversation, plain, receive_frame, sent
from turnwire.core.agent import NEVER, AbortScope, Decoded
from turnwire.core.bounds import MALFORMED_BYTES
from turnwire.core.events import (
    AgentStatus,
    Event,
    Phase,
    Reason,
    TextDelta,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import Channel, PromptRequest
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent.frames import SKIPPED


def test_the_dialect_is_known_by_its_name() -> None:
    made = DIALECTS["session-agent"]

    assert (made.name, made.idle_s) == ("session-agent", 330)
    assert made.prompt(PromptRequest(text="hi", prompt_id="p")).abort_scope is AbortScope.NONE


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_prompt_waits_for_init(revision: str) -> None:
    made = conversation()

    assert not made.accepted
    assert sent(made.receive_frame(f.init(revision), 1)) == [
        {
            "type": "prompt",
            "content": "two",
            "queueMode": "followup",
            "channelType": "web",
            "channelId": "default",
        }
    ]
    assert made.accepted
    assert receive_frame(made, f.init(revision)) == []


def test_a_thread_is_named_as_such() -> None:
    made = conversation(channel=Channel("thread", "th1"))

    (prompt,) = sent(made.receive_frame(f.init("V"), 0))

    assert (prompt["threadId"], prompt["channelType"], prompt["channelId"]) == (
        "th1",
        "thread",
        "th1",
    )


def test_a_channel_that_makes_the_agent_remind_itself_is_refused() -> None:
    made = conversation(channel=Channel("slack", "c7"))

    assert made.receive_frame(f.init("V"), 0) == REJECTED


@pytest.mark.parametrize(
    "init",
    [
        f.frame("init"),
        f.frame("init", session=7, data=[]),
        f.frame("init", session={"status": None}, data={"runnerBusy": "yes"}),
    ],
)
def test_an_odd_init_does_not_keep_a_prompt_back(init: bytes) -> None:
    assert sent(conversation().receive_frame(init, 0))


def test_a_ping_goes_out_every_30_seconds() -> None:
    made = conversation(*f.running("V"))

    assert made.deadline == 30
    assert made.tick(29) == Decoded()
    assert made.tick(30) == Decoded(to_agent=[b'{"type":"ping"}'])
    assert made.deadline == 60
    assert receive_frame(made, f.frame("pong")) == []


def test_after_the_end_nothing_is_due_and_nothing_is_told() -> None:
    made = conversation(*f.running("V"), f.done("x"))

    assert made.deadline == NEVER
    assert receive_frame(made, f.done("x"), f.begin("turn-2"), f.status(status="terminated")) == []
    assert made.receive_frame(f.chunk("late"), 0) == ""


@pytest.mark.parametrize(
    ("frame", "told"),
    [
        (f.chunk("a"), ["a"]),
        (f.chunk("\ud83d"), ["\ud83d"]),
        (f.chunk("", channelType=None, channelId=None), [""]),
        (f.doing("thinking"), [AgentStatus("thinking")]),
        (f.doing("tool_calling", detail="bash"), [AgentStatus("tool_calling", "bash")]),
        (f.frame("agentStatus", status="thinking"), [AgentStatus("thinking")]),
        (f.doing("thinking", channelType="slack"), []),
        (
            f.updated(f.tool("running", args={"a": 1})),
            [ToolUpdate(call_id="c1", tool_name="bash", phase=Phase.RUNNING, args=Raw(b'{"a":1}'))],
        ),
        (
            f.updated(f.tool("error", name="", error={"message": "m"})),
            [ToolUpdate(call_id="c1", tool_name="tool", phase=Phase.ERROR, error="m")],
        ),
        (f.updated(f.tool("exploded"), f.tool("pending", call="")), []),
        (
            f.updated({"type": 7}, f.tool("pending")),
            [ToolUpdate(call_id="c1", tool_name="bash", phase=Phase.PENDING)],
        ),
        (f.frame("message.updated", data={"id": f.TURN, "parts": {"type": "image"}}), []),
        (f.frame("message.updated", data={"id": f.TURN, "parts": None}), []),
        (f.frame("message.updated", data={"id": f.TURN}), []),
        (f.done(), [TurnFinished(reason=Reason.END_TURN)]),
        (
            f.updated(f.text("Hi"), f.END, content=None),
            [TextDelta("Hi"), TurnFinished(reason=Reason.END_TURN)],
        ),
        (f.updated(f.text("a"), f.text("b"), f.END), [TurnFinished(reason=Reason.END_TURN)]),
        (
            f.updated({"type": "text", "text": 5}, f.END),
            [TurnFinished(reason=Reason.END_TURN)],
        ),
        (f.updated(f.finish("exploded")), [TurnFinished(reason=Reason.END_TURN)]),
        (f.updated({"type": "finish"}), [TurnFinished(reason=Reason.END_TURN)]),
        (
            f.updated(f.finish("error"), {"type": "error", "message": "no"}),
            [TurnFinished(reason=Reason.ERROR, error="no")],
        ),
        (f.begin("turn-2"), [TurnStarted("turn-2")]),
    ],
)
def test_what_a_frame_of_our_turn_means(frame: bytes, told: list[Event | str]) -> None:
    made = conversation(*f.running("V"))

    assert plain(receive_frame(made, frame)) == plain(told)
    assert (made.frame_stats.malformed, made.frame_stats.unrecognised) == (0, {})


@pytest.mark.parametrize(
    "frame",
    [
        f.status(status="running"),
        f.status(status="restoring", sandboxRunning=False),
        f.status(runnerConnected=True),
        f.status(runnerConnected=False, runnerDisconnected=True),
        f.doing("idle"),
        f.updated(),
    ],
)
def test_the_life_of_the_session_and_of_our_turn_is_a_sign_of_life(frame: bytes) -> None:
    told = conversation(*f.running("V")).receive_frame(frame, 0)

    assert told is not None
    assert outputs(told) == []


@pytest.mark.parametrize(
    "frame",
    [
        f.status(prCreating=True, branch="b"),
        f.status(tunnelUrls={}),
        f.status(collectPending=True),
        f.chunk("x", "turn-9"),
        f.audit("user.prompt"),
        f.frame("pong"),
        f.frame("agentStatus", status="idle"),
        f.frame("queue.state", data={"pending": None}),
    ],
)
def test_other_turns_pong_and_domain_frames_are_no_sign_of_life(frame: bytes) -> None:
    assert conversation(*f.running("V")).receive_frame(frame, 0) is None


@pytest.mark.parametrize("kind", SKIPPED)
def test_domain_frames_are_known_and_counted_by_their_type(kind: str) -> None:
    made = conversation(*f.running("V"))
    frame = f.frame(kind, data=7, anything=[1])

    assert made.receive_frame(frame, 0) is None
    assert (made.frame_stats.malformed, made.frame_stats.unrecognised) == (0, {})
    assert made.frame_stats.left_out == {kind: 1}
    assert made.frame_stats.left_out_bytes == len(frame)


@pytest.mark.parametrize(
    "frame",
    [
        *v2.NOISE[:6],
        f.frame("chunk", content=5, messageId=f.TURN),
        f.frame("chunk", content="x"),
        f.frame("message"),
        f.frame("message.updated", data={"id": ""}),
        f.frame("status"),
        f.frame("error", messageId=7),
        b'{"type":"chunk","content":NaN}',
    ],
)
def test_what_cannot_be_read_is_malformed(frame: bytes) -> None:
    made = conversation(*f.running("V"))

    assert made.receive_frame(frame, 0) is None
    assert (made.frame_stats.malformed, made.frame_stats.unrecognised) == (1, {})


def test_an_unknown_frame_is_counted_by_its_type() -> None:
    made = conversation(f.frame("stream"), b'{"type":"agentPlan","cost":NaN}')

    assert made.frame_stats.unrecognised == {"stream": 1, "agentPlan": 1}
    assert made.frame_stats.malformed == 0


def test_what_is_almost_json_is_read_even_so() -> None:
    made = conversation(*f.running("V"))
    frame = f.updated(f.tool("running", args={"a": 0.5})).replace(b"0.5", b"NaN")

    ((_, update),) = plain(receive_frame(made, frame))

    assert update["args"] == b'{"a":null}'


def test_a_call_is_told_when_its_phase_moves_and_not_again() -> None:
    made = conversation(*f.running("V"))
    one, two = f.tool("running", args={}), f.tool("pending", "c2")

    told = [
        receive_frame(made, f.updated(*parts)) for parts in ([one], [one], [one, two], [one, two])
    ]

    assert [len(events) for events in told] == [1, 0, 1, 0]


def test_a_snapshot_of_another_turn_is_not_taken_for_ours() -> None:
    made = conversation(*f.running("V"), f.updated(f.tool("completed"), f.END, turn="turn-0"))

    assert len(receive_frame(made, f.updated(f.tool("completed")))) == 1
    assert made.frame_stats.foreign == 1


@pytest.mark.parametrize(
    "frame",
    [
        f.chunk("x", "turn-9"),
        f.updated(f.tool("running"), turn="turn-9"),
        f.user("three", "P3", by="u2", channelId="c2"),
        f.begin("turn-9", channelId="c2"),
        f.doing("thinking", channelId="c2"),
        f.asked("R").replace(b'"default"', b'"c2"'),
        f.asked("V").replace(b'"default"', b'"c2"'),
        f.failure("no", channelId="c2"),
        f.frame("queue.withdrawn", data={"messageId": "P9"}),
    ],
)
def test_a_frame_about_others_is_counted_as_foreign(frame: bytes) -> None:
    made = conversation(*f.running("V"))

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.foreign == 1


def test_parts_that_cannot_be_read_count_by_their_bytes() -> None:
    """A small one may be a new kind of part; a megabyte of an id is nothing that anybody means."""
    made = conversation(*f.running("A"))

    receive_frame(made, f.updated(f.tool("running", "c" * 1_000), f.text("A")))
    assert made.frame_stats.wasted == 0
    receive_frame(made, f.updated(f.tool("running", "c" * 100 * MALFORMED_BYTES), f.text("A")))

    assert made.frame_stats.wasted == 100
