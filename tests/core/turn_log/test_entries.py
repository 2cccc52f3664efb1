from typing import get_args

import msgspec
import pytest
from msgspec import Raw

from turnwire.core import events
from turnwire.core.events import Event, Phase, Question, QuestionClosed, Reason, TextDelta
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log import entries
from turnwire.core.turn_log.entries import (
    Absent,
    Entry,
    Head,
    Joined,
    TooLong,
    UnreadableError,
    closed_questions,
    count_of,
    frame,
    pack,
    pack_texts,
    read,
    turn_ids,
)

HALF = "half \ud83d"
OF_ONE_CLIENT = {
    events.ReplayStarted,
    events.ReplayUncertain,
    events.ReplayFinished,
    events.Replied,
}
APPROVAL = events.Approval("c1", "rm", Raw(b'{"a":1}'))
END = events.TurnFinished(reason=Reason.END_TURN)
EACH: list[Entry] = [
    Head("p1", "u1"),
    Head("p1", "u1", "m1"),
    Joined(3),
    Joined(0, is_received=True),
    Absent(),
    TooLong(),
    TextDelta("hi"),
    TextDelta(HALF),
    events.TurnStarted("t1"),
    events.TurnStarted(HALF),
    events.ReasoningDelta(HALF),
    events.ToolUpdate(call_id="c1", tool_name="rm", phase=Phase.PENDING),
    events.ToolUpdate(
        call_id="c1",
        tool_name=HALF,
        phase=Phase.ERROR,
        args=Raw(b"null"),
        result=Raw('"é"'.encode()),
        error="no",
    ),
    events.FilePart("https://a.example/", "image/png"),
    events.SourceUrl("s1", "https://a.example/"),
    events.SourceUrl("s1", "https://a.example/", "title"),
    events.StepStarted(),
    events.PartsRetracted(2),
    events.AgentStatus("thinking"),
    Question("q1", Raw(b"{}")),
    Question("q1", Raw(b"{}"), APPROVAL),
    Question("q1", Raw(b"{}"), shown=Raw(b"[]")),
    QuestionClosed("q1"),
    QuestionClosed("q1", expired=True),
    QuestionClosed("q1", answer=Raw(b"true")),
    END,
    events.TurnFinished(reason=Reason.ERROR, final_text="x", error=HALF, usage=Raw(b"{}")),
    events.TurnFinished(reason=Reason.END_TURN, cut_short="length"),
    events.Queued(),
    events.TextBreak(),
    events.TextSwitch("m1", HALF),
    events.ToolInputDelta("c1", "rm", '{"a": "\ud83d'),
    events.ToolUpdate(
        call_id="c1", tool_name="rm", phase=Phase.RUNNING, result=Raw(b"1"), preliminary=True
    ),
    events.DataPart("chart", None, Raw(b"{}")),
    events.DataPart("chart", "d1", Raw(b"[]"), transient=True),
]


def framed(*made: Entry) -> bytes:
    return frame(b"".join(map(pack, made)), len(made))


@pytest.mark.parametrize("entry", EACH, ids=[f"{n}-{type(e).__name__}" for n, e in enumerate(EACH)])
def test_an_entry_comes_back_as_it_was(entry: Entry) -> None:
    assert read(framed(entry)) == [entry]


def test_entries_in_a_row() -> None:
    assert read(framed(*EACH)) == EACH
    assert count_of(framed(*EACH)) == len(EACH)


def test_every_event_of_a_turn_is_an_entry() -> None:
    tested = {type(entry) for entry in EACH}

    assert set(get_args(Event)) - OF_ONE_CLIENT <= tested


@pytest.mark.parametrize("count", [1, 2, 15, 16, 65_535, 65_536])
def test_texts_are_cut_as_they_were(count: int) -> None:
    texts = [str(number) for number in range(count)]

    assert read(frame(pack_texts(texts), count)) == [TextDelta(text) for text in texts]


@pytest.mark.parametrize("texts", [[HALF], ["a", HALF, ""], [HALF] * 16])
def test_texts_with_half_of_a_pair(texts: list[str]) -> None:
    assert read(frame(pack_texts(texts), len(texts))) == [TextDelta(text) for text in texts]


def test_a_delta_takes_one_byte_more_than_its_text() -> None:
    assert len(pack_texts(["hello", " you"])) == len("hello you") + 2


def test_an_entry_of_an_earlier_release_may_lack_fields_with_defaults() -> None:
    number = pack(events.SourceUrl("s", "u"))[1]

    assert read(frame(msgspec.msgpack.encode([number, "s", "u"]), 1)) == [
        events.SourceUrl("s", "u")
    ]


def packed(*values: object) -> bytes:
    return frame(msgspec.msgpack.encode(list(values)), 1)


SOURCE = pack(events.SourceUrl("s", "u"))[1]
FINISHED = pack(END)[1]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        frame(b"", 1),
        framed(END)[:-1],
        framed(END) + b"\0",
        packed(),
        packed(99),
        packed("x"),
        packed([]),
        packed(SOURCE, "s"),
        packed(SOURCE, "s", "u", None, None),
        packed(SOURCE, 1, "u"),
        packed(SOURCE, None, "u"),
        packed(FINISHED, "unknown"),
        packed(pack(Question("q", Raw(b"")))[1], "q", b"{}", ["c"]),
        packed(pack(Question("q", Raw(b"")))[1], "q", "no bytes"),
        packed(pack(Head("p", "u"))[1], "p", "u", None, entries.VERSION + 1),
        frame(msgspec.msgpack.encode(1), 1),
        frame(msgspec.msgpack.encode(msgspec.msgpack.Ext(1, b"\xff")), 1),
        frame(msgspec.msgpack.encode(msgspec.msgpack.Ext(2, b"x")), 1),
        frame(b"\x91" * 10_000, 1),
    ],
)
def test_what_another_release_or_nobody_wrote(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        read(data)


def ends(*frames: bytes) -> list[QuestionClosed]:
    return [end for end in closed_questions(frames) if end is not None]


def test_the_ends_of_questions() -> None:
    first, second, third = (Question(name, Raw(b"{}")) for name in ("q1", "q2", "q3"))
    answered = QuestionClosed("q1", answer=Raw(b"1"))

    assert ends(framed(first, second), framed(TextDelta("x"), answered, third)) == [answered]
    assert ends(framed(first, answered), framed(first)) == []
    assert ends(framed(first, answered, first), framed(QuestionClosed("q1"))) == [
        QuestionClosed("q1")
    ]
    assert ends(framed(answered)) == []
    assert ends(framed(first, second, answered), framed(END)) == [
        answered,
        QuestionClosed("q2", expired=True),
    ]


def test_each_frame_is_a_step() -> None:
    assert list(closed_questions([framed(TextDelta("x"))] * 3)) == [None] * 3


def test_frames_without_a_question_are_not_read() -> None:
    assert ends(b"\xff") == []


def test_the_ids_of_a_turn() -> None:
    begun = [framed(events.TurnStarted("a"), TextDelta("x")), framed(events.TurnStarted("b"))]

    assert turn_ids([*begun, b"\xff"]) == ["a", "b"]


def test_the_first_frames() -> None:
    closed = QuestionClosed("q1")

    assert read(entries.absent()) == [Absent()]
    assert read(entries.too_long()) == [TooLong()]
    assert read(entries.opening(pack(Head("p", "u")), Joined(2), [closed])) == [
        Head("p", "u"),
        Joined(2),
        closed,
    ]


def test_the_head_of_a_turn() -> None:
    head = Head("p1", "u1", "m1")

    assert entries.read_head(pack(head)) == head


@pytest.mark.parametrize("packed_head", [b"", b"\xff", pack(Absent())])
def test_what_is_no_head(packed_head: bytes) -> None:
    with pytest.raises(UnreadableError):
        entries.read_head(packed_head)


def test_which_answers_come_too_late() -> None:
    closed = [None, QuestionClosed("q1"), QuestionClosed("q2", expired=True), None]
    one, two, never = (QuestionReply(name, Raw(b"1")) for name in ("q1", "q2", "q9"))

    assert entries.are_closed([one, two], closed)
    assert not entries.are_closed([one, never], closed)
    assert not entries.are_closed([one], [])


@pytest.mark.parametrize("texts", [["a"], ["a", "b"], ["\ud800"], ["\ud800", "b"], ["x" * 70_000]])
def test_a_frame_of_texts_is_that_of_its_packed_texts(texts: list[str]) -> None:
    data = entries.frame_of_texts(texts)

    assert data == frame(pack_texts(texts), len(texts))
    assert read(data) == [TextDelta(text) for text in texts]
