"""The translator of a client that counts chunks, where it differs from the other."""

from msgspec import Raw

from turnwire.core import events
from turnwire.core.events import Phase
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.chunks import Chunk
from turnwire.core.ui_stream.numbering import Numbered


def call(phase: Phase) -> events.ToolUpdate:
    return events.ToolUpdate(call_id="c", tool_name="t", phase=phase, args=Raw(b"{}"))


def chunks_of(*happened: events.Event, skip: int = 0) -> list[Chunk]:
    translator = Numbered(skip=skip)
    return [
        chunk
        for event in (events.TurnStarted("t"), *happened)
        for chunk in translator.feed(event)
        if not isinstance(chunk, chunks.DataAgentStatus)
    ]


def test_no_delta_takes_the_short_way() -> None:
    translator = Numbered()
    translator.feed(events.TurnStarted("t"))
    translator.feed(events.TextDelta("Hello "))

    assert translator.text_block is None


def test_a_step_begins_after_a_call_whether_it_ended_or_not() -> None:
    said = events.TextDelta("Hi there")
    ended = chunks_of(call(Phase.RUNNING), call(Phase.COMPLETED), said)
    open_ = chunks_of(call(Phase.RUNNING), said)

    assert [c for c in ended if not isinstance(c, chunks.ToolOutputAvailable)] == open_
    assert chunks.FinishStep() in open_


def test_text_that_a_call_ends_in_is_one_block() -> None:
    said = events.TextDelta("Hi there")
    end = events.TurnFinished(reason=events.Reason.END_TURN)
    whole = chunks_of(call(Phase.RUNNING), said, call(Phase.COMPLETED), said, end)

    assert whole.count(chunks.TextStart("t:t0")) == 1
    assert chunks.TextStart("t:t1") not in whole
    assert whole[-3:] == [
        chunks.ToolOutputAvailable("c", Raw(b"null")),
        chunks.FinishStep(),
        chunks.Finish(),
    ]


def test_what_the_client_has_is_not_told_again() -> None:
    said = events.TextDelta("one two three")

    assert chunks_of(said, skip=5) == chunks_of(said)[5:]
    assert chunks_of(said, skip=50) == []


def test_a_client_that_has_more_than_the_turn_still_learns_that_it_failed() -> None:
    """A process that died had sent more than it kept: without an error it would look complete."""
    translator = Numbered(skip=50)
    translator.feed(events.TurnStarted("t"))
    translator.feed(events.TextDelta("one two "))

    assert translator.fail("Stream interrupted") == [
        chunks.Error("Stream interrupted"),
        chunks.Finish(),
    ]
