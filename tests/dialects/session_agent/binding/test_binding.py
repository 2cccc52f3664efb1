"""Nothing links a turn to its prompt on this wire: which one is ours (page 6)."""

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, plain, receive_frame, sent
from support.turns import verdict
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.events import Queued, Reason, TextDelta, TurnFinished, TurnStarted
from turnwire.core.rejection import Rejection
from turnwire.core.requests import Channel, PromptRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import progress
from turnwire.dialects.session_agent.open_turns import OpenTurns
from turnwire.dialects.session_agent.turn import RESPONSE_S

STARTED = [TurnStarted(f.TURN)]
HELP = f.frame("message", data={"id": "m9", "role": "system", "content": "help", "parts": None})


def beside(*claimed: str) -> Member:
    """A seat beside another conversation that follows these prompts."""
    group = SessionGroup()
    other = Member(group)
    assert all(other.claim(prompt_id) for prompt_id in claimed)
    return Member(group)


@pytest.mark.nameless(
    "`message` of a user: a prompt has no id of ours",
    "if author, text and channel are ours, it came after our prompt, and no other stream "
    "follows it",
    "the echo has no other field of the prompt; an echo without an author is ours by its id alone",
)
@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    ("echo", "is_ours"),
    [
        pytest.param(f.user(), True, id="our text, our author, our channel"),
        pytest.param(f.user(by="u2"), False, id="another author"),
        pytest.param(f.user(by=None), False, id="no author: over HTTP, or the system's"),
        pytest.param(f.user("three"), False, id="another text"),
        pytest.param(f.user(channelId="other"), False, id="another channel"),
        pytest.param(f.user(channelType=None, channelId=None), True, id="no channel is the web's"),
        pytest.param(f.user(channelType="slack", channelId=None), True, id="half a channel too"),
        pytest.param(f.user(threadId="th1"), False, id="a thread of its own"),
        pytest.param(f.user(role="system"), False, id="not a user's"),
    ],
)
def test_which_echo_is_ours(revision: str, echo: bytes, *, is_ours: bool) -> None:
    made = conversation(f.init(revision), echo)

    assert (receive_frame(made, f.begin()) == STARTED) == is_ours
    assert made.prompt_id == (f.PROMPT if is_ours else None)


def test_what_was_echoed_before_we_asked_is_not_ours() -> None:
    made = conversation(f.user(prompt="P1"), f.init("R", runnerBusy=True))

    assert made.prompt_id is None
    assert receive_frame(made, f.begin()) == []


def test_an_echo_that_another_conversation_follows_is_not_ours() -> None:
    made = conversation(f.init("R"), f.user(prompt="P1"), f.user(), member=beside("P1"))

    assert made.prompt_id == f.PROMPT


def test_a_queued_prompt_that_another_conversation_follows_is_not_ours() -> None:
    made = conversation(f.init("V"), f.pending(prompt="P1"), f.pending(), member=beside("P1"))

    assert made.prompt_id == f.PROMPT


@pytest.mark.nameless(
    "`message` of the assistant: a turn names no prompt",
    "as the next of our channel after our prompt was dispatched, while no other was",
    "R and A run one prompt at a time, V one on each channel",
)
@pytest.mark.parametrize(
    ("begin", "is_ours"),
    [
        pytest.param(f.begin(), True, id="on our channel"),
        pytest.param(f.begin(channelId="other"), False, id="on another"),
        pytest.param(f.begin(channelType=None, channelId=None), True, id="on none"),
        pytest.param(f.begin(content="x"), False, id="with content"),
        pytest.param(f.begin(parts={"forwarded": True}), False, id="forwarded"),
        pytest.param(f.begin(parts=None), False, id="without parts"),
    ],
)
def test_which_assistant_message_begins_our_turn(begin: bytes, *, is_ours: bool) -> None:
    made = conversation(f.init("V"), f.user())

    assert (receive_frame(made, begin) == STARTED) == is_ours


def test_a_thread_is_a_channel() -> None:
    made = conversation(f.init("V"), f.user(**f.THREAD), channel=Channel("thread", "th1"))

    assert receive_frame(made, f.begin("turn-9"), f.begin(**f.THREAD)) == STARTED


@pytest.mark.parametrize("begin", [f.begin(), f.chunk("x"), f.done("x")])
@pytest.mark.parametrize("revision", f.REVISIONS)
def test_while_our_prompt_waits_no_turn_is_ours(revision: str, begin: bytes) -> None:
    made = conversation(f.init(revision, runnerBusy=True), *f.queued(revision))

    assert receive_frame(made, begin) == []
    assert made.queued
    assert made.frame_stats.foreign == 1


def test_frames_of_others_do_not_disturb_our_turn() -> None:
    made = conversation(*f.running("V"))
    open_turns = (
        f.user("three", "P3", by="u2", channelId="c2"),
        f.begin("turn-2", channelId="c2"),
        f.chunk("x", "turn-2", channelId="c2"),
        f.updated(f.tool("running"), turn="turn-2", channelId="c2"),
        f.updated(f.text("x"), f.END, turn="turn-2", channelId="c2"),
        f.asked("V", "q9").replace(b'"default"', b'"c2"'),
        f.failure("no", channelId="c2"),
        f.frame("error", error="no", promptId="inv1"),
        f.frame("error", message="Invalid JSON"),
        f.drained("V", "P3"),
        f.frame("queue.withdrawn", data={"messageId": "P3"}),
        f.status(promptQueued=True, messageId="P3", queuePosition=1),
        f.status(promptDequeued=True, messageId="P3", channelType="web", channelId="c2"),
        f.status(queueCleared=True, cleared=1),
        HELP,
    )

    assert receive_frame(made, *open_turns, f.chunk("mine")) == ["mine"]
    assert made.deadline == 30


# Dead, silent and deaf.


@pytest.mark.parametrize("alive", ["terminated", "archived", "error"])
@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_dead_session_is_refused_without_a_prompt(revision: str, alive: str) -> None:
    made = conversation()

    assert made.receive_frame(f.init(revision, alive=alive), 0) == Decoded(
        rejection=Rejection.SESSION
    )
    assert not made.accepted


def test_a_session_that_dies_before_init_is_refused() -> None:
    assert conversation().receive_frame(f.status(status="archived"), 0) == Decoded(
        rejection=Rejection.SESSION
    )


def test_a_dead_session_is_a_409_while_the_headers_are_held_back() -> None:
    turn = Turn(
        DIALECTS["session-agent"].prompt(PromptRequest(text="hi", prompt_id="p1")),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)

    act = turn.frames([f.init("V", alive="archived")], 1)

    assert (turn.outcome, act.to_client, act.to_agent) == (Outcome.REFUSED, b"", ())


def test_a_dead_session_is_an_error_once_the_headers_are_out() -> None:
    turn = Turn(
        DIALECTS["session-agent"].prompt(PromptRequest(text="hi", prompt_id="p1")),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.handle(Tick(), 5)

    act = turn.frames([f.init("V", alive="archived")], 6)

    assert verdict(act) == "The session cannot take this prompt"


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        ([], progress.NO_INIT),
        ([f.init("R")], progress.NO_ECHO),
        ([f.init("V"), f.user(by="u2")], progress.NO_ECHO),
    ],
)
def test_an_agent_that_does_not_answer_is_not_waited_for(frames: list[bytes], says: str) -> None:
    made = conversation(*frames, now=1)
    until = RESPONSE_S + 1 if frames else RESPONSE_S

    assert error(made.tick(until - 1)) is None
    assert error(made.tick(until)) == says


@pytest.mark.nameless(
    "`error` with a `message` alone, before our echo",
    "always",
    "only the socket that sent the refused frame gets it",
)
def test_a_prompt_that_is_rejected_says_why() -> None:
    made = conversation(f.init("R"))

    assert (
        error(receive_frame(made, f.frame("error", message="Missing content"))) == "Missing content"
    )


def test_a_refused_attachment_does_not_end_the_prompt() -> None:
    made = conversation(f.init("V"))
    refused = f.frame("error", message="Unsupported file type: text/x")

    assert receive_frame(made, refused, f.user(), f.begin()) == STARTED


def test_errors_of_others_do_not_reject_our_prompt() -> None:
    of_a_prompt = f.frame("error", error="no", promptId="i")
    of_a_turn = f.frame("error", message="no", messageId="e1")
    made = conversation(f.init("V"), f.failure("no"), of_a_prompt, of_a_turn)

    assert receive_frame(made, f.user(), f.begin()) == STARTED


# Swallowed prompts (page 3).


@pytest.mark.parametrize("revision", ["A", "V"])
def test_a_slash_command_is_answered_by_its_reply(revision: str) -> None:
    made = conversation(f.init(revision), text="/help")

    assert receive_frame(made, HELP) == [
        TurnStarted("m9"),
        TextDelta("help"),
        TurnFinished(reason=Reason.END_TURN),
    ]


@pytest.mark.parametrize(
    ("revision", "text"), [("R", "/help"), ("V", "/build"), ("V", "/help me"), ("V", "two")]
)
def test_a_system_message_is_no_answer_to_other_prompts(revision: str, text: str) -> None:
    assert receive_frame(conversation(f.init(revision), text=text), HELP) == []


@pytest.mark.nameless(
    "`interactive_prompt_resolved` with our text, before our echo",
    "if it names no other user and no other channel",
    "the agent takes a prompt as the answer to an open question and sends no other frame",
)
def test_a_prompt_taken_as_an_answer_says_so() -> None:
    made = conversation(f.init("V"))
    resolved = f.answered("V", "q0", "two").replace(b'"owner"', b'"u1"')

    assert error(receive_frame(made, resolved)) == progress.ANSWERED


@pytest.mark.parametrize(
    "resolved", [f.answered("V", "q0", "two"), f.answered("V", "q0", "no"), f.expired("V", "q0")]
)
def test_answers_of_others_do_not_take_our_prompt(resolved: bytes) -> None:
    made = conversation(f.init("V"), resolved)

    assert receive_frame(made, f.user(), f.begin()) == STARTED


# Several turns of one prompt.


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_new_turn_of_our_channel_goes_on_with_ours(revision: str) -> None:
    made = conversation(*f.running(revision), f.chunk("a"))

    told = receive_frame(made, f.begin("turn-2"), f.chunk("late"), f.chunk("b", "turn-2"))

    assert told == [TurnStarted("turn-2"), "b"]
    assert made.abort_scope is AbortScope.OURS


def test_a_turn_started_over_without_chunks_tells_its_text_from_the_end() -> None:
    made = conversation(*f.running("V"), f.chunk("a"), f.begin("turn-2"))

    assert receive_frame(made, f.done("b", "turn-2")) == [
        TurnFinished(reason=Reason.END_TURN, final_text="b")
    ]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_prompt_whose_runner_was_lost_is_followed(revision: str) -> None:
    lost = f.status(runnerConnected=False, runnerDisconnected=True, queuedPrompts=1)
    made = conversation(*f.running(revision), lost)

    assert (made.queued, made.abort_scope, made.deadline) == (True, AbortScope.SHARED, 30)
    assert receive_frame(made, *f.dequeued(revision)) == []
    assert (made.queued, made.abort_scope) == (False, AbortScope.SHARED)
    assert receive_frame(made, f.begin("turn-2")) == [TurnStarted("turn-2")]


def test_a_lost_runner_that_comes_back_goes_on_with_its_turn() -> None:
    made = conversation(*f.running("V"), f.status(runnerDisconnected=True))

    assert receive_frame(made, f.chunk("a")) == ["a"]
    assert (made.queued, made.abort_scope) == (False, AbortScope.OURS)


def test_a_lost_prompt_may_begin_again_without_a_word() -> None:
    made = conversation(*f.running("A"), f.status(runnerDisconnected=True))

    assert receive_frame(made, f.begin("turn-2")) == [TurnStarted("turn-2")]


def test_a_runner_that_is_lost_before_our_prompt_is_no_loss() -> None:
    made = conversation(f.init("V"), f.status(runnerDisconnected=True))

    assert not made.queued


def test_the_other_turns_remembered_are_bounded() -> None:
    open_turns = OpenTurns()

    for number in range(600):
        open_turns.turn_seen(f"t{number}", Channel("web", str(number)))
        open_turns.prompted(Channel("web", str(number)))
    for number in range(600):
        open_turns.turn_closed(f"t{number}")

    assert not open_turns
    assert max(len(open_turns._closed), len(open_turns._prompted)) <= OpenTurns.KEPT_MAX


def test_a_turn_that_is_over_is_not_opened_again_by_a_late_frame() -> None:
    open_turns = OpenTurns()

    open_turns.turn_began("t1", Channel("web", "a"))
    open_turns.turn_began("t2", Channel("web", "a"))
    open_turns.turn_seen("t1", Channel("web", "a"))
    open_turns.turn_closed("t2")
    open_turns.turn_closed("t2")

    assert not open_turns


def test_queued_is_told_when_our_prompt_is() -> None:
    assert plain(receive_frame(conversation(f.init("V")), *f.queued("V"))) == plain([Queued()])
    assert sent(conversation().receive_frame(f.init("V"), 0))
