"""What one frame tells is parted by what each event takes."""

import pytest
from msgspec import Raw

from turnwire.core.agent import ALIVE, Decoded
from turnwire.core.connect import ConnectRequest
from turnwire.core.events import (
    AgentStatus,
    DataPart,
    Event,
    FilePart,
    Phase,
    Question,
    QuestionClosed,
    Queued,
    Reason,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    Replied,
    SourceUrl,
    TextBreak,
    TextDelta,
    TextSwitch,
    ToolInputDelta,
    ToolUpdate,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.rejection import Rejection
from turnwire.core.turn.portions import EVENTS, PIECE, SIZE, portions


def call(size: int) -> Event:
    raw = Raw(b"x" * size)
    return ToolUpdate(call_id="c", tool_name="t", phase=Phase.COMPLETED, result=raw)


def test_many_small_events_are_parted_by_their_number() -> None:
    told = Decoded([Queued()] * (2 * EVENTS + 1))

    sizes = [len(each.events) for each in portions(told, split_texts=False)]
    assert sizes == [EVENTS, EVENTS, 1]


def test_few_large_events_are_parted_by_their_size() -> None:
    told = Decoded([call(SIZE), call(SIZE), Question("q", Raw(b"x" * SIZE)), call(1), Queued()])

    assert [len(each.events) for each in portions(told, split_texts=False)] == [1, 1, 1, 2]


@pytest.mark.parametrize(
    "long", [ToolInputDelta("c", "t", "x" * SIZE), DataPart("s", None, Raw(b"x" * SIZE))]
)
def test_pieces_of_inputs_and_data_count_by_their_size(long: Event) -> None:
    told = Decoded([long, call(1)])

    assert [len(each.events) for each in portions(told, split_texts=False)] == [1, 1]


def test_a_portion_may_be_full() -> None:
    told = Decoded([call(SIZE - 1), call(1), call(1)])

    assert [len(each.events) for each in portions(told, split_texts=False)] == [2, 1]


def test_a_text_is_cut_where_words_are_counted_alone() -> None:
    told = Decoded(
        [TextDelta("x" * (2 * PIECE + 1)), ReasoningDelta("y" * (PIECE + 1)), TextDelta("z")]
    )

    assert list(portions(told, split_texts=False)) == [told]
    pieces = [event for each in portions(told, split_texts=True) for event in each.events]
    texts = [each for each in pieces if isinstance(each, TextDelta | ReasoningDelta)]
    assert [len(each.text) for each in texts] == [
        PIECE,
        PIECE,
        1,
        PIECE,
        1,
        1,
    ]


@pytest.mark.parametrize(
    "event",
    [
        TurnStarted("t"),
        ReplayStarted("t"),
        ReplayUncertain(),
        ReplayFinished(),
        TextDelta("x" * PIECE),
        ReasoningDelta("x" * PIECE),
        call(SIZE + 1),
        TextBreak(),
        TextSwitch("a", "b"),
        ToolInputDelta("c", "t", "x" * (PIECE + 1)),
        DataPart("s", None, Raw(b"1")),
        FilePart("data:,", "text/plain"),
        SourceUrl("s", "https://a.example/"),
        AgentStatus("thinking"),
        Question("q", Raw(b"{}")),
        Replied("q"),
        QuestionClosed("q"),
        TurnFinished(reason=Reason.END_TURN),
        Queued(),
    ],
    ids=lambda event: type(event).__name__,
)
def test_what_is_no_long_text_is_never_cut(event: Event) -> None:
    assert list(portions(Decoded([event]), split_texts=True)) == [Decoded([event])]


def test_a_sign_of_life_is_a_portion() -> None:
    assert list(portions(ALIVE, split_texts=True)) == [Decoded([])]


def test_what_is_no_event_comes_with_the_last_portion() -> None:
    connect = ConnectRequest()
    told = Decoded([Queued()] * (EVENTS + 1), [b"to send"], Rejection.SESSION, connect)

    first, last = portions(told, split_texts=False)

    assert (first.to_agent, first.rejection, first.connect) == ((), None, None)
    assert (last.to_agent, last.rejection) == ([b"to send"], Rejection.SESSION)
    assert last.connect is connect
