"""What closes a question is matched by the channel that it names, where it names one."""

import json
from typing import Any, Final

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support.session_agent_answer import answering
from support.session_agent_answer import receive_frame as answered
from support.session_agent_continued import continued, hello
from support.session_agent_protocol import conversation, error, receive_frame
from turnwire.core.agent import AbortScope
from turnwire.core.events import QuestionClosed, Queued, TurnStarted
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.core.session_group import Member, SessionGroup
from turnwire.dialects.session_agent import progress
from turnwire.dialects.session_agent.questions import OpenQuestions

BOBS: Final[f.Fields] = {"channelType": "web", "channelId": "bob"}
SECRET: Final = "4111 1111 1111 1111"


def placed(frame: bytes, place: f.Fields) -> bytes:
    """The same frame, with what it says of where it belongs."""
    told = json.loads(frame)
    if told["type"] == "interactive_prompt":
        told["prompt"]["context"] |= place
    (told["data"] if told["type"] == "status" else told).update(place)
    return json.dumps(told).encode()


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("ends", [f.answered, f.expired])
def test_the_end_of_a_question_of_another_channel_leaves_ours_open(
    revision: str, ends: Any
) -> None:
    made = conversation(*f.running(revision), f.asked(revision))

    assert receive_frame(made, placed(ends(revision), BOBS)) == []
    assert made.frame_stats.foreign == 1
    assert len(receive_frame(made, placed(ends(revision), f.CHANNEL))) == 1


def test_the_context_of_an_expiry_names_its_channel_too() -> None:
    made = conversation(*f.running("V"), f.asked("V"))
    gone = {"promptId": "q1", "promptType": "question"}

    assert receive_frame(made, f.frame("interactive_prompt_expired", context=BOBS, **gone)) == []
    assert receive_frame(made, f.frame("interactive_prompt_expired", context=[], **gone)) == [
        QuestionClosed("q1", expired=True)
    ]


@pytest.mark.nameless(
    "`interactive_prompt_resolved`, `interactive_prompt_expired`, `status` of an answer, "
    "without a channel",
    "if ours has that id, and no other channel is known to wait for a question of that id",
    "the ids are keys of one table of the session",
)
@pytest.mark.parametrize("revision", f.REVISIONS)
def test_an_answer_that_may_be_to_another_question_of_that_id_is_shown_to_nobody_else(
    revision: str,
) -> None:
    bobs = placed(f.asked(revision), BOBS)
    made = conversation(*f.running(revision), bobs, f.asked(revision))

    assert receive_frame(made, f.answered(revision, answer=SECRET)) == []
    assert receive_frame(made, placed(f.answered(revision, answer=SECRET), BOBS)) == []
    told = receive_frame(made, f.answered(revision, answer="yes"))
    assert told == [QuestionClosed("q1", answer=Raw(b'"yes"'))]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_of_another_id_in_another_channel_is_never_meant(revision: str) -> None:
    bobs = placed(f.asked(revision, "q2"), BOBS)
    made = conversation(*f.running(revision), bobs, f.asked(revision))

    told = receive_frame(made, f.answered(revision, answer="yes"))
    assert told == [QuestionClosed("q1", answer=Raw(b'"yes"'))]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_end_of_a_question_of_others_alone_is_theirs(revision: str) -> None:
    made = conversation(*f.running(revision), placed(f.asked(revision), BOBS))

    assert receive_frame(made, f.answered(revision, answer=SECRET)) == []
    assert receive_frame(made, f.asked(revision))
    assert receive_frame(made, f.expired(revision)) == [QuestionClosed("q1", expired=True)]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_that_was_told_before_our_turn_was_known_is_one(revision: str) -> None:
    made = conversation(f.init(revision), f.asked(revision), f.user(), f.begin())

    assert receive_frame(made, f.asked(revision))
    assert receive_frame(made, f.expired(revision)) == [QuestionClosed("q1", expired=True)]


def test_the_questions_of_others_that_are_remembered_are_bounded() -> None:
    asking = OpenQuestions(DEFAULT_CHANNEL)

    for number in range(1000):
        asking.add_elsewhere(str(number), Channel("web", "bob"))

    assert len(asking._elsewhere) == OpenQuestions.ELSEWHERE_MAX


@pytest.mark.nameless(
    "the same, and `question`, for an answer",
    "by the id alone",
    "`answer` names nothing else, so the agent uses the id too",
)
@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("ends", [f.answered, f.expired])
def test_the_verdict_on_a_question_of_another_channel_is_not_ours(revision: str, ends: Any) -> None:
    made = answering()
    answered(made, f.init(revision), f.asked(revision))

    answered(made, placed(ends(revision), BOBS))

    assert made.result is None
    made.receive_frame(placed(ends(revision), f.CHANNEL), 0)
    assert made.result == (Answered() if ends is f.answered else Rejection.CLOSED)


@pytest.mark.parametrize(("place", "swallowed"), [({}, True), (f.CHANNEL, True), (BOBS, False)])
def test_a_prompt_is_swallowed_by_a_question_of_its_channel_alone(
    place: f.Fields, *, swallowed: bool
) -> None:
    resolution = {"value": "two", "resolvedBy": f.ME}
    resolved = f.frame("interactive_prompt_resolved", promptId="q1", resolution=resolution, **place)

    told = receive_frame(conversation(f.init("V")), resolved)

    assert (error(told) == progress.ANSWERED) == swallowed


# What else names a channel.


@pytest.mark.nameless(
    "`queue.state` without a channel",
    "unless our channel is a thread",
    "only threads are always named in it",
)
@pytest.mark.parametrize(
    ("place", "ours"), [({}, [Queued()]), (f.CHANNEL, [Queued()]), (BOBS, []), (f.THREAD, [])]
)
def test_a_prompt_that_waits_with_our_text_is_ours_on_our_channel_alone(
    place: f.Fields, ours: list[Queued]
) -> None:
    made = conversation(f.init("V", runnerBusy=True))

    assert receive_frame(made, f.pending(**place)) == ours


@pytest.mark.nameless(
    "a turn of R that no known prompt began, whose question was answered with the message",
    "`together`: unless another stream follows it. `apart`: never; it is not stopped by a hang-up",
    "the stream that asked for it follows it in this process, or is gone",
)
@pytest.mark.parametrize(
    ("asker", "abort_scope"), [(f.ME, AbortScope.OURS), (None, AbortScope.NONE)]
)
def test_an_answered_turn_is_stopped_across_processes_only_where_its_user_is_known(
    asker: Any, abort_scope: AbortScope
) -> None:
    alone, apart = (continued(member=Member(SessionGroup(apart=how))) for how in (False, True))
    for made in (alone, apart):
        made.frames([hello("R", by=asker), f.asked("R"), f.answered("R")], 1)

    assert alone._protocol.abort_scope is AbortScope.OURS
    assert apart._protocol.abort_scope is abort_scope


# Frames that come before their turn begins.


@pytest.mark.parametrize("early", [f.chunk("a"), f.updated(f.text("a"), content="a")])
@pytest.mark.parametrize("revision", f.REVISIONS)
def test_an_early_frame_of_our_own_turn_is_no_other_turn_that_an_abort_would_hit(
    revision: str, early: bytes
) -> None:
    made = conversation(f.init(revision), f.user(), early)

    assert receive_frame(made, f.begin()) == [TurnStarted(f.TURN)]
    assert made.abort_scope is AbortScope.OURS


def test_a_turn_without_a_name_is_not_forgotten_for_an_early_frame_of_ours() -> None:
    made = conversation(f.init("V", runnerBusy=True), f.user(), f.chunk("a"), f.begin())

    assert made.abort_scope is AbortScope.NONE
