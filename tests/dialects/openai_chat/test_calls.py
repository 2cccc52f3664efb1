"""Pieces of calls, in each way that servers cut and name them."""

import json
from typing import Any

import msgspec
import pytest

from support import openai_chat_frames as f
from support.openai_turn import plain_event
from turnwire.core.events import Event
from turnwire.core.wire import call_ids, input_pieces
from turnwire.dialects.openai_chat import calls
from turnwire.dialects.openai_chat.calls import Calls
from turnwire.dialects.openai_chat.frames import ToolCall, ToolProgress


def call(piece: dict[str, Any]) -> ToolCall:
    return msgspec.json.decode(json.dumps(piece), type=ToolCall)


def note(fields: dict[str, Any]) -> ToolProgress:
    return msgspec.json.decode(json.dumps({"toolCallId": "c1", **fields}), type=ToolProgress)


def taken(*pieces: dict[str, Any], ends: bool = True) -> list[Any]:
    """The events of these pieces."""
    made = Calls("p1")
    events: list[Event] = []
    for piece in pieces:
        events += made.take(call(piece))
    return [plain_event(event) for event in (*events, *(made.end_round() if ends else ()))]


def inputs(*pieces: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The names and the whole inputs of the calls that these pieces are of."""
    return {
        fields["call_id"]: (fields["tool_name"], fields["args"])
        for kind, fields in taken(*pieces)
        if kind == "ToolUpdate" and "args" in fields
    }


def test_a_call_begins_goes_on_and_is_whole() -> None:
    told = taken(f.head(), f.piece('{"city":'), f.piece('"Rome"}'))

    assert [kind for kind, _ in told] == ["ToolUpdate", *["ToolInputDelta"] * 2, "ToolUpdate"]
    assert told[-1][1]["args"] == '{"city":"Rome"}'


def with_function(**fields: Any) -> dict[str, Any]:
    return {"index": 0, "id": "c1", "function": {"name": "weather", **fields}}


ROME = ("weather", '{"city":"Rome"}')
OSLO = ("weather", '{"city":"Oslo"}')
TWICE = {"c1": ROME, "c2": ("clock", "{}")}


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([f.head(index=1), f.piece('{"city":"Rome"}', 1)], {"c1": ROME}),
        ([f.head(index=None), f.piece('{"city":"Rome"}', None)], {"c1": ROME}),
        ([f.head(), f.piece('{"city":', id=""), f.piece('"Rome"}', id="c1")], {"c1": ROME}),
        ([f.head(), f.head(args='{"city":"Rome"}')], {"c1": ROME}),
        ([f.head(), f.head(None, args='{"city":"Rome"}')], {"c1": ROME}),
        ([f.head(name=None), f.piece('{"city":"Rome"}'), f.head()], {"c1": ROME}),
        ([f.head(name=""), f.piece('{"city":'), f.head(), f.piece('"Rome"}')], {"c1": ROME}),
        ([f.head(), f.piece('{"city":', id="c7"), f.piece('"Rome"}', id="c8")], {"c1": ROME}),
        ([f.head(None, args='{"city":"Rome"}')], {"p1:call-1": ROME}),
        ([f.head(None, index=None, args='{"city":"Rome"}')], {"p1:call-1": ROME}),
        ([f.piece('{"city":"Rome"}', None)], {"p1:call-1": ("tool", ROME[1])}),
        (
            [f.head(args='{"city":"Rome"}'), f.head("c2", "clock", 0, "{}")],
            TWICE,
        ),
        (
            [f.head(args='{"city":"Rome"}'), f.head("c2", "clock", None, "{}")],
            TWICE,
        ),
        (
            [
                *(f.head(), f.head("c2", "clock", 1)),
                *(f.piece('{"city":'), f.piece("{}", 1), f.piece('"Rome"}')),
            ],
            TWICE,
        ),
        (
            [f.head(None, args='{"city":"Rome"}'), f.head(None, "clock", 0, "{}")],
            {"p1:call-1": ROME, "p1:call-2": ("clock", "{}")},
        ),
        ([f.head(args="{"), f.piece("late")], {"c1": ("weather", '"{late"')}),
        ([f.head()], {"c1": ("weather", "{}")}),
        ([f.head(args="nonsense")], {"c1": ("weather", '"nonsense"')}),
        ([with_function(arguments={"city": "Rome"})], {"c1": ROME}),
        ([with_function(arguments=None)], {"c1": ("weather", "{}")}),
        ([{"id": "c1", "custom": {"name": "sql", "input": "now"}}], {"c1": ("sql", '"now"')}),
        ([{"index": 0, "id": "c1"}], {"c1": ("tool", "{}")}),
        ([f.head("", "", 0, "")], {}),
        ([f.piece("", None)], {}),
        ([f.head(args=ROME[1]), f.head(args=ROME[1])], {"c1": ROME}),
        ([f.head(), f.piece('{"city":'), f.piece('"Rome"}'), f.head(args=ROME[1])], {"c1": ROME}),
        ([f.head(None, args=ROME[1]), f.head(None, args=ROME[1])], {"p1:call-1": ROME}),
        (
            [f.head(None, args=ROME[1]), f.head(None, args=OSLO[1])],
            {"p1:call-1": ROME, "p1:call-2": OSLO},
        ),
        (
            [f.head(None, args=ROME[1]), f.head(None), f.piece(OSLO[1])],
            {"p1:call-1": ROME, "p1:call-2": OSLO},
        ),
        (
            [
                *(f.head(None, args=ROME[1]), f.head(None, "clock", 1, "{}")),
                *(f.head(None, args=ROME[1]), f.head(None, args=OSLO[1])),
            ],
            {"p1:call-1": ROME, "p1:call-2": ("clock", "{}"), "p1:call-3": OSLO},
        ),
        (
            [f.head(None, args='{"a":'), f.head(None, args='{"b":'), f.head(None, args="1}}")],
            {"p1:call-1": ("weather", '{"a":{"b":1}}')},
        ),
        ([f.head(), f.head(args='{"a":'), f.head(args="1}")], {"c1": ("weather", '{"a":1}')}),
    ],
)  # fmt: skip
def test_whichever_way_a_server_cuts_them(
    pieces: list[dict[str, Any]], expected: dict[str, tuple[str, str]]
) -> None:
    normal = {key: (name, "".join(text.split())) for key, (name, text) in inputs(*pieces).items()}

    assert normal == {key: (name, "".join(text.split())) for key, (name, text) in expected.items()}


def test_an_input_is_whole_when_another_call_begins() -> None:
    told = taken(f.head(args='{"city":"Rome"}'), f.head("c2", "clock", 1), ends=False)

    assert [fields["call_id"] for kind, fields in told if "args" in fields] == ["c1"]


def test_an_input_is_looked_at_once_however_many_calls_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    def look(text: str) -> bool:
        looked.append(text)
        return is_object(text)

    is_object = calls._is_object
    monkeypatch.setattr(calls, "_is_object", look)
    heads = [f.head(f"c{number}", index=number) for number in range(2, 6)]
    told = taken(f.head(args='{"a":['), *heads, f.piece("1]}"))

    assert looked == ['{"a":[', "", "", ""]
    assert next(fields["args"] for _, fields in told if "args" in fields) == '{"a":[1]}'


def test_a_name_that_comes_again_and_again_does_not_cost_more_and_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "LOOKED_MAX", 40)
    again = f.head(None, args=OSLO[1])

    assert len(inputs(f.head(None, args=ROME[1]), again)) == 2
    assert len(inputs(f.head(None, args=ROME[1] + " " * 30), again)) == 1


def test_what_a_tool_returned_is_the_outcome_of_its_call() -> None:
    made = Calls("p1")
    new = made.take(call(f.head(args="{}"))) + made.output("c1", msgspec.Raw(b'"21 C"'))
    told = [plain_event(event) for event in new]

    assert phases(told) == ["pending", "ToolInputDelta", "running", "completed"]
    assert told[-1][1]["result"] == '"21 C"'
    assert made.output("c1", msgspec.Raw(b"1")) == []
    unknown = [plain_event(event) for event in made.output("x" * 600, msgspec.Raw(b"1"))]
    assert phases(unknown) == ["running", "completed"]
    assert unknown[0][1]["call_id"] == call_ids.shortened("x" * 600)


def test_a_call_is_new_unless_it_was_told() -> None:
    made = Calls("p1")
    assert made.is_new(call(f.head(None)))

    made.take(call(f.head()))
    assert [made.is_new(call(f.head(each))) for each in (None, "c1", "c2")] == [False, False, True]

    made.output("c1", msgspec.Raw(b"1"))
    assert [made.is_new(call(f.head(each))) for each in (None, "c1", "c2")] == [False, False, True]


def test_a_long_input_is_shown_in_pieces_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_pieces, "INPUT_BYTES_MAX", 8)
    told = taken(f.head(args='{"a":'), f.piece('"long"'), f.piece(""), f.piece("}"))

    assert [fields["text"] for kind, fields in told if kind == "ToolInputDelta"] == [
        '{"a":',
        '"long"',
        "}",
    ]
    assert told[-1][1]["args"] == '"(too long)"'


def test_of_too_many_calls_the_oldest_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "OPEN_MAX", 2)
    told = taken(*(f.head(f"c{number}", index=number) for number in range(3)), ends=False)

    assert told[-2:-1] == [
        ("ToolUpdate", told[-2][1] | {"call_id": "c0", "error": "No result"}),
    ]


def test_what_is_kept_has_a_bound_and_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_pieces, "INPUT_BYTES_MAX", 10)
    monkeypatch.setattr(calls, "DONE_MAX", 2)
    made = Calls("p1")
    for number in range(5):
        made.take(call(f.head(f"c{number}", index=number, args='{"a":"bc"}')))
        for _ in range(9):
            made.take(call({"index": number}))
        assert made.kept_bytes == len('{"a":"bc"}') + 2 + 2 * min(number, 2)
        made.progress(note({"toolCallId": f"c{number}", "status": "done"}))

    assert made.kept_bytes == 2 * 2
    assert made.take(call(f.head("c4"))) == made.take(call(f.head("c3"))) == []
    assert made.take(call(f.head("c2"))) != []


LONG = "call_" + "x" * 944


def test_an_id_that_is_too_long_is_shortened_the_same_way_each_time() -> None:
    made = Calls("p1")
    new = made.take(call(f.head(LONG, args='{"a":1}')))
    new += made.take(call(f.piece("", id=LONG)))
    new += made.progress(note({"toolCallId": LONG, "status": "done"}))

    told = [plain_event(event) for event in new]
    assert {fields["call_id"] for _, fields in told} == {call_ids.shortened(LONG)}
    assert [fields["phase"].value for kind, fields in told if kind == "ToolUpdate"] == [
        *("pending", "running", "completed"),
    ]
    assert made.take(call(f.head(LONG))) == made.progress(note({"toolCallId": "", "status": ""}))
    assert made.kept_bytes == calls.DONE_ID_MAX


def progressed(*notes: dict[str, Any], before: list[dict[str, Any]] | None = None) -> list[Any]:
    made = Calls("p1")
    for piece in before or ():
        made.take(call(piece))
    return [
        plain_event(event)
        for fields in notes
        for event in made.progress(note({"tool": "terminal", **fields}))
    ]


def phases(told: list[Any]) -> list[str]:
    return [fields["phase"].value if "phase" in fields else kind for kind, fields in told]


def test_an_agent_says_that_its_tool_runs_and_is_done() -> None:
    told = progressed({"status": "running", "label": "ls"}, {"status": "completed"})

    assert phases(told) == ["running", "completed"]
    assert told[0][1]["args"] == '{"label":"ls"}'
    assert told[1][1]["result"] == bytes(calls.NOT_CARRIED).decode()


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"status": "failed", "error": "exit 1"}, "exit 1"),
        ({"status": "ERROR", "error": {"message": "exit 1"}}, "exit 1"),
        ({"status": "cancelled", "label": "ls"}, "ls"),
        ({"status": "failed"}, "Tool execution failed"),
    ],
)
def test_a_tool_that_failed_is_an_error(fields: dict[str, Any], text: str) -> None:
    told = progressed(fields)

    assert phases(told) == ["running", "error"]
    assert told[1][1]["error"] == text


def test_other_words_are_a_status_and_a_done_call_stays_done() -> None:
    told = progressed(
        {"status": "downloading", "label": "50 %"}, {"status": "done"}, {"status": "running"}
    )

    assert phases(told) == ["running", "AgentStatus", "completed"]
    assert told[1][1] == {"status": "tool_downloading", "detail": "50 %"}


def test_a_call_that_the_model_made_has_its_input_before_it_runs() -> None:
    told = progressed({"status": "running", "label": "ls"}, before=[f.head(args='{"a":1}')])

    assert [(fields["tool_name"], fields["args"]) for _, fields in told] == [("weather", '{"a":1}')]
    made = Calls("p1")
    made.progress(note({"status": "done"}))
    assert made.take(call(f.head())) == []
    assert not made.are_open


def test_what_is_open_at_the_end_ends() -> None:
    made = Calls("p1")
    made.take(call(f.head(args="{")))
    assert made.are_unrun
    made.progress(note({"toolCallId": "c2", "status": "running"}))

    told = [plain_event(event) for event in made.settle()]
    assert phases(told) == ["running", "error", "error"]
    assert [fields["error"] for _, fields in told[1:]] == [calls.NOBODY_RAN, calls.NO_OUTCOME]
    assert not made.are_open


def test_an_agent_that_goes_on_ran_the_tools_and_says_what_came_of_those_that_it_named() -> None:
    made = Calls("p1")
    made.take(call(f.head("c1")))
    made.progress(note({"toolCallId": "c2", "status": "running"}))

    told = [plain_event(event) for event in made.end_unseen()]
    assert [(fields["call_id"], fields["phase"].value) for _, fields in told] == [
        ("c1", "completed")
    ]
    assert (made.are_open, made.are_unrun) == (True, False)
    assert phases(
        [plain_event(e) for e in made.progress(note({"toolCallId": "c2", "status": "failed"}))]
    ) == ["error"]
