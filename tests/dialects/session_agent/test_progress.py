"""The end of our turn: told by a finish part, or by other signals and a time of grace."""

from collections.abc import Callable

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, receive_frame
from turnwire.core.agent import NEVER, AbortScope, Decoded
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
from turnwire.core.requests import Channel
from turnwire.dialects.session_agent import progress

END = TurnFinished(reason=Reason.END_TURN)
CANCELED = TurnFinished(reason=Reason.CANCELED)
WORDLESS = TurnFinished(reason=Reason.ERROR, error=progress.NO_OUTPUT)
FAILED = TurnFinished(reason=Reason.ERROR, error="no")
SPOKE = [f.chunk("a")]
ABORTED = [f.doing("idle"), f.audit("user.abort")]


def begun(revision: str) -> list[bytes]:
    return f.running(revision)


def other(revision: str, **fields: str) -> bytes:
    """Another prompt of our channel is handed to the runner."""
    ids = {"messageId": "P3", **f.CHANNEL, **fields} if revision == "V" else {}
    return f.status(promptDequeued=True, remaining=0, **ids)


@pytest.mark.nameless(
    "`status` with `runnerBusy: false` and no `messageId`",
    "while our prompt is being worked on, after some seconds of grace",
    "R and A run one prompt at a time; a later frame of the turn cancels the end",
)
@pytest.mark.nameless(
    "`error` without a channel and without an id",
    "while our prompt is being worked on",
    "it concerns the session, so every turn",
)
@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    ("frames", "after_s", "end"),
    [
        pytest.param([*SPOKE, "drained"], 2, CANCELED, id="drained in mid-text"),
        pytest.param([f.updated(f.tool("running")), "drained"], 2, CANCELED, id="in mid-tool"),
        pytest.param(["drained"], 2, WORDLESS, id="drained without a word"),
        pytest.param([*SPOKE, "other"], 2, CANCELED, id="another prompt was dispatched"),
        pytest.param([f.failure("no")], 3, FAILED, id="an error"),
        pytest.param([*SPOKE, f.failure({"message": "no"})], 3, FAILED, id="an error in an object"),
        pytest.param([f.failure(None)], 3, TurnFinished(reason=Reason.ERROR, error=""), id="null"),
        pytest.param([f.frame("error", error="no")], 3, FAILED, id="an error of the session"),
        pytest.param([*ABORTED, f.doing("idle")], 2, CANCELED, id="aborted, and idle"),
    ],
)
def test_a_turn_without_a_finish_ends_after_a_grace(
    revision: str, frames: list[bytes | str], after_s: float, end: TurnFinished
) -> None:
    signals = {"drained": f.drained(revision), "other": other(revision)}
    made = conversation(*begun(revision))

    told = receive_frame(made, *(signals[x] if isinstance(x, str) else x for x in frames), now=10)

    assert not [event for event in told if isinstance(event, TurnFinished)]
    assert made.deadline == 10 + after_s
    assert made.abort_scope is not AbortScope.OURS
    assert made.tick(10 + after_s) == Decoded([end])


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("signal", [f.drained, other])
@pytest.mark.parametrize(
    ("frames", "end"),
    [
        pytest.param([f.failure("no")], FAILED, id="an error"),
        pytest.param(ABORTED, CANCELED, id="an abort"),
    ],
)
def test_a_completion_that_is_explained_is_the_end_at_once(
    revision: str, signal: Callable[[str], bytes], frames: list[bytes], end: TurnFinished
) -> None:
    made = conversation(*begun(revision), *frames)

    assert receive_frame(made, signal(revision)) == [end]


@pytest.mark.parametrize("before", [[], ABORTED])
def test_r_confirms_an_abort_at_once(before: list[bytes]) -> None:
    made = conversation(*begun("R"), *SPOKE, *before)

    assert receive_frame(made, f.status(runnerBusy=False, aborted=True)) == [CANCELED]


def test_r_may_never_confirm_an_abort() -> None:
    made = conversation(*begun("R"), f.audit("user.abort"))

    assert made.deadline == progress.ABORT_GRACE_S
    assert made.tick(progress.ABORT_GRACE_S) == Decoded([CANCELED])


@pytest.mark.parametrize(
    "frame",
    [
        f.audit("user.abort"),
        f.audit("user.abort", summary="User aborted agent", createdAt=1772100000),
        f.doing("idle"),
        f.frame("agentStatus", status="idle"),
        f.drained("V", "P9"),
        other("V", channelId="c2"),
        f.status(promptDequeued=True, messageId=f.PROMPT, **f.CHANNEL),
        f.failure("no", channelId="c2"),
        f.frame("error", message="Invalid JSON"),
    ],
)
def test_what_is_no_sign_of_our_end_on_v(frame: bytes) -> None:
    made = conversation(*begun("V"), frame)

    assert made.deadline == 30
    assert receive_frame(made, f.chunk("on"), f.done("on")) == [
        "on",
        TurnFinished(reason=Reason.END_TURN, final_text="on"),
    ]


def test_the_unnamed_idle_after_anothers_abort_is_not_our_end() -> None:
    made = conversation(*begun("V"), f.audit("user.abort"), f.frame("agentStatus", status="idle"))

    assert made.deadline == 30


@pytest.mark.parametrize(
    ("signal", "life", "told"),
    [
        pytest.param(f.drained("V"), f.chunk("b"), "b", id="text"),
        pytest.param(
            f.drained("V"),
            f.updated(f.tool("pending")),
            ToolUpdate(call_id="c1", tool_name="bash", phase=Phase.PENDING),
            id="a tool",
        ),
        pytest.param(f.drained("V"), f.doing("streaming"), AgentStatus("streaming"), id="a status"),
        pytest.param(f.failure("no"), f.begin("turn-2"), TurnStarted("turn-2"), id="a new turn"),
        pytest.param(f.failure("no"), f.chunk("b"), "b", id="text after an error"),
    ],
)
def test_life_takes_back_what_was_suspected(signal: bytes, life: bytes, told: Event | str) -> None:
    made = conversation(*begun("V"), *SPOKE, signal)

    assert receive_frame(made, life) == [told]
    assert made.deadline == 30
    assert made.abort_scope is AbortScope.OURS


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_an_answer_takes_back_what_was_suspected(revision: str) -> None:
    made = conversation(*begun(revision), *SPOKE, f.asked(revision), f.drained(revision))
    assert made.deadline == 2

    assert len(receive_frame(made, f.answered(revision))) == 1
    assert made.deadline == 30


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_turn_of_the_next_prompt_is_not_taken_for_ours(revision: str) -> None:
    made = conversation(*begun(revision), *SPOKE, other(revision))

    assert receive_frame(made, f.doing("thinking"), f.begin("turn-2"), f.chunk("x", "turn-2")) == []
    assert made.tick(2) == Decoded([CANCELED])


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_prompt_that_follows_a_drained_session_is_not_ours(revision: str) -> None:
    next_one = f.user("three", "P3", by="u2")
    made = conversation(*begun(revision), *SPOKE, f.drained(revision), next_one)

    assert receive_frame(made, f.begin("turn-2")) == []
    assert made.tick(2) == Decoded([CANCELED])


def test_a_turn_that_was_passed_may_still_finish() -> None:
    made = conversation(*begun("V"), other("V"))

    assert receive_frame(made, f.chunk("a"), now=1) == ["a"]
    assert made.deadline == 3
    assert (
        error(receive_frame(made, f.updated(f.finish("error"), {"type": "error", "message": "x"})))
        == "x"
    )


def test_a_session_that_dies_in_mid_turn_ends_it() -> None:
    made = conversation(*begun("V"), *SPOKE)

    assert error(receive_frame(made, f.status(status="terminated"))) == progress.SESSION_OVER


# A finish that is not quite the end.

OPEN = f.updated(f.tool("running"), f.END)
FLUSHED = f.updated(f.tool("completed"), f.END)


@pytest.mark.parametrize(
    "frame",
    [
        f.status(promptDequeued=True),
        other("V"),
        f.drained("V", "P9"),
        f.drained("R"),
        f.status(status="terminated"),
    ],
)
def test_nothing_more_is_waited_for_after_a_finish(frame: bytes) -> None:
    made = conversation(*begun("V"), OPEN)

    assert receive_frame(made, frame) == [END]


def test_tools_that_are_flushed_after_the_finish_are_told() -> None:
    made = conversation(*begun("V"))

    assert END not in receive_frame(made, OPEN, f.updated(f.tool("running"), f.END))
    assert made.deadline == progress.LINGER_S
    update, end = receive_frame(made, FLUSHED)
    assert isinstance(update, ToolUpdate)
    assert (update.phase, end) == (Phase.COMPLETED, END)


@pytest.mark.parametrize(
    "frame",
    [
        other("V", channelId="c2"),
        f.doing("idle"),
        f.begin("turn-2"),
        f.user("three", "P3", by="u2"),
        f.expired("V", "q1"),
    ],
)
def test_a_finish_with_tools_open_is_the_end_soon(frame: bytes) -> None:
    made = conversation(*begun("V"), f.asked("V", "q1"), OPEN, frame)

    assert made.receive_frame(f.chunk("late"), 0) == ""
    assert made.tick(progress.LINGER_S) == Decoded([END])


def test_a_canceled_turn_may_go_on_under_a_new_id() -> None:
    made = conversation(*begun("V"), *SPOKE, f.updated(f.finish("canceled")))

    assert receive_frame(made, f.updated(f.finish("canceled"))) == []
    assert receive_frame(made, f.begin("turn-2"), f.chunk("b", "turn-2")) == [
        TurnStarted("turn-2"),
        "b",
    ]
    assert receive_frame(made, f.done("b", "turn-2")) == [
        TurnFinished(reason=Reason.END_TURN, final_text="b")
    ]


def test_a_canceled_turn_that_does_not_go_on_is_over() -> None:
    made = conversation(*begun("V"), *SPOKE, f.updated(f.finish("canceled")))

    assert made.deadline == progress.COMPLETION_GRACE_S
    assert receive_frame(made, f.user("three", "P3", by="u2"), f.begin("turn-2")) == []
    assert made.tick(2) == Decoded([CANCELED])


def test_an_error_told_before_a_finish_without_one_is_its_text() -> None:
    made = conversation(*begun("R"), f.failure("no"))

    assert receive_frame(made, f.updated(f.finish("error"))) == [FAILED]


# The text of a finish (page 5.7).


@pytest.mark.parametrize(
    ("chunks", "finish", "told"),
    [
        pytest.param(
            ["Hi"],
            f.done("Hi you"),
            [TurnFinished(reason=Reason.END_TURN, final_text="Hi you")],
            id="streamed",
        ),
        pytest.param([], f.done("Hi"), [TextDelta("Hi"), END], id="not streamed"),
        pytest.param([""], f.done("Hi"), [TextDelta("Hi"), END], id="empty chunks are none"),
        pytest.param([], f.done(), [END], id="nothing at all"),
    ],
)
def test_the_text_of_the_end(chunks: list[str], finish: bytes, told: list[Event]) -> None:
    made = conversation(*begun("V"), *map(f.chunk, chunks))

    assert receive_frame(made, finish) == told


@pytest.mark.parametrize(
    ("idle_channel", "summary", "is_stopped"),
    [
        (None, "User aborted agent", True),
        (None, "User aborted agent (channel: web:default)", True),
        (None, "User aborted agent (channel: web:c2)", False),
        (None, "Somebody aborted", None),
        (Channel("web", "c2"), "", True),
        (Channel("thread", "th1"), "", False),
        (Channel("web", "c2"), "User aborted agent (channel: web:c2)", True),
    ],
)
def test_which_abort_stops_our_turn(
    idle_channel: Channel | None, summary: str, *, is_stopped: bool | None
) -> None:
    detector = progress.CompletionDetector()
    detector.idle_channel = idle_channel

    assert detector.is_stopped_by_abort(Channel("web", "default"), summary) is is_stopped


def test_the_first_of_two_suspicions_counts_until_the_turn_goes_on() -> None:
    detector = progress.CompletionDetector()
    detector.expect_end_by(5)
    detector.expect_end_by(9)
    detector.aborted = True
    assert (detector.deadline, detector.has_cause) == (5, True)

    detector.reset()

    assert (detector.deadline, detector.has_cause) == (NEVER, False)


@pytest.mark.parametrize(
    ("error", "aborted", "has_output", "end"),
    [
        ("no", True, True, FAILED),
        (None, True, False, CANCELED),
        (None, False, True, CANCELED),
        (None, False, False, WORDLESS),
    ],
)
def test_how_a_turn_ended_that_does_not_say_it(
    error: str | None, end: TurnFinished, *, aborted: bool, has_output: bool
) -> None:
    detector = progress.CompletionDetector()
    detector.error, detector.aborted = error, aborted

    assert detector.finish(has_output=has_output) == end
