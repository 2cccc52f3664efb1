"""Whose question was closed: ids may be unique in a turn alone, and an answer is for one user."""

from random import Random
from typing import Any, Final

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.seeds import each_seed
from support.v2_protocol import conversation, plain
from turnwire.core.agent import Decoded
from turnwire.core.events import QuestionClosed
from turnwire.core.requests import ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

Json = dict[str, Any]
OURS: Final = {"turnId": f.OURS, "promptId": f.PROMPT, "channelId": "default"}
BOBS: Final = {"turnId": "turn-2", "promptId": "p2", "channelId": "bob"}
NAMELESS: Final[Json] = {}
SECRET: Final = "4111 1111 1111 1111"


def begun(turn: str, prompt: str, channel: str) -> bytes:
    return f.create(turn, promptId=prompt, channelId=channel)


BEGUN: Final = (
    begun(f.OURS, f.PROMPT, "default"),
    begun("turn-2", "p2", "bob"),
)
BOTH: Final = (*BEGUN, f.question(**OURS), f.question(**BOBS))


def resolved(answer: str = SECRET, **place: Any) -> bytes:
    return f.frame("question.resolved", questionId="q1", answer=answer, **place)


def expired(**place: Any) -> bytes:
    return f.frame("question.expired", questionId="q1", **place)


@pytest.mark.parametrize("closed", [resolved, expired])
@pytest.mark.parametrize("named", [("turnId",), ("promptId",), ("channelId",), tuple(BOBS)])
def test_what_closes_a_question_of_another_turn_leaves_ours_open(
    closed: Any, named: tuple[str, ...]
) -> None:
    made = conversation(*BOTH)

    assert made.receive_frame(closed(**{name: BOBS[name] for name in named}), 0) is None
    assert made.frame_stats.foreign == 3
    assert made.receive_frame(resolved("yes", **OURS), 0) == Decoded(
        [QuestionClosed("q1", answer=Raw(b'"yes"'))]
    )


@pytest.mark.attack(
    "another turn's question has the id of ours, and is answered",
    "our stream does not show the answer: it closes the question of its own turn, or none if the "
    "frame does not say whose it is",
)
@pytest.mark.parametrize("place", [BOBS, {"turnId": "turn-2"}, NAMELESS])
def test_an_answer_to_somebody_elses_question_reaches_nobody_else(place: Json) -> None:
    turn = Turn(conversation(), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    written = turn.frames([*BOTH, resolved(**place), f.finalize()], 1).to_client

    assert SECRET.encode() not in written
    assert b'"state":"expired"' in written


@pytest.mark.parametrize("named", [("turnId",), ("promptId",), ("channelId",)])
def test_what_names_our_turn_closes_ours_beside_another_of_its_id(named: tuple[str, ...]) -> None:
    made = conversation(*BOTH)

    told = made.receive_frame(expired(**{name: OURS[name] for name in named}), 0)

    assert told == Decoded([QuestionClosed("q1", expired=True)])


@pytest.mark.nameless(
    "`question.resolved`, `question.expired` without turn, prompt or channel",
    "if ours has that id, and no other turn is known to wait for a question of that id",
    "where ids are unique in a session, the id names the question",
)
@pytest.mark.parametrize(
    "ends",
    [
        [resolved(**BOBS)],
        [f.finalize("turn-2")],
        [f.frame("error", error="no", turnId="turn-2")],
        [f.frame("complete", turnId="turn-2")],
    ],
)
def test_once_the_other_question_is_closed_a_nameless_end_is_ours(ends: list[bytes]) -> None:
    made = conversation(*BOTH, *ends)

    assert plain(made.receive_frame(resolved("yes"), 0)) == plain(
        [QuestionClosed("q1", answer=Raw(b'"yes"'))]
    )
    assert made.receive_frame(resolved("yes"), 0) is None, "it is closed by now"


def test_a_question_that_is_asked_again_is_still_one() -> None:
    asked = [f.question(turnId="turn-2"), f.question(**BOBS)]
    made = conversation(*BEGUN, *asked, resolved("x", turnId="turn-2"), f.question(**OURS))

    assert made.receive_frame(expired(), 0) == Decoded([QuestionClosed("q1", expired=True)])


def test_an_agent_that_is_idle_waits_for_no_answer() -> None:
    made = conversation(f.question(**BOBS), f.frame("complete"), *BEGUN[:1], f.question(**OURS))

    assert made.receive_frame(expired(), 0) == Decoded([QuestionClosed("q1", expired=True)])


def test_idle_on_another_channel_leaves_a_question_open() -> None:
    idle = f.frame("complete", channelId="carols")
    made = conversation(f.question(**BOBS), idle, *BEGUN[:1], f.question(**OURS))

    assert made.receive_frame(expired(), 0) is None


def test_a_question_that_was_open_before_we_came_is_known_by_the_hydration() -> None:
    part = {"type": "question", "questionId": "q1", "text": "PIN?"}
    entry = {"id": "turn-2", "role": "assistant", "channelId": "bob", "parts": [part]}
    over = {**entry, "id": "turn-0", "parts": [part, {"type": "finish", "reason": "end_turn"}]}
    asked = {"id": "u1", "role": "user", "promptId": "p2", "parts": []}
    session = {"messages": [over, asked, entry]}
    init = f.frame("init", session=session, data={"runnerBusy": True, "runningTurnId": "turn-2"})
    made = conversation(init, *BEGUN[:1], f.question(**OURS))

    assert made.receive_frame(resolved(), 0) is None
    assert made.receive_frame(resolved(channelId="bob"), 0) is None
    assert made.receive_frame(expired(), 0) == Decoded([QuestionClosed("q1", expired=True)])


def test_a_resumed_stream_is_shown_no_answer_of_another_turn() -> None:
    part = {"type": "question", "questionId": "q1", "text": "PIN?"}
    entries = [
        {"id": turn, "role": "assistant", "channelId": channel, "promptId": prompt, "parts": [part]}
        for turn, channel, prompt in ((f.OURS, "default", "p1"), ("turn-2", "bob", "p2"))
    ]
    made = DIALECTS["v2"].resume(ResumeRequest(user_id="u1", init_s=5))
    made.connection_opened(0)
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}
    made.receive_frame(f.frame("init", session={"messages": entries}, data=busy), 0)

    assert made.receive_frame(resolved(), 0) is None
    assert made.receive_frame(resolved(promptId="p2"), 0) is None
    assert made.receive_frame(expired(promptId="p1"), 0) == Decoded(
        [QuestionClosed("q1", expired=True)]
    )


def test_the_questions_of_others_that_are_remembered_are_bounded() -> None:
    made = conversation(*BEGUN)
    for number in range(1000):
        made.receive_frame(f.question(f"q{number}", turnId="turn-2"), 0)

    assert len(made._open_questions._elsewhere) == 256  # type: ignore[attr-defined]


class Table:
    """Two users, each with a turn of their own, whose questions have the same ids."""

    def __init__(self, seed: int) -> None:
        self._dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
        self._open: dict[str, set[str]] = {"ann": set(), "bob": set()}
        self._places = {"ann": OURS, "bob": BOBS}
        self.answers = 0

    def step(self) -> bytes:
        user = self._dice.choice(("ann", "bob"))
        its = self._open[user]
        question_id = self._dice.choice(("q1", "q2"))
        if question_id not in its:
            its.add(question_id)
            return f.question(question_id, **self._named(user, must=True), said=user)
        its.discard(question_id)
        self.answers += 1
        shared = question_id in self._open["bob" if user == "ann" else "ann"]
        place = self._named(user, must=self._dice.random() < 0.5)
        kind = self._dice.choice(("question.resolved", "question.expired"))
        if shared and not place:
            its.add(question_id)  # a frame that nobody can tell apart: it closes neither
        return f.frame(kind, questionId=question_id, answer=f"{user}'s", **place)

    def _named(self, user: str, *, must: bool) -> Json:
        names = list(self._places[user])
        count = self._dice.randrange(1 if must else 0, len(names) + 1)
        chosen = self._dice.sample(names, count)
        return {name: self._places[user][name] for name in chosen}


@each_seed(60)
def test_nothing_of_another_turn_is_shown_however_the_two_interleave(seed: int) -> None:
    """Whichever of turn, prompt and channel a frame names, in whichever order they come."""
    table = Table(seed)
    frames = [*BEGUN, *(table.step() for _ in range(80))]
    turn = Turn(conversation(), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    written = turn.frames(frames, 1).to_client

    assert table.answers > 10
    assert b"bob" not in written
    assert b"ann" in written
