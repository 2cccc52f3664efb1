"""What is new of a turn that is read again."""

import json
from typing import Any

import pytest

from turnwire_client.errors import MalformedError
from turnwire_client.events import (
    Abort,
    Data,
    Error,
    Event,
    File,
    Finish,
    FinishStep,
    Question,
    Restart,
    StartStep,
    TextDelta,
    ToolApprovalRequest,
    ToolInputDelta,
    ToolInputStart,
    ToolOutputAvailable,
    ToolOutputError,
)
from turnwire_client.limits import Limits
from turnwire_client.message import UIMessage
from turnwire_client.turn import OtherTurn, Turn

Json = dict[str, Any]

START: Json = {"type": "start", "messageId": "t1"}
OPEN: Json = {"type": "text-start", "id": "b"}
GIVEN: Json = {"type": "tool-input-available", "toolCallId": "c", "toolName": "add", "input": {}}
STEP: Json = {"type": "start-step"}
FINISH: Json = {"type": "finish"}
DONE = b"data: [DONE]\n\n"
KEEPALIVE = b": keepalive\n\n"


def text(delta: str) -> Json:
    return {"type": "text-delta", "id": "b", "delta": delta}


def data(value: object, **more: Any) -> Json:
    return {"type": "data-progress", "data": value, **more}


def question(state: str, **more: Any) -> Json:
    return {"type": "data-question", "id": "q", "data": {"text": "Why?", "state": state, **more}}


def records(*chunks: Json) -> bytes:
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


def cut_after(*chunks: Json) -> Turn:
    """A turn whose first connection broke after these chunks."""
    turn = Turn(Limits())
    turn.connect()
    for _ in turn.feed(records(START, OPEN, *chunks)):
        pass
    assert turn.cut() == []
    turn.connect()
    return turn


def again(turn: Turn, *chunks: Json) -> list[Event]:
    return [*turn.feed(records(START, OPEN, *chunks))]


def test_of_a_text_only_the_rest_is_new_however_it_is_cut() -> None:
    turn = cut_after(text("Hel"), text("lo"))

    assert again(turn, text("Hello wor")) == [TextDelta("b", " wor")]
    turn.connect()
    assert again(turn, text("Hello"), text(" w"), text("orld")) == [TextDelta("b", "ld")]
    assert turn.message.text == "Hello world"


def test_before_there_is_something_new_the_message_stays() -> None:
    turn = cut_after(text("Hello"))

    assert again(turn, text("He")) == []
    assert turn.message.text == "Hello"


def test_of_the_pieces_of_an_input_only_the_rest_is_new() -> None:
    begin: Json = {"type": "tool-input-start", "toolCallId": "c", "toolName": "add"}
    piece: Json = {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": '{"a":'}
    turn = cut_after(begin, piece)

    whole = {**piece, "inputTextDelta": '{"a":1}'}
    assert again(turn, begin, whole) == [ToolInputDelta("c", "1}")]
    fresh = Turn(Limits())
    fresh.connect()
    assert again(fresh, begin, piece)[0] == ToolInputStart("c", "add")


def test_a_call_goes_on_where_it_was() -> None:
    output: Json = {"type": "tool-output-available", "toolCallId": "c", "output": 3}
    turn = cut_after(GIVEN, text("so "))

    found = again(turn, GIVEN, output, text("so far"))

    assert found == [ToolOutputAvailable("c", 3), TextDelta("b", "far")]


@pytest.mark.parametrize(
    ("outcome", "found"),
    [
        (
            {"type": "tool-output-available", "toolCallId": "c", "output": 3},
            ToolOutputAvailable("c", 3),
        ),
        (
            {"type": "tool-output-error", "toolCallId": "c", "errorText": "It broke"},
            ToolOutputError("c", "It broke"),
        ),
    ],
)
def test_an_outcome_that_replaces_an_error_is_new_and_the_error_is_not(
    outcome: Json, found: Any
) -> None:
    error: Json = {"type": "tool-output-error", "toolCallId": "c", "errorText": "No result"}
    turn = cut_after(GIVEN, error)

    assert again(turn, GIVEN, error, outcome) == [found]
    turn.connect()
    assert again(turn, GIVEN, error, outcome) == []
    assert turn.message.parts[-1].get("errorText") == outcome.get("errorText")


def test_files_and_nameless_data_are_counted() -> None:
    file: Json = {"type": "file", "url": "u", "mediaType": "image/png"}
    turn = cut_after(file, data(1))

    found = again(turn, file, data(1), data(1), file)

    assert found == [Data("progress", 1), File("u", "image/png")]


def test_older_values_of_data_are_passed_over() -> None:
    turn = cut_after(data(1, id="d"), data(2, id="d"))

    found = again(turn, data(1, id="d"), data(2, id="d"), data(3, id="d"), text("so"))

    assert found == [Data("progress", 3, "d"), TextDelta("b", "so")]
    assert again(turn, data(3, id="d")) == []


def test_a_value_that_waits_comes_with_the_next_keepalive() -> None:
    turn = cut_after(data(1, id="d"), text("so"))

    assert again(turn, data(2, id="d"), text("so")) == []
    assert [*turn.feed(KEEPALIVE)] == [Data("progress", 2, "d")]
    assert [*turn.feed(KEEPALIVE)] == []


def test_the_keepalive_that_a_stream_begins_with_says_nothing_of_what_it_has_brought() -> None:
    turn = cut_after(data(1, id="d"), data(2, id="d"))
    turn.connect()

    begun = KEEPALIVE + records(START)
    assert [*turn.feed(begun + KEEPALIVE + records(data(1, id="d"), data(2, id="d")))] == []
    assert [*turn.feed(KEEPALIVE)] == []


def test_a_value_that_waits_comes_before_the_end() -> None:
    turn = cut_after(data(1, id="d"))

    assert again(turn, data(2, id="d"), FINISH) == []
    assert [*turn.feed(DONE)] == [Data("progress", 2, "d"), Finish()]


def test_data_of_the_moment_is_not_repeated() -> None:
    turn = cut_after(data(1, transient=True), text("so"))

    found = again(turn, data(1, transient=True), text("so far"), data(2, transient=True))

    assert found == [TextDelta("b", " far"), Data("progress", 2, transient=True)]


def test_a_question_that_was_asked_is_not_asked_again_with_another_signature() -> None:
    turn = cut_after(question("open", approvalId="one"))

    assert again(turn, question("open", approvalId="two")) == []
    assert [*turn.feed(KEEPALIVE)] == []
    (closed,) = again(turn, question("resolved"))
    assert isinstance(closed, Question)
    assert closed.state == "resolved"


def test_a_closed_question_is_not_asked_again_behind_something_new() -> None:
    turn = cut_after(question("open"), question("resolved"))

    found = again(turn, text("so"), question("open"), text(" far"), question("resolved"))

    assert found == [TextDelta("b", "so"), TextDelta("b", " far")]
    assert len(again(turn, question("open"))) == 1, "the agent asks it again"


def test_a_question_that_came_meanwhile_comes_at_once() -> None:
    turn = cut_after(text("so"))

    (asked,) = again(turn, text("so"), question("open", kind="approval", callId="c"))

    assert isinstance(asked, ToolApprovalRequest)
    assert (asked.id, asked.tool_call_id, asked.text) == ("q", "c", "Why?")


def test_a_turn_in_other_words_begins_again() -> None:
    turn = cut_after(text("Hello"), GIVEN)

    found = again(turn, GIVEN, text("Good"), text(" day"))

    assert found[0] == Restart("t1")
    assert "".join(each.delta for each in found if isinstance(each, TextDelta)) == "Good day"
    assert turn.message.text == "Good day"


def test_a_step_that_begins_again_has_not_ended() -> None:
    turn = cut_after(text("Hello"))

    found = [*turn.feed(records(START, STEP, OPEN, text("Good")))]

    assert found[-3:] == [Restart("t1"), StartStep(), TextDelta("t1:1", "Good")]
    assert [*turn.feed(records({"type": "finish-step"}))] == [FinishStep()]


def test_what_the_history_no_longer_has_is_taken_back() -> None:
    file: Json = {"type": "file", "url": "u", "mediaType": "image/png"}
    turn = Turn(Limits())
    turn.connect()
    begun = [*turn.feed(records(START, STEP, file, {"type": "reset-step"}))]
    assert begun == [StartStep(), File("u", "image/png"), Restart("t1"), StartStep()]
    parts = [{"type": "step-start"}, file | {"url": "v"}]

    found = turn.take_message(UIMessage("t1", "assistant", parts), Finish())

    assert found[-4:] == [StartStep(), File("v", "image/png"), FinishStep(), Finish()]
    assert found[-5] == Restart("t1")


def test_a_turn_with_fewer_words_begins_again_at_its_end() -> None:
    turn = cut_after(text("Hello"))

    assert again(turn, text("Hell"), FINISH) == []
    found = [*turn.feed(DONE)]

    assert [type(each) for each in found] == [Restart, TextDelta, Finish]
    assert turn.message.text == "Hell"


def test_an_error_that_cuts_the_repetition_takes_nothing_back() -> None:
    turn = cut_after(text("Hello"))

    error: Json = {"type": "error", "errorText": "Gateway restarting"}
    assert again(turn, text("He"), error, FINISH) == []
    assert [*turn.feed(DONE)] == [Error("Gateway restarting")]
    assert turn.message.text == "Hello"


def test_another_turn_is_none_of_ours() -> None:
    turn = cut_after(text("Hello"))

    with pytest.raises(OtherTurn):
        list(turn.feed(records({**START, "messageId": "t2"})))


@pytest.mark.parametrize(
    ("verdict", "end"),
    [
        ({"type": "error", "errorText": "Broken"}, Error("Broken", {"usage": {"in": 1}})),
        ({"type": "abort"}, Abort(None, {"usage": {"in": 1}})),
        ({"type": "data-x", "data": 1}, Finish("stop", {"usage": {"in": 1}})),
    ],
)
def test_there_is_one_end_and_it_has_the_counts(verdict: Json, end: Event) -> None:
    turn = Turn(Limits())
    turn.connect()
    finish = {**FINISH, "finishReason": "stop", "messageMetadata": {"usage": {"in": 1}}}

    *_, last = [*turn.feed(records(START, verdict, finish) + DONE + records(text("late")))]

    assert last == turn.end == end
    assert turn.end is not None
    assert turn.end.usage == {"in": 1}
    assert turn.cut() == []


def test_the_rest_may_come_from_the_history() -> None:
    turn = cut_after(text("Hel"), GIVEN)
    output = {"type": "tool-add", "toolCallId": "c", "input": {}, "output": 3}
    parts: list[Json] = [{"type": "text", "text": "Hello", "state": "done"}, output]

    found = turn.take_message(UIMessage("t1", "assistant", parts), Finish())

    assert [type(each) for each in found] == [TextDelta, ToolOutputAvailable, Finish]
    assert turn.message.text == "Hello"


def test_a_part_of_the_history_without_its_fields_is_malformed() -> None:
    with pytest.raises(MalformedError):
        cut_after().take_message(UIMessage("t1", "assistant", [{"type": "file"}]), Finish())


@pytest.mark.parametrize(
    "item",
    [b"{", b"[]", b"{}", b'{"type":7}', b'{"type":"text-delta","id":1}', b"\xff", b"[" * 9000],
)
def test_what_is_no_chunk_is_malformed_and_does_not_show_it(item: bytes) -> None:
    turn = Turn(Limits())

    with pytest.raises(MalformedError) as error:
        list(turn.feed(b"data: " + item + b"\n\n"))

    assert error.value.__suppress_context__


def test_a_type_that_nobody_knows_is_passed_over() -> None:
    turn = Turn(Limits())

    assert [*turn.feed(records({"type": "of-tomorrow", "id": 1}, text("so")))] == [
        TextDelta("b", "so")
    ]


def test_a_question_of_another_shape_is_data() -> None:
    turn = Turn(Limits())
    odd = {"type": "data-question", "id": "q", "data": {"options": 7}}

    assert [*turn.feed(records(odd))] == [Data("question", {"options": 7}, "q")]


def test_a_preliminary_output_is_nothing_beside_the_error_that_follows() -> None:
    preview: Json = {"type": "tool-output-available", "toolCallId": "c", "output": "half"}
    failed: Json = {"type": "tool-output-error", "toolCallId": "c", "errorText": "It broke"}
    turn = cut_after(GIVEN, preview | {"preliminary": True}, failed)

    part = turn.message.parts[-1]
    assert part["state"] == "output-error"
    assert not {"output", "preliminary"} & part.keys()


def test_a_preliminary_output_is_followed_by_the_final_one() -> None:
    preview: Json = {"type": "tool-output-available", "toolCallId": "c", "output": 1}
    turn = cut_after(GIVEN, preview | {"preliminary": True})
    assert turn.message.parts[-1]["preliminary"]
    turn.connect()
    found = list(turn.feed(records(START, OPEN, GIVEN, preview | {"output": 2})))

    assert found == [ToolOutputAvailable("c", 2)]
    assert "preliminary" not in turn.message.parts[-1]


def test_in_a_profile_the_approvals_of_a_history_are_no_questions() -> None:
    parts = [
        question("resolved", kind="approval"),
        question("resolved") | {"id": "another"},
    ]
    for is_native, ids in [(True, ["another"]), (False, ["q", "another"])]:
        turn = Turn(Limits(), is_native=is_native)
        found = turn.take_message(UIMessage("t1", "assistant", parts), Finish())

        assert [event.id for event in found if isinstance(event, Question)] == ids
