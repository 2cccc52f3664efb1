"""A client answers what its turn waits for, and the turn goes on in the message that it has.

The limits by revision are listed in docs/session-agent.md, each with its test.
"""

import json

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support.continued import brief, chunks
from support.session_agent_continued import (
    ANSWER,
    ASKS,
    BEFORE,
    DONE,
    WAITS,
    YES,
    answered,
    approval,
    begun,
    continued,
    hello,
)
from support.session_agent_resumed import LATER
from support.turns import sent_types, wait
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import QuestionReply
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import ClientLeft
from turnwire.core.turn.limits import DisconnectPolicy
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_answer_goes_out_and_the_message_goes_on(revision: str) -> None:
    stream = continued()

    act = stream.frames([hello(revision), f.asked(revision)], 1)
    assert sent_types(act) == [ANSWER["type"]]
    assert json.loads(act.to_agent[0]) == ANSWER
    assert act.to_client == b""  # the agent has not taken it yet
    act = stream.frames(answered(revision), 2)
    assert chunks(act)[0] == {"type": "start", "messageId": "m1"}
    assert sorted(brief(act)[1:]) == [
        *("data-question", "tool-input-available c9", "tool-output-available c9"),
    ]
    (card,) = [chunk["data"] for chunk in chunks(act) if chunk["type"] == "data-question"]
    assert (card["state"], card["answer"]) == ("resolved", "yes")
    act = stream.frames([f.chunk("C"), f.chunk("D")], 3)
    assert [c["delta"] for c in chunks(act) if "delta" in c] == ["C", "D"]
    assert [c["id"] for c in chunks(act) if c["type"] == "text-start"] == [f"{f.TURN}:t2"]
    parts = [f.text("CD"), DONE, f.text("CD")] if revision == "R" else [*BEFORE, DONE, f.text("CD")]
    act = stream.frames([f.updated(*parts, f.END, content="CD")], 4)
    assert brief(act) == ["text-end", "finish-step", "finish"]
    assert stream.outcome is Outcome.COMPLETED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_what_was_said_before_the_last_calls_is_not_told_again(revision: str) -> None:
    stream = continued()

    acts = [stream.frames([frame], 1) for frame in (hello(revision), f.asked(revision))]
    acts += [stream.frames([frame], 2) for frame in answered(revision)]

    shown = [chunk for act in acts for chunk in chunks(act)]
    assert {chunk.get("toolCallId") for chunk in shown} == {None, "c9"}
    assert not [chunk for chunk in shown if "delta" in chunk]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_text_that_the_client_lacks_is_told_once(revision: str) -> None:
    """It may have come back to the question alone (A, V)."""
    stream = begun(revision, known=ClientCopy(message_id="m1", text_chars=1, text_blocks=1))
    act = stream.frames([f.chunk("C"), f.done("C")], 3)

    whole = continued(known=ClientCopy(message_id="m1", text_chars=1, text_blocks=1))
    first = whole.frames([hello(revision), f.asked(revision), *answered(revision)], 1)
    deltas = [c["delta"] for c in [*chunks(first), *chunks(act)] if "delta" in c]
    assert "".join(deltas) == "BC"


@pytest.mark.parametrize("revision", LATER)
def test_a_v_a_message_of_the_question_alone_gets_the_text_below_it(revision: str) -> None:
    stream = continued(known=ClientCopy(message_id="m1"))

    act = stream.frames([hello(revision), f.asked(revision), *answered(revision)], 1)

    shown = chunks(act)
    assert "".join(c["delta"] for c in shown if "delta" in c) == "AB"
    assert {chunk.get("toolCallId") for chunk in shown} == {None, "c9"}


@pytest.mark.parametrize("revision", LATER)
def test_a_v_an_outcome_comes_after_its_call_there_too(revision: str) -> None:
    """A call that runs on beside the text before the question."""
    runs = [f.tool("running", "c1", args={}), f.text("A")]
    stream = continued(known=ClientCopy(message_id="m1"))
    frames = [hello(revision), f.asked(revision), *answered(revision, *runs, DONE, content="A")]
    assert "tool-input-available c1" in brief(stream.frames(frames, 1))

    ended = f.updated(f.tool("completed", "c1"), runs[1], DONE, content="A")

    assert brief(stream.frames([ended], 2)) == ["text-end", "tool-output-available c1"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_text_that_the_end_alone_has_is_not_shown_after_an_answer(revision: str) -> None:
    """Where in the message the tools stand that part its texts is not known."""
    stream = begun(revision)
    stream.frames([f.chunk("C")], 3)

    act = stream.frames([f.updated(*BEFORE, DONE, f.text("CD"), f.END, content="CD")], 4)

    assert brief(act) == ["text-end", "finish-step", "finish"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_end_repeats_no_text(revision: str) -> None:
    stream = begun(revision)
    stream.frames([f.chunk("C")], 3)
    later = f.tool("completed", "c10")
    parts = [*BEFORE, DONE, f.text("C"), later]
    stream.frames([f.updated(*parts, content="ABC")], 4)

    act = stream.frames([f.updated(*parts, f.END, content="C")], 5)

    assert brief(act) == ["finish-step", "finish"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_call_that_the_client_left_open_gets_its_outcome(revision: str) -> None:
    """It ran beside the text before the question, and is over by now."""
    known = ClientCopy(message_id="m1", text_chars=2, text_blocks=2, pending=frozenset({"c1"}))
    stream = continued(known=known)

    act = stream.frames([hello(revision), f.asked(revision), *answered(revision)], 1)

    assert "tool-output-available c1" in brief(act)
    assert "tool-input-available c1" not in brief(act)


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_call_that_runs_beside_the_question_gets_its_outcome(revision: str) -> None:
    parts = [f.tool("running", "c1", args={}), f.text("A"), ASKS]
    stream = continued(known=ClientCopy(message_id="m1", text_chars=1, text_blocks=1))
    stream.frames([hello(revision, *parts, content="A"), f.asked(revision)], 1)
    stream.frames(answered(revision, *parts[:2], DONE, content="A"), 2)

    act = stream.frames([f.updated(f.tool("completed", "c1"), *parts[1:2], DONE, content="A")], 3)

    assert brief(act) == ["tool-output-available c1"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_two_answers_go_out_once_both_questions_are_known_to_be_open(revision: str) -> None:
    stream = continued(YES, QuestionReply("q2", Raw(b'"no"')))

    assert stream.frames([hello(revision), f.asked(revision)], 1) == Output()
    act = stream.frames([f.asked(revision), f.asked(revision, "q3"), f.asked(revision, "q2")], 1)
    assert [json.loads(frame)["questionId"] for frame in act.to_agent] == ["q1", "q2"]
    assert stream.frames([f.answered(revision)], 2).to_client == b""
    act = stream.frames([f.answered(revision, "q2", "no"), *answered(revision)], 2)
    cards = [c["data"] for c in chunks(act) if c["type"] == "data-question"]
    # What else is open is told again, under its id.
    assert {(card["questionId"], card["state"]) for card in cards} == {
        ("q1", "resolved"),
        ("q2", "resolved"),
        ("q3", "open"),
    }


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    ("answer", "kind", "taken"),
    [(b"true", "approve-action", "allow_once"), (b"false", "deny-action", "cancel")],
)
def test_an_approval_is_decided(revision: str, answer: bytes, kind: str, taken: str) -> None:
    stream = continued(QuestionReply("q1", Raw(answer)))

    assert sent_types(stream.frames([hello(revision), approval()], 1)) == [kind]
    resolution = {"actionId": taken, "resolvedBy": "owner"}
    resolved = f.frame("interactive_prompt_resolved", promptId="q1", resolution=resolution)
    act = stream.frames([resolved, *answered(revision)[1:]], 2)

    assert brief(act)[0] == "start"
    assert "tool-output-available c9" in brief(act)


# What comes between the answer and the turn's next snapshot.


@pytest.mark.parametrize("revision", LATER)
def test_a_v_what_comes_before_a_snapshot_is_told_with_it(revision: str) -> None:
    stream = continued()
    stream.frames([hello(revision), f.asked(revision)], 1)

    act = stream.frames([f.answered(revision), f.asked(revision, "q2"), f.chunk("C")], 2)
    assert chunks(act) == []
    assert stream.turn_id is None
    act = stream.frames([f.updated(*BEFORE, DONE, f.text("C"), content="ABC")], 3)

    assert brief(act) == [
        *("start", "tool-input-available c9", "tool-output-available c9"),
        *("data-question", "data-question"),
        *("start-step", "text-start", "text-delta"),
    ]
    assert stream.turn_id == f.TURN


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize("reason", ["canceled", "error"])
def test_a_v_a_turn_that_ends_before_a_snapshot_ends_the_message(
    revision: str, reason: str
) -> None:
    stream = continued()
    stream.frames([hello(revision), f.asked(revision), f.answered(revision)], 1)
    ends = f.status(status="terminated") if reason == "error" else f.drained(revision)

    act = stream.frames([ends], 2)
    late = [act for _, act in wait(stream, 60)]

    shown = [chunk for act in [act, *late] for chunk in chunks(act)]
    assert shown[0] == {"type": "start", "messageId": "m1"}
    assert [chunk["type"] for chunk in shown[-2:]] == [
        "abort" if reason == "canceled" else "error",
        "finish",
    ]
    assert stream.outcome in {Outcome.CANCELED, Outcome.FAILED}


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_turn_that_begins_anew_is_news(revision: str) -> None:
    stream = continued(known=ClientCopy(message_id="m1", text_chars=900, text_blocks=2))
    stream.frames([hello(revision), f.asked(revision), f.answered(revision)], 1)

    act = stream.frames([f.begin("T2"), f.chunk("new", "T2")], 2)

    assert [chunk["delta"] for chunk in chunks(act) if "delta" in chunk] == ["new"]


def test_r_text_is_withheld_until_a_snapshot_has_it() -> None:
    """What was said beside the question may be known in part."""
    stream = continued(known=ClientCopy(message_id="m1", text_chars=3, text_blocks=3))
    stream.frames([hello("R"), f.asked("R"), f.answered("R")], 1)

    assert chunks(stream.frames([f.chunk("ab")], 2)) == []
    parts = [*WAITS[:3], DONE, f.text("ABCab"), f.tool("pending", "c10")]
    act = stream.frames([f.updated(*parts, content="ABCab")], 3)

    assert [chunk["delta"] for chunk in chunks(act) if "delta" in chunk] == ["ab"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_snapshot_whose_text_does_not_add_up_tells_its_tools(revision: str) -> None:
    stream = continued()
    stream.frames([hello(revision), f.asked(revision), f.answered(revision)], 1)

    act = stream.frames([f.updated(*BEFORE, DONE, content="Z")], 2)
    assert "tool-output-available c9" in brief(act)
    assert chunks(stream.frames([f.chunk("C")], 2)) == []
    act = stream.frames([f.updated(*BEFORE, DONE, f.text("C"), f.END, content="C")], 3)

    assert [chunk["delta"] for chunk in chunks(act) if "delta" in chunk] == ["C"]


# Its client hangs up.


def test_r_a_client_that_hangs_up_means_this_turn() -> None:
    stream = begun("R")

    assert sent_types(stream.handle(ClientLeft(), 3)) == ["abort"]
    assert stream.outcome is Outcome.CLIENT_GONE


def test_r_not_if_another_user_asked_for_it() -> None:
    stream = continued()
    stream.frames([hello("R", by="ann"), f.asked("R"), *answered("R")], 1)

    assert stream.handle(ClientLeft(), 3) == Output()


def test_r_nor_while_another_stream_follows_it() -> None:
    group = SessionGroup()
    stream = begun("R", member=Member(group))
    Member(group).follow(f.TURN)

    assert stream.handle(ClientLeft(), 3) == Output()
    assert stream.outcome is Outcome.CLIENT_GONE


def test_r_nothing_is_aborted_before_the_answer() -> None:
    stream = continued()
    stream.frames([hello("R")], 1)

    assert stream.handle(ClientLeft(), 1) == Output()
    assert stream.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize("revision", LATER)
def test_a_v_a_client_that_hangs_up_leaves_the_turn_running(revision: str) -> None:
    """Nothing says who asked for it, nor who else is at work."""
    stream = begun(revision)

    assert stream.handle(ClientLeft(), 3) == Output()
    assert stream.outcome is Outcome.CLIENT_GONE


def test_its_user_may_come_back() -> None:
    joined = f.frame("user.joined", userId=f.ME)
    stream = continued(on_disconnect=DisconnectPolicy.GRACE, grace_s=30)
    stream.frames([hello("R"), joined, f.asked("R"), *answered("R")], 1)
    assert stream.handle(ClientLeft(), 2) == Output()

    stream.frames([joined], 3)

    assert stream.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_with_very_much_to_show_is_answered_like_any_other(revision: str) -> None:
    stream = continued()

    acts = [stream.frames([hello(revision)], 1)]
    acts += [stream.frames([f.asked(revision, options=["yes", "x" * 70_000])], 1)]

    assert [json.loads(frame) for act in acts for frame in act.to_agent] == [ANSWER]
