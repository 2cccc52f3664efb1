"""The input of a call that comes in pieces: which are sent, and what they make together."""

import pytest
from msgspec import Raw

from support.shown import brief, shown, tool
from turnwire.core.bounds import INPUT_BYTES_MAX
from turnwire.core.events import Phase, ToolInputDelta, ToolUpdate
from turnwire.core.safe_json import TOO_LONG
from turnwire.core.ui_stream.streamed_input import StreamedInput
from turnwire.core.ui_stream.tool_calls import Calls

START = "tool-input-start c"
RUNS = tool(Phase.RUNNING)
DONE = tool(Phase.COMPLETED, result=4)
OUTPUT = "tool-output-available c 4"
WHOLE = '{"a":1}'


def piece(text: str, call_id: str = "c") -> ToolInputDelta:
    return ToolInputDelta(call_id, "bash", text)


def play(calls: Calls, *events: ToolInputDelta | ToolUpdate) -> list[str]:
    return [
        text
        for event in events
        for text in brief(
            calls.add_input(event) if isinstance(event, ToolInputDelta) else calls.update(event)
        )
    ]


@pytest.mark.parametrize(
    ("events", "chunks"),
    [
        pytest.param([piece('{"a')], [START, 'tool-input-delta c {"a'], id="it begins the call"),
        pytest.param([piece("")], [START], id="an empty piece begins it too"),
        pytest.param(
            [tool(Phase.PENDING), piece('{"a')],
            [START, 'tool-input-delta c {"a'],
            id="after the start",
        ),
        pytest.param(
            [piece(WHOLE), tool(Phase.RUNNING, args=2), piece("x")],
            [START, f"tool-input-delta c {WHOLE}", "tool-input-available c 2"],
            id="the whole input counts, and no piece comes after it",
        ),
        pytest.param(
            [piece('{"a'), piece('":1}'), DONE],
            [
                *(START, 'tool-input-delta c {"a', 'tool-input-delta c ":1}'),
                *("tool-input-available c {'a': 1}", OUTPUT),
            ],
            id="an end without an input has the pieces",
        ),
        pytest.param(
            [piece(WHOLE), RUNS],
            [START, f"tool-input-delta c {WHOLE}", "tool-input-available c {'a': 1}"],
            id="a call that runs has its input",
        ),
        pytest.param(
            [RUNS, piece(""), RUNS], [START], id="without pieces the input may still come"
        ),
        pytest.param(
            [piece("rm -r"), DONE],
            [START, "tool-input-delta c rm -r", "tool-input-available c rm -r", OUTPUT],
            id="what is no JSON is a string",
        ),
        pytest.param(
            [piece(" \n"), DONE],
            [START, "tool-input-delta c  \n", "tool-input-available c {}", OUTPUT],
            id="white space is no input",
        ),
        pytest.param(
            [piece('"\ud83d'), piece('\ude00"'), DONE],
            [
                *(START, 'tool-input-delta c "', 'tool-input-delta c \U0001f600"'),
                *("tool-input-available c \U0001f600", OUTPUT),
            ],
            id="no piece ends in half a character",
        ),
        pytest.param(
            [piece("\ud83d"), DONE],
            [START, "tool-input-available c \ufffd", OUTPUT],
            id="half a character whose other half never came",
        ),
        pytest.param([DONE, piece("x")], ["tool-input-available c {}", OUTPUT], id="after the end"),
    ],
)
def test_what_pieces_are_worth(
    events: list[ToolInputDelta | ToolUpdate], chunks: list[str]
) -> None:
    assert play(Calls(), *events) == chunks


def test_in_a_later_step_a_piece_begins_a_new_call() -> None:
    calls = Calls()
    play(calls, DONE)
    calls.next_step()

    assert play(calls, piece("1")) == ["tool-input-start c#2", "tool-input-delta c#2 1"]


def test_an_open_call_has_its_pieces_as_input_at_the_end_of_the_turn() -> None:
    calls = Calls()
    play(calls, piece(WHOLE))

    assert brief(calls.settle("Canceled")) == [
        "tool-input-available c {'a': 1}",
        "tool-output-error c Canceled",
    ]


def test_keys_that_clients_refuse_are_renamed_in_the_input() -> None:
    calls = Calls()
    play(calls, piece('{"__proto__":1}'))

    assert shown(calls.update(RUNS))[0]["input"] == {"_proto_": 1}


def test_pieces_are_kept_up_to_a_limit_for_all_calls_together() -> None:
    calls = Calls()
    long = '"' + "x" * (INPUT_BYTES_MAX - 2) + '"'

    assert len(play(calls, piece(long))) == 2
    assert play(calls, piece("1", "d"), piece("2", "d")) == ["tool-input-start d"]
    assert shown(calls.update(RUNS))[0]["input"] == long[1:-1]
    assert play(calls, piece("3", "d")) == [], "after a gap no piece may come"
    assert play(calls, tool(Phase.RUNNING, "d")) == ["tool-input-available d (too long)"]
    assert (
        play(calls, piece(long, "e"), tool(Phase.RUNNING, "e"))[1] == f"tool-input-delta e {long}"
    )


def test_an_input_that_is_too_long_leaves_its_room_to_others() -> None:
    calls = Calls()
    play(calls, piece("1" * INPUT_BYTES_MAX), piece("1"))
    play(calls, piece("2" * INPUT_BYTES_MAX, "d"))

    assert play(calls, RUNS) == [f"tool-input-available c {TOO_LONG.decode()[1:-1]}"]
    assert calls._streamed_bytes == INPUT_BYTES_MAX
    calls.settle()
    assert calls._streamed_bytes == 0


def test_a_call_of_an_earlier_response_gets_no_pieces_and_its_whole_input() -> None:
    calls = Calls()
    play(calls, piece('{"a'))
    calls.stop_deltas()

    assert play(calls, piece('":1}'), piece("1", "d")) == [
        "tool-input-start d",
        "tool-input-delta d 1",
    ]
    assert play(calls, RUNS) == ["tool-input-available c {'a': 1}"]


def test_whether_an_input_waits_in_pieces() -> None:
    calls = Calls()
    play(calls, tool(Phase.PENDING, "d"), piece("1"))

    assert [calls.has_pieces(call_id) for call_id in ("c", "d", "e")] == [True, False, False]
    play(calls, RUNS)
    assert not calls.has_pieces("c")


def test_a_text_that_was_dropped_is_too_long() -> None:
    streamed = StreamedInput()
    assert streamed.json() is None
    streamed.add("12")
    assert (streamed.size, streamed.json()) == (2, Raw(b"12"))

    streamed.drop()

    assert (streamed.size, streamed.is_too_long, streamed.json()) == (0, True, Raw(TOO_LONG))


@pytest.mark.parametrize(
    ("before", "chunks"),
    [
        pytest.param(
            [], ["tool-input-available c {}", "tool-output-available c 1 True"], id="first seen"
        ),
        pytest.param(
            [piece("[7]")],
            ["tool-input-available c [7]", "tool-output-available c 1 True"],
            id="after pieces",
        ),
        pytest.param([RUNS], ["tool-input-available c {}", "tool-output-available c 1 True"]),
        pytest.param(
            [tool(Phase.RUNNING, args=2)], ["tool-output-available c 1 True"], id="after the input"
        ),
        pytest.param(
            [tool(Phase.RUNNING, args=2, result=0, preliminary=True)],
            ["tool-output-available c 1 True"],
            id="again",
        ),
        pytest.param([DONE], [], id="after the outcome"),
    ],
)
def test_a_preliminary_output_leaves_the_call_open(
    before: list[ToolInputDelta | ToolUpdate], chunks: list[str]
) -> None:
    calls = Calls()
    play(calls, *before)
    was_open = bool(calls.open) or not before

    assert play(calls, tool(Phase.RUNNING, result=1, preliminary=True)) == chunks
    assert bool(calls.open) is was_open
    assert play(calls, DONE) == ([OUTPUT] if was_open else [])


def test_without_a_result_nothing_is_preliminary() -> None:
    assert play(Calls(), tool(Phase.RUNNING, preliminary=True)) == [START]
    assert play(Calls(), tool(Phase.COMPLETED, result=4, preliminary=True))[-1] == OUTPUT
    assert play(Calls(), tool(Phase.RUNNING, args=1, result=4)) == ["tool-input-available c 1"]
