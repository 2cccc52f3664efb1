"""Pieces of inputs, preliminary outputs and breaks among the other chunks of a message."""

import pytest
from msgspec import Raw

from support.shown import brief, started, tool
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import (
    Approval,
    Event,
    Phase,
    Question,
    Reason,
    ReasoningDelta,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    TextBreak,
    TextDelta,
    ToolInputDelta,
    TurnFinished,
)
from turnwire.core.ui_stream.translator import Translator

SAID = TextDelta("a")
THOUGHT = ReasoningDelta("h")
ASKED = Question("q", Raw(b'{"text":"ok?"}'))
RUNS = tool(Phase.RUNNING, args={})
DONE = tool(Phase.COMPLETED, result=1)
PRELIMINARY = tool(Phase.RUNNING, result=1, preliminary=True)


def finished(final_text: str) -> TurnFinished:
    return TurnFinished(reason=Reason.END_TURN, final_text=final_text)


@pytest.mark.parametrize(
    ("before", "event", "chunks"),
    [
        pytest.param([SAID], TextBreak(), ["text-end t:t0"], id="the text breaks"),
        pytest.param([THOUGHT], TextBreak(), ["reasoning-end t:r0"], id="the reasoning breaks"),
        pytest.param([], TextBreak(), [], id="nothing breaks"),
        pytest.param([SAID, TextBreak()], TextBreak(), [], id="nothing breaks twice"),
        pytest.param(
            [SAID, TextBreak()],
            SAID,
            ["text-start t:t1", "text-delta t:t1 a"],
            id="text after a break is another block",
        ),
        pytest.param(
            [TextDelta("a\ud83d")],
            TextBreak(),
            ["text-delta t:t0 \ufffd", "text-end t:t0"],
            id="a break in half a character",
        ),
        pytest.param(
            [SAID, TextBreak(), TextDelta("b")],
            finished("abc"),
            ["text-delta t:t1 c", "text-end t:t1", "finish-step", "finish"],
            id="a final text over several blocks",
        ),
        pytest.param(
            [SAID],
            ToolInputDelta("c", "bash", "{"),
            ["text-end t:t0", "tool-input-start c", "tool-input-delta c {"],
            id="a piece of an input closes the text",
        ),
        pytest.param(
            [SAID],
            tool(Phase.RUNNING, args={}, result=1, preliminary=True),
            ["text-end t:t0", "tool-input-available c {}"],
            id="an output that not all clients know",
        ),
        pytest.param(
            [RUNS, SAID], PRELIMINARY, [], id="an output that not all clients know closes nothing"
        ),
    ],
)
def test_in_mid_turn(before: list[Event], event: Event, chunks: list[str]) -> None:
    assert brief(started(*before).feed(event)) == chunks


@pytest.mark.parametrize(
    "event",
    [THOUGHT, TextBreak(), ToolInputDelta("c", "bash", "{"), PRELIMINARY, ReplayUncertain()],
)
def test_before_the_turn_it_is_nothing(event: Event) -> None:
    assert Translator(native=True).feed(event) == []


def test_the_text_after_a_piece_of_an_input_is_a_segment_of_its_own() -> None:
    """An agent may repeat as its final text what it wrote after the last tool."""
    before = TextDelta("Let me see. "), ToolInputDelta("c", "bash", "{}"), TextDelta("It is")
    translator = started(*before)

    assert brief(translator.feed(finished("It is so.")))[0] == "text-delta t:t1  so."


def test_a_preliminary_output_goes_to_who_knows_it_and_never_over_a_request() -> None:
    translator = started(RUNS, native=True)

    assert brief(translator.feed(PRELIMINARY)) == ["tool-output-available c 1 True"]
    translator.request(ASKED, Approval("c", "bash", Raw(b"{}")), "a1")
    assert translator.feed(PRELIMINARY) == []
    translator.feed(Replied("q"))
    assert brief(translator.feed(PRELIMINARY)) == ["tool-output-available c 1 True"]
    assert brief(translator.feed(tool(Phase.COMPLETED, result=2))) == ["tool-output-available c 2"]


@pytest.mark.parametrize(
    ("before", "args", "shown_input"),
    [
        ([ToolInputDelta("c", "bash", "[7]")], None, "[7]"),
        ([ToolInputDelta("c", "bash", "[7")], Raw(b"[8]"), "[8]"),
        ([], None, "{}"),
    ],
)
def test_an_approval_shows_the_input_that_came_in_pieces(
    before: list[Event], args: Raw | None, shown_input: str
) -> None:
    requested = started(*before).request(ASKED, Approval("c", "bash", args), "a1")

    assert brief(requested) == [
        f"tool-input-available c {shown_input}",
        "tool-approval-request a1 c",
    ]


def test_pieces_of_a_call_that_began_in_an_earlier_response_are_not_sent() -> None:
    pieces = [ToolInputDelta("c", "bash", text) for text in ('{"a"', ":1}")]
    copy = ClientCopy(message_id="m", pending=frozenset("c"), without_input=frozenset("c"))
    translator = Translator(client_copy=copy)
    for event in (ReplayStarted("t"), pieces[0], ReplayUncertain()):
        translator.feed(event)

    assert translator.feed(pieces[1]) == []
    assert brief(translator.feed(DONE)) == [
        "tool-input-available c {'a': 1}",
        "tool-output-available c 1",
    ]
