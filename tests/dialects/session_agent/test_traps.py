"""The 25 traps of section 9 of the wire page: each has a test here that names it."""

import re

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, plain, receive_frame, sent
from support.turns import verdict, wait
from turnwire.config.settings import Settings
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.events import (
    Phase,
    QuestionClosed,
    Queued,
    Reason,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import progress
from turnwire.testing.client_model import Client

DIALECT = DIALECTS["session-agent"]
END = TurnFinished(reason=Reason.END_TURN)
CANCELED = TurnFinished(reason=Reason.CANCELED)
each_revision = pytest.mark.parametrize("revision", f.REVISIONS)


def turn(*frames: bytes, text: str = "two") -> tuple[Turn, Client]:
    """A whole stream, opened at 0, that heard these frames at 1, and its client."""
    made = Turn(
        DIALECT.prompt(PromptRequest(text=text, prompt_id="p1", user_id=f.ME)),
        Limits(idle_s=DIALECT.idle_s),
        UIMessageStream(),
    )
    client = Client()
    client.read(made.handle(Opened(), 0).to_client)
    client.read(made.frames(frames, 1).to_client)
    return made, client


@each_revision
@pytest.mark.trap(
    1,
    "Frames that only a runner sends (`message.create`, `message.finalize`, `complete`) never come",
)
def test_trap_1_what_only_a_runner_says_is_not_waited_for(revision: str) -> None:
    made = conversation(*f.running(revision))
    never = [f.frame(kind, turnId=f.TURN) for kind in ("message.create", "message.finalize")]

    assert receive_frame(made, *never, f.frame("complete"), f.done("x"))[-1] == END
    assert set(made.frame_stats.unrecognised) == {"message.create", "message.finalize", "complete"}


@each_revision
@pytest.mark.trap(2, "A socket gets the turns of all users, on V interleaved")
def test_trap_2_the_turns_of_everybody_else_are_filtered_out(revision: str) -> None:
    open_turns = f.chunk("x", "T0"), f.updated(f.tool("running"), turn="T0"), f.done("x", "T0")
    made = conversation(*f.running(revision))

    assert receive_frame(made, f.chunk("a"), *open_turns, f.chunk("b")) == ["a", "b"]
    assert made.frame_stats.foreign == 3


@each_revision
@pytest.mark.trap(3, "`message.updated` is a snapshot, and its text repeats that of `chunk`")
def test_trap_3_a_snapshot_is_diffed_and_its_text_not_added(revision: str) -> None:
    made = conversation(*f.running(revision))
    said = f.text("Let me look. Let me look.")
    steps = [f.tool("pending"), f.tool("running", args={}), f.tool("completed", args={})]

    told = receive_frame(
        made, f.chunk("Let me look."), *(f.updated(said, s, content="x") for s in steps)
    )

    assert told[0] == "Let me look."
    assert [e.phase for e in told if isinstance(e, ToolUpdate)] == [
        Phase.PENDING,
        Phase.RUNNING,
        Phase.COMPLETED,
    ]
    assert len(told) == 4


@each_revision
@pytest.mark.trap(4, "Only a tool in between separates one text from the next")
def test_trap_4_a_tool_closes_the_text_and_the_next_chunk_opens_another(revision: str) -> None:
    called = f.updated(f.tool("completed", args={}, result="x"))
    _, client = turn(*f.running(revision), f.chunk("a"), called, f.chunk("b"), f.done("b"))

    client.close()
    assert list(client.texts.values()) == ["a", "b"]


@pytest.mark.parametrize("errors_first", [False, True])
@pytest.mark.trap(
    5, "The finish part stands before or after the error part, and tools may complete after it"
)
def test_trap_5_a_finish_may_precede_tools_and_errors_or_follow_them(*, errors_first: bool) -> None:
    end = [f.finish("error"), {"type": "error", "message": "no"}]
    parts = end[::-1] if errors_first else end
    flushed = f.updated(f.tool("completed"), *parts)
    made, client = turn(*f.running("R"), f.updated(f.tool("running"), *parts))

    assert made.outcome is None
    act = made.frames([flushed], 1.1)

    client.read(act.to_client)
    client.close()
    assert verdict(act) == "no"
    assert b"tool-output-available" in act.to_client


@each_revision
@pytest.mark.trap(6, "A turn that is aborted gets no finish part")
def test_trap_6_the_end_of_an_aborted_turn_is_made_up(revision: str) -> None:
    running = f.updated(f.tool("running", args={}))
    made, client = turn(*f.running(revision), f.chunk("a"), running)
    made.frames([f.doing("idle"), f.audit("user.abort"), f.doing("idle")], 2)

    client.read(made.frames([f.drained(revision)], 2).to_client)

    client.close()
    assert client.verdict == {"type": "abort"}
    assert client.tools == {"c1": "output"}


@each_revision
@pytest.mark.trap(7, "`agentStatus` `idle` comes while a question waits, and late")
def test_trap_7_idle_is_not_the_end(revision: str) -> None:
    made = conversation(*f.running(revision), f.asked(revision), f.doing("idle"))

    assert made.deadline == 30
    assert receive_frame(made, f.doing("idle"), f.chunk("on")) == ["on"]


@pytest.mark.trap(8, "`runnerBusy: false` may be another prompt's, or never come")
def test_trap_8_a_session_that_drains_may_be_anothers_or_never_say_so() -> None:
    made = conversation(*f.running("V"), f.drained("V", "P9"))
    never = conversation(*f.running("V"), f.chunk("a"))
    next_one = f.status(promptDequeued=True, messageId="P3", **f.CHANNEL)

    assert made.deadline == 30
    assert receive_frame(never, next_one) == []
    assert never.tick(progress.COMPLETION_GRACE_S) == Decoded([CANCELED])


@each_revision
@pytest.mark.trap(9, "A prompt may fail without a turn, and even without a frame")
def test_trap_9_a_failure_without_a_turn_or_without_a_word_ends(revision: str) -> None:
    told = conversation(f.init(revision), f.user(), f.failure("no"))
    untold = conversation(f.init(revision), f.user(), f.drained(revision))

    assert error(receive_frame(told, f.drained(revision))) == "no"
    assert error(untold.tick(2)) == progress.NO_OUTPUT


@pytest.mark.trap(9, "No frame says what happens to a prompt without a channel")
def test_trap_9_the_channel_is_always_sent() -> None:
    (prompt,) = sent(conversation().receive_frame(f.init("V"), 0))

    assert (prompt["channelType"], prompt["channelId"]) == ("web", "default")


@each_revision
@pytest.mark.parametrize("alive", ["terminated", "archived", "error"])
@pytest.mark.trap(10, "A prompt to a session that is over is queued for ever, and no frame says so")
def test_trap_10_a_dead_session_gets_no_prompt(revision: str, alive: str) -> None:
    assert conversation().receive_frame(f.init(revision, alive=alive), 0) == Decoded(
        rejection=Rejection.SESSION
    )
    later = conversation(f.init(revision, runnerBusy=True), *f.queued(revision))
    assert error(receive_frame(later, f.status(status=alive))) == progress.SESSION_OVER


@each_revision
@pytest.mark.trap(
    11, "A session's own queue mode may stop what runs, or join prompts under a new id"
)
def test_trap_11_the_queue_mode_is_always_sent(revision: str) -> None:
    (prompt,) = sent(conversation().receive_frame(f.init(revision), 0))

    assert prompt["queueMode"] == "followup"


@pytest.mark.parametrize("revision", ["A", "V"])
@pytest.mark.trap(12, "On A and V any prompt may push another one out of the queue")
def test_trap_12_an_evicted_prompt_ends(revision: str) -> None:
    made = conversation(f.init(revision, runnerBusy=True), *f.queued(revision))

    gone = f.frame("queue.withdrawn", data={"messageId": f.PROMPT, "content": "two"})

    assert error(receive_frame(made, gone)) == progress.EVICTED


@each_revision
@pytest.mark.trap(13, "An abort stops all that runs, and on R empties the queue of all users")
def test_trap_13_an_abort_hits_us_alone_or_is_not_sent(revision: str) -> None:
    waits = conversation(f.init(revision, runnerBusy=True), *f.queued(revision), f.begin("T0"))
    runs = conversation(*f.running(revision))
    open_turns = conversation(
        *f.running(revision),
        *([f.user("x", "P3", by="u2"), f.status(promptQueued=True, queuePosition=1)]),
        f.begin("T9", channelId="c2"),
    )
    over = conversation(*f.running(revision), f.done("x"))

    assert [made.abort_scope for made in (waits, runs, open_turns, over)] == [
        AbortScope.SHARED,
        AbortScope.OURS,
        AbortScope.NONE,
        AbortScope.NONE,
    ]
    assert [len(made.abort()) for made in (waits, runs, open_turns, over)] == [0, 1, 0, 0]


@pytest.mark.trap(14, "V may take a prompt for a command, or for the answer to an open question")
def test_trap_14_a_swallowed_prompt_ends() -> None:
    reply = {"id": "m9", "role": "system", "content": "Nothing runs", "parts": None}
    slash, client = turn(f.init("V"), f.frame("message", data=reply), text="/status")
    taken = f.answered("V", "q0", "two").replace(b'"owner"', b'"u1"')

    client.close()
    assert (slash.outcome, client.text) == (Outcome.COMPLETED, "Nothing runs")
    assert error(receive_frame(conversation(f.init("V")), taken)) == progress.ANSWERED


@pytest.mark.parametrize("parts", [{"type": "image"}, None, [], [7, None, {"type": "new"}]])
@pytest.mark.trap(15, "`parts`, `content` and `error` come in several shapes, or not at all")
def test_trap_15_parts_content_and_errors_come_in_many_shapes(parts: object) -> None:
    made = conversation(*f.running("V"))
    snapshot = f.frame("message.updated", data={"id": f.TURN, "parts": parts})
    transcript = f.frame("message.updated", data={"id": f.PROMPT, "parts": parts})

    assert receive_frame(made, snapshot, transcript, f.failure({"message": "no"})) == []
    assert error(made.tick(3)) == "no"
    assert made.frame_stats.malformed == 0


@pytest.mark.trap(15, "`parts`, `content` and `error` come in several shapes, or not at all")
def test_trap_15_null_and_absent_are_the_same() -> None:
    refused = f.frame("error", message="Missing content", error=None)
    nulls = dict.fromkeys(("aborted", "promptQueued", "queueCleared", "remaining", "status"))
    chosen = {"value": None, "actionId": "allow_once"}
    resolved = f.frame("interactive_prompt_resolved", promptId="q1", resolution=chosen)
    made = conversation(*f.running("V"), f.asked("V"))

    assert error(receive_frame(conversation(f.init("V")), refused)) == "Missing content"
    assert receive_frame(made, f.status(**nulls), f.audit("x", eventType=None)) == []
    ((_, closed),) = plain(receive_frame(made, resolved))
    assert closed["answer"] == b'"allow_once"'
    assert made.frame_stats.malformed == 0


@pytest.mark.parametrize(
    "data",
    [
        {"pendingPrompt": {"messageId": "P1", "content": None}},
        {"pendingPrompt": {"messageId": 7}},
        {"runnerBusy": None, "promptsQueued": None},
        {"promptsQueued": "many"},
    ],
)
@pytest.mark.trap(15, "`parts`, `content` and `error` come in several shapes, or not at all")
def test_trap_15_an_odd_init_is_still_of_its_revision(data: f.Fields) -> None:
    """V tells a prompt that waits by `queue.state` alone, so that taken for R it would hang."""
    made = conversation(f.init("V", **data))

    assert receive_frame(made, *f.queued("V")) == [Queued()]


@each_revision
@pytest.mark.trap(16, "Times are seconds in one place and milliseconds in another")
def test_trap_16_times_are_sent_in_milliseconds(revision: str) -> None:
    made = conversation(*f.running(revision))

    ((_, question),) = plain(receive_frame(made, f.asked(revision, expires_s=1772100300)))

    assert b'"expiresAt":1772100300000' in question["payload"]


@pytest.mark.trap(17, "The agent may name a sub-protocol, even to a client that offered none")
def test_trap_17_both_subprotocols_are_offered() -> None:
    assert conversation().connect_request().offered_protocols == ("valet", "agent-ops")


@pytest.mark.trap(18, "The agent takes prompts of viewers too")
def test_trap_18_the_role_is_not_the_agents_to_check() -> None:
    """A viewer may prompt on this socket: `web.routes.chat` checks the role before the dial."""
    assert sent(conversation(user_id="a-viewer").receive_frame(f.init("V"), 0))


@each_revision
@pytest.mark.trap(19, "On R frames come before `init`, on A and V noise comes after it")
def test_trap_19_frames_may_come_before_init_and_noise_after_it(revision: str) -> None:
    early = f.begin("T0"), f.chunk("x", "T0"), f.user("two", "P0")
    noise = f.frame("models", models=[]), f.audit("user.abort", createdAt=1772100000)
    made = conversation(*early)

    assert sent(made.receive_frame(f.init(revision, runnerBusy=True), 0))
    assert receive_frame(made, *noise, f.done("x", "T0"), f.user(), *noise, f.begin()) == [
        TurnStarted(f.TURN)
    ]
    assert made.deadline == 30


@pytest.mark.trap(20, "An echo may have only an id for its author")
def test_trap_20_the_author_is_known_by_id_alone() -> None:
    made = conversation(f.init("V"), f.user(authorEmail="", authorName=None))

    assert made.prompt_id == f.PROMPT


@each_revision
@pytest.mark.trap(
    21,
    "During a tool, a question, a wait in the queue or a slow model no frame may come for minutes",
)
def test_trap_21_long_silences_are_legitimate(revision: str) -> None:
    plainly, _ = turn(*f.running(revision))
    tool, _ = turn(*f.running(revision), f.updated(f.tool("running")))
    asked, _ = turn(*f.running(revision), f.asked(revision))
    queued, _ = turn(f.init(revision, runnerBusy=True), *f.queued(revision))

    for made in (plainly, tool, asked, queued):
        wait(made, 329)
        assert made.outcome is None
    for made in (tool, queued):
        wait(made, 599)
        assert made.outcome is None
    wait(plainly, 332)
    assert plainly.outcome is Outcome.SILENT
    assert Settings().idle_s is None


@each_revision
@pytest.mark.trap(22, "One prompt may have several turns")
def test_trap_22_several_turns_of_one_prompt_are_one_message(revision: str) -> None:
    again = f.begin("turn-2"), f.chunk("b", "turn-2"), f.done("b", "turn-2")
    made, client = turn(*f.running(revision), f.chunk("a"), *again)

    client.close()
    assert (made.outcome, client.message_id, client.text) == (Outcome.COMPLETED, f.TURN, "ab")


@each_revision
@pytest.mark.trap(23, "A message of the assistant that has content was forwarded from elsewhere")
def test_trap_23_a_forwarded_message_begins_no_turn(revision: str) -> None:
    made = conversation(f.init(revision), f.user())
    forwarded = f.begin("T9", content="Fwd", parts={"forwarded": True})

    assert receive_frame(made, forwarded, f.begin()) == [TurnStarted(f.TURN)]


@pytest.mark.parametrize("revision", ["A", "V"])
@pytest.mark.trap(24, "Questions may come several at once, and the turn waits for all")
def test_trap_24_a_turn_stays_open_until_all_its_questions_are_closed(revision: str) -> None:
    asked = f.asked(revision, "r:0"), f.asked(revision, "r:1")
    made = conversation(*f.running(revision), *asked)

    assert [type(e) for e in receive_frame(made, f.answered(revision, "r:0"))] == [QuestionClosed]
    assert made.deadline == 30
    assert [type(e) for e in receive_frame(made, f.expired(revision, "r:1"))] == [QuestionClosed]
    assert receive_frame(made, f.chunk("on")) == ["on"]


@pytest.mark.trap(25, "A frame may have 32 MiB, and snapshots grow with their turn")
def test_trap_25_large_frames_are_let_in_and_snapshots_are_not_kept() -> None:
    made = conversation(*f.running("R"))
    large = "x" * 2_000_000

    receive_frame(made, f.updated(f.tool("completed", result=large), content=large))

    assert Settings().frame_bytes >= 32 * 1024 * 1024
    assert made._progress._snapshots._calls == {"c1": (Phase.COMPLETED, False)}


def test_every_trap_has_its_test() -> None:
    named = {int(found[1]) for name in globals() if (found := re.match(r"test_trap_(\d+)_", name))}

    assert named == set(range(1, 26))
