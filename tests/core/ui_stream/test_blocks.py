"""Texts that an agent tells at once: a block each, and what ends them."""

import pytest
from msgspec import Raw
from msgspec.structs import replace

from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.bounds import OPEN_BLOCKS_MAX
from turnwire.core.events import (
    Approval,
    DataPart,
    Event,
    FilePart,
    Phase,
    Question,
    Reason,
    ReasoningDelta,
    ReplayStarted,
    ReplayUncertain,
    TextBreak,
    TextDelta,
    TextSwitch,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.ui_stream import chunks
from turnwire.core.ui_stream.numbering import Numbered
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.core.ui_stream.tool_calls import CALLS_MAX
from turnwire.core.ui_stream.translator import Translator

HALF, OTHER_HALF = "\ud83d", "\ude00"
TWO: list[Event] = [TextDelta("a"), TextSwitch("A", "B"), TextDelta("b")]
CARD = ToolUpdate(call_id="c", tool_name="x", phase=Phase.RUNNING, args=Raw(b"{}"))
DONE = replace(CARD, phase=Phase.COMPLETED)
QUESTION = Question("q", Raw(b"{}"), Approval("c", "x", Raw(b"{}")))


def started(*told: Event) -> Translator:
    """A translator that was told these events."""
    translator = Translator()
    for event in (TurnStarted("t"), *told):
        translator.feed(event)
    return translator


def brief(told: list[chunks.Chunk]) -> list[str]:
    """The type of each chunk, with its id or its text."""
    return [
        " ".join(
            [
                str(each.__struct_config__.tag),
                str(getattr(each, "delta", getattr(each, "id", ""))),
            ]
        ).strip()
        for each in told
    ]


def chunks_of(*told: Event) -> list[str]:
    translator = started()
    return [each for event in told for each in brief(translator.feed(event))]


def test_a_text_that_goes_on_is_the_same_block() -> None:
    told = chunks_of(*TWO, TextSwitch("B", "A"), TextDelta("c"), TextSwitch("A", "B"))

    assert told == [
        *("text-start t:t0", "text-delta a", "text-start t:t1", "text-delta b", "text-delta c")
    ]


def test_reasoning_that_goes_on_is_the_same_block() -> None:
    told: list[Event] = [ReasoningDelta("a")]
    told += [TextSwitch("A", "B"), ReasoningDelta("b"), TextSwitch("B", "A")]
    translator = started(*told)

    assert translator.feed(ReasoningDelta("c")) == [chunks.ReasoningDelta("t:r0", "c")]


@pytest.mark.parametrize(
    "event",
    [
        CARD,
        ReasoningDelta("h"),
        FilePart("https://a.example/", "a/b"),
        DataPart("x", None, Raw(b"1")),
        Question("q", Raw(b"{}")),
        TurnFinished(reason=Reason.END_TURN),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_ends_a_text_ends_all_as_they_were_opened(event: Event) -> None:
    translator = started(*TWO, TextSwitch("B", "A"))

    told = translator.feed(event)

    assert told[:2] == [chunks.TextEnd("t:t0"), chunks.TextEnd("t:t1")]
    assert len(told) > 2
    assert not any(isinstance(each, chunks.TextEnd) for each in told[2:])
    assert translator.text_block is None


def test_a_pause_and_an_approval_end_all() -> None:
    assert brief(started(*TWO).pause())[:2] == ["text-end t:t0", "text-end t:t1"]
    approval = QUESTION.approval
    assert approval is not None
    requested = started(*TWO).request(QUESTION, approval, "id")
    assert brief(requested)[:2] == ["text-end t:t0", "text-end t:t1"]
    closed = started(*TWO).feed_closed_request(QUESTION, approval)
    assert brief(closed)[:2] == ["text-end t:t0", "text-end t:t1"]
    done = started(DONE, *TWO).feed_closed_request(QUESTION, approval)
    assert brief(done) == ["text-end t:t0", "text-end t:t1"]


def test_a_break_ends_the_current_text_alone() -> None:
    assert chunks_of(*TWO, TextBreak(), TextBreak())[4:] == ["text-end t:t1"]
    assert chunks_of(*TWO, TextBreak(), TextDelta("c"), TextSwitch("C", "A"), TextDelta("d"))[
        5:
    ] == ["text-start t:t2", "text-delta c", "text-delta d"]


def test_after_a_card_a_text_that_goes_on_is_another_block() -> None:
    assert chunks_of(*TWO, DONE, TextSwitch("B", "A"), TextDelta("c"))[-4:] == [
        *("finish-step", "start-step", "text-start t:t2", "text-delta c")
    ]


def test_a_switch_to_the_open_text_changes_nothing() -> None:
    assert chunks_of(TextDelta("a"), TextSwitch("A", "A"), TextDelta("b"))[2:] == ["text-delta b"]


def test_a_key_that_is_taken_ends_the_text_that_had_it() -> None:
    assert chunks_of(*TWO, TextSwitch("A", "B"))[4:] == ["text-end t:t0"]


def test_a_new_text_beside_thoughts_that_were_left_ends_them() -> None:
    told = chunks_of(ReasoningDelta("h"), TextSwitch("A", "B"), TextDelta("a"))

    assert told[2:] == ["reasoning-end t:r0", "text-start t:t0", "text-delta a"]


def test_each_block_keeps_its_half_of_a_pair() -> None:
    told: list[Event] = [TextDelta(HALF), TextSwitch("A", "B"), TextDelta("b" + HALF)]
    translator = started(*told, TextSwitch("B", "A"))

    assert translator.feed(TextDelta(OTHER_HALF)) == [chunks.TextDelta("t:t0", "\U0001f600")]
    assert brief(translator.feed(CARD))[:3] == [
        *("text-end t:t0", "text-delta \ufffd", "text-end t:t1")
    ]


def test_a_new_step_begins_when_no_text_is_open() -> None:
    """A numbered stream may have a new call beside a text, where the oldest of too many ends."""
    translator = Numbered()
    calls = [replace(CARD, call_id=str(each)) for each in range(CALLS_MAX + 1)]
    first: list[Event] = [TurnStarted("t"), *calls[:-1], TextDelta("a"), calls[-1]]
    for event in first:
        translator.feed(event)
    told = [each for e in (TextSwitch("A", "B"), TextDelta("b")) for each in translator.feed(e)]

    kinds = brief([each for each in told if not isinstance(each, chunks.DataAgentStatus)])
    assert kinds[-5:] == [
        *("text-delta a", "text-end t:t0", "finish-step", "start-step", "text-start t:t1")
    ]


def test_of_too_many_texts_the_oldest_ends() -> None:
    translator = started()
    for number in range(OPEN_BLOCKS_MAX):
        translator.feed(TextSwitch(str(number - 1), str(number)))
        translator.feed(TextDelta("x"))
    last = str(OPEN_BLOCKS_MAX - 1)
    assert translator.feed(TextSwitch(last, "0")) == []

    assert translator.feed(TextSwitch("0", "new")) == [chunks.TextEnd("t:t0")]
    assert brief(translator.feed(TextDelta("x"))) == [
        f"text-start t:t{OPEN_BLOCKS_MAX}",
        "text-delta x",
    ]


def test_a_switch_before_the_turn_and_after_it_is_nothing() -> None:
    assert Translator().feed(TextSwitch("A", "B")) == []
    assert started(TurnFinished(reason=Reason.END_TURN)).feed(TextSwitch("A", "B")) == []


def test_a_turn_that_goes_on_sends_what_the_client_lacks_of_both_texts() -> None:
    copy = ClientCopy(text_chars=4, text_blocks=2)
    translator = Translator(client_copy=copy)
    told: list[Event] = [ReplayStarted("t"), *TWO, ReplayUncertain()]
    told += [TextSwitch("B", "A"), TextDelta("cde"), TextSwitch("A", "B"), TextDelta("f")]
    told += [TextSwitch("B", "A"), TextDelta("g")]

    sent = [each for event in told for each in brief(translator.feed(event))]

    assert sent == [
        *("start", "text-start t:t2", "text-delta e", "text-start t:t3", "text-delta f"),
        "text-delta g",
    ]


def test_the_short_lane_writes_into_the_block_that_was_entered() -> None:
    stream = UIMessageStream(StreamOptions(event_lines=False))
    for event in (TurnStarted("t"), TextDelta("a")):
        stream.feed(event, 0)
    stream.feed_texts(["b"], 0)
    lane = stream._lane
    stream.feed(TextSwitch("A", "B"), 0)
    assert b'"text-start","id":"t:t1"' in stream.feed_texts(["c"], 0)
    stream.feed(TextSwitch("B", "A"), 0)

    assert stream.feed_texts(["d", "e"], 0) == b"".join(
        b'data: {"type":"text-delta","id":"t:t0","delta":"%b"}\n\n' % each for each in (b"d", b"e")
    )
    assert stream._lane == lane
