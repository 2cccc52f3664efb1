import pytest
from msgspec import Raw

from support.plain_output import PlainText
from turnwire.core import events
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    Event,
    Question,
    QuestionClosed,
    Queued,
    Reason,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import Entry, Head, Joined, frame, pack
from turnwire.core.turn_log.protocol import ReaderOutput, ReaderProtocol

HEAD = pack(Head("p1", "u1"))
ASKED = Question("q1", Raw(b"{}"))
CLOSED = QuestionClosed("q1", answer=Raw(b"7"))
INTERRUPTED = Decoded([TurnFinished(reason=Reason.ERROR, error="Stream interrupted")])


def framed(*made: Entry) -> bytes:
    return frame(b"".join(map(pack, made)), len(made))


def protocol(prompt_id: str | None = None, member: Member | None = None) -> ReaderProtocol:
    return ReaderProtocol(ResumeRequest(user_id="u2", init_s=1, prompt_id=prompt_id), member)


def joined(
    *closed: QuestionClosed, backlog: int = 0, head: bytes = HEAD, member: Member | None = None
) -> ReaderProtocol:
    reader = protocol(member=member)
    assert reader.receive_frame(entries.opening(head, Joined(backlog), closed), 0) == Decoded()
    assert reader.accepted
    return reader


def events_of(reader: ReaderProtocol, *made: Entry) -> list[Event]:
    decoded = reader.receive_frame(framed(*made), 0)
    assert isinstance(decoded, Decoded)
    return list(decoded.events)


def test_it_waits_for_what_the_log_says() -> None:
    reader = protocol()

    assert reader.connect_request() == ConnectRequest()
    assert reader.connection_opened(0) == Decoded()
    assert not reader.accepted


def test_no_turn() -> None:
    assert protocol().receive_frame(entries.absent(), 0) == Decoded(rejection=Rejection.NO_TURN)


def test_a_turn_that_was_too_long() -> None:
    decoded = protocol().receive_frame(entries.too_long(), 0)

    assert decoded == Decoded(rejection=Rejection.TOO_LONG)


@pytest.mark.parametrize(
    ("prompt_id", "is_received", "is_told"),
    [
        (None, False, True),
        (None, True, False),
        ("p1", False, True),
        ("p1", True, True),
        ("p2", False, False),
        ("p2", True, False),
    ],
)
def test_which_turn_is_meant(prompt_id: str | None, *, is_received: bool, is_told: bool) -> None:
    """A turn whose end was received is there for clients that count their chunks."""
    reader = protocol(prompt_id)
    decoded = reader.receive_frame(entries.opening(HEAD, Joined(0, is_received)), 0)

    assert reader.accepted is is_told
    assert decoded == Decoded(rejection=None if is_told else Rejection.NO_TURN)


def test_one_delta_needs_no_struct() -> None:
    assert joined().receive_frame(framed(TextDelta("hi")), 0) == "hi"


def test_events_come_as_they_were() -> None:
    made: list[Entry] = [TurnStarted("t1"), TextDelta("a"), TextDelta("b"), ASKED, CLOSED]

    assert events_of(joined(), *made) == made


@pytest.mark.parametrize(
    ("turn_id", "shown"), [("m1", "m1:answer"), ("t1", "t1"), ("\ud83d", "\ud83d")]
)
def test_the_message_has_the_id_that_it_had(turn_id: str, shown: str) -> None:
    """A turn that starts over keeps the message, and its blocks get the new id alone."""
    reader = joined(head=pack(Head("p1", "u1", "m1")))

    assert events_of(reader, TurnStarted(turn_id)) == [TurnStarted(shown)]
    assert events_of(reader, TurnStarted("m1")) == [TurnStarted("m1")]


def test_a_prompt_that_waits_is_queued() -> None:
    reader = joined()

    assert events_of(reader, Queued()) == [Queued()]
    assert reader.queued
    events_of(reader, TurnStarted("t1"))
    assert not reader.queued


def test_a_question_that_was_closed_asks_for_no_answer() -> None:
    reader = joined(CLOSED, backlog=3)
    output = ReaderOutput(PlainText(), reader)

    assert events_of(reader, ASKED, CLOSED, ASKED) == [ASKED, CLOSED, ASKED]
    assert output.ask(ASKED, 0, is_over=False) == b""

    assert events_of(reader, ASKED) == [ASKED]
    assert output.ask(ASKED, 0, is_over=True) == b""
    assert output.ask(ASKED, 0, is_over=False) == b"\n[q1?]\n"


def test_a_reader_watches_the_turn() -> None:
    group = SessionGroup()
    prompting, reading = Member(group), Member(group)
    prompting.follow("t1")
    reader = joined(member=reading)
    assert not prompting.has_other_watchers

    events_of(reader, TurnStarted("t1"))
    assert prompting.has_other_watchers

    reader.unwatched()
    assert not prompting.has_other_watchers


def test_a_reader_watches_the_prompt() -> None:
    group = SessionGroup()
    prompting = Member(group)
    prompting.follow("p1")
    joined(member=Member(group))

    assert prompting.has_other_watchers


@pytest.mark.parametrize(
    "data",
    [b"\xff", framed(), framed(TextDelta("x")), framed(Joined(0)), framed(Head("p", "u"))],
)
def test_a_log_that_cannot_be_read(data: bytes) -> None:
    reader = protocol()

    assert reader.receive_frame(data, 0) == INTERRUPTED


def test_a_log_that_cannot_be_read_any_more() -> None:
    reader = joined()

    assert reader.receive_frame(b"\xff", 0) == INTERRUPTED
    assert reader.frame_stats.malformed == 1
    assert reader.receive_frame(framed(Joined(0)), 0) == INTERRUPTED


def test_it_only_reads() -> None:
    reader = joined()
    reader.client_detached()
    reader.mark_stale()

    assert reader.abort_scope is AbortScope.NONE
    assert reader.abort() == ()
    assert reader.tick(0) == Decoded()
    assert list(reader.prepare_frame(b"")) == []
    reader.connection_lost(0)
    reply = QuestionReply("q1", Raw(b"1"))
    assert reader.reply(reply, "u1", 0) == Decoded(rejection=Rejection.UNSUPPORTED)


def test_its_output_asks_for_an_answer_once_the_reader_caught_up() -> None:
    reader = joined(backlog=2)
    output = ReaderOutput(plain := PlainText(), reader)
    assert (output.headers, output.keepalive) == (plain.headers, plain.keepalive)
    assert output.can_pause is True
    assert output.has_short_texts is output.has_fixed_steps is False
    plain.contradicted_chars = 7
    assert output.contradicted_chars == 7

    events_of(reader, ASKED)
    assert output.ask(ASKED, 0, is_over=False) == b"\n[q1?]\n"
    assert not output.is_waiting

    reader.receive_frame(framed(TextDelta("x")), 0)
    assert output.is_waiting
    assert output.feed(events.TextDelta("y"), 0) + output.feed_texts(["z"], 0) == b"yz"
    assert output.pause() == b"[waiting]\n"
    assert output.fail("no") == b""
