from collections.abc import Sequence

import pytest
from msgspec import Raw

from support.plain_output import PlainText
from turnwire.core import events
from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.terms import Terms
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn_log.entries import Entry, frame, pack_texts, read
from turnwire.core.turn_log.tee import Tee

ASKED = Question("q1", Raw(b"{}"))
END = TurnFinished(reason=Reason.END_TURN)


class Kept:
    """What a tee keeps."""

    def __init__(self) -> None:
        self.packed = b""
        self.count = 0
        self.notes: list[str] = []

    def append(self, packed: bytes, count: int) -> None:
        self.packed += packed
        self.count += count

    def append_texts(self, texts: Sequence[str]) -> None:
        self.append(pack_texts(texts), len(texts))

    def over(self) -> None:
        self.notes.append("over")

    def paused(self) -> None:
        self.notes.append("paused")

    def failed(self) -> None:
        self.notes.append("failed")

    @property
    def entries(self) -> list[Entry]:
        return read(frame(self.packed, self.count))


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def tee(kept: Kept) -> Tee:
    return Tee(PlainText(), kept, asker="u1", answers={"q1": Raw(b"7")})


def feed(tee: Tee, *fed: Event) -> bytes:
    return b"".join(
        tee.ask(event, 0, is_over=False) if isinstance(event, Question) else tee.feed(event, 0)
        for event in fed
    )


def test_it_passes_on_and_keeps(tee: Tee, kept: Kept) -> None:
    passed = feed(tee, TurnStarted("t1")) + tee.feed_texts(["a", "b"], 0) + feed(tee, ASKED, END)

    assert passed == b"turn t1\nab\n[q1?]\n\n[end_turn]\n"
    assert kept.entries == [TurnStarted("t1"), TextDelta("a"), TextDelta("b"), ASKED, END]
    assert tee.turn_id == "t1"


def test_it_is_like_its_output(tee: Tee) -> None:
    output = PlainText()
    assert tee.headers == output.headers
    assert tee.keepalive == output.keepalive
    assert tee.can_pause is True
    assert tee.has_short_texts is tee.has_fixed_steps is tee.is_waiting is False

    feed(tee, ASKED)

    assert tee.is_waiting


def test_what_its_output_finds_contradicted_is_told() -> None:
    output = PlainText()
    output.contradicted_chars = 7

    assert Tee(output, Kept()).contradicted_chars == 7


def test_the_id_of_a_turn_that_starts_over_stays(tee: Tee) -> None:
    feed(tee, TurnStarted("t1"), TurnStarted("t2"))

    assert tee.turn_id == "t1"


def test_its_questions_take_answers(tee: Tee) -> None:
    feed(tee, ASKED)
    reply = QuestionReply("q1", Raw(b"1"))

    assert tee.questions.answer([reply], "u2", Terms(asker_alone=True)) is Rejection.UNKNOWN
    assert tee.questions.answer([reply], "u1", Terms(asker_alone=True)) is None


def test_a_failure_of_the_gateway_is_the_end_for_readers(tee: Tee, kept: Kept) -> None:
    feed(tee, TurnStarted("t1"))
    assert tee.fail("Gateway restarting") == b"\n[error: Gateway restarting]\n"

    feed(tee, END)
    feed(tee, ASKED)
    tee.fail("again")
    tee.end(Outcome.DRAINING)

    assert kept.entries[1:] == [TurnFinished(reason=Reason.ERROR, error="Gateway restarting")]
    assert kept.notes == ["over"]


def test_a_turn_that_never_began_is_not_kept(tee: Tee, kept: Kept) -> None:
    assert tee.fail("Connection failed") == b"\n[error: Connection failed]\n"
    tee.end(Outcome.UNREACHABLE)

    assert kept.count == 0
    assert kept.notes == ["failed"]


@pytest.mark.parametrize(
    "outcome",
    [Outcome.CLIENT_GONE, Outcome.ABANDONED, Outcome.SLOW_CLIENT, Outcome.EXPIRED],
)
def test_a_turn_that_is_given_up_for_its_client_is_canceled_for_readers(
    outcome: Outcome, tee: Tee, kept: Kept
) -> None:
    feed(tee, TurnStarted("t1"))
    if outcome.text is not None:
        assert outcome.text.encode() in tee.fail(outcome.text)
    tee.end(outcome)

    assert kept.entries[1:] == [TurnFinished(reason=Reason.CANCELED)]


@pytest.mark.parametrize("outcome", [None, Outcome.REFUSED])
def test_a_turn_without_an_end_is_interrupted_for_readers(
    outcome: Outcome | None, tee: Tee, kept: Kept
) -> None:
    tee.feed_texts(["a"], 0)
    tee.feed_texts(["b"], 0)
    tee.end(outcome)

    assert kept.entries[2:] == [TurnFinished(reason=Reason.ERROR, error="Stream interrupted")]
    assert kept.notes == ["over"]


def test_a_turn_that_waits_for_its_client_has_no_end(tee: Tee, kept: Kept) -> None:
    feed(tee, ASKED)

    assert tee.pause() == b"[waiting]\n"
    tee.end(Outcome.ASKED)

    assert kept.entries == [ASKED]
    assert kept.notes == ["paused"]


REPEATED = (
    events.ReplayStarted("t1"),
    ASKED,
    events.Replied("q1"),
    events.ReplayUncertain(),
    events.AgentStatus("busy"),
    events.ReplayFinished(),
)


def test_what_a_continued_turn_repeats_is_not_kept_again(tee: Tee, kept: Kept) -> None:
    feed(tee, *REPEATED)
    assert kept.count == 0, "the next run may fail to begin, and the turn waits for answers again"

    feed(tee, events.ReasoningDelta("so"))

    assert tee.turn_id == "t1"
    assert kept.entries == [
        QuestionClosed("q1", answer=Raw(b"7")),
        events.ReasoningDelta("so"),
    ]


def test_a_continued_turn_whose_next_run_fails_keeps_nothing(tee: Tee, kept: Kept) -> None:
    feed(tee, *REPEATED)
    tee.end(Outcome.CLIENT_GONE)

    assert kept.count == 0
    assert kept.notes == ["failed"]
