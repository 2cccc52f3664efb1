"""Calls: the input in pieces and whole, the outcome once, whatever the agent leaves out."""

from typing import Any

import pytest
from msgspec import Raw

from support.ag_ui_calls import begun, repeated
from support.ag_ui_turn import plain_event
from turnwire.core.events import Event, Phase, ToolUpdate
from turnwire.dialects.ag_ui.content.calls import DONE_MAX, INPUT_MAX, OPEN_MAX, UNNAMED, Calls

START = ("ToolUpdate", {"call_id": "c1", "tool_name": "x", "phase": "pending"})


def events_of(events: list[Event]) -> list[Any]:
    """Each event as a name and its fields."""
    shown = []
    for event in events:
        name, fields = plain_event(event)
        shown.append((name, {k: getattr(v, "value", v) for k, v in fields.items()}))
    return shown


def input_of(events: list[Event]) -> str | None:
    """The whole input in the last of these events."""
    args: str | None = events_of(events)[-1][1].get("args")
    return args


def test_a_call_begins_gets_its_input_and_its_output() -> None:
    calls = Calls()

    assert events_of(calls.start("c1", "x")) == [START]
    piece = {"call_id": "c1", "tool_name": "x", "text": '{"a":'}
    assert events_of(calls.args("c1", '{"a":')) == [("ToolInputDelta", piece)]
    calls.args("c1", "1}")
    assert events_of(calls.end("c1")) == [
        (
            "ToolUpdate",
            {"call_id": "c1", "tool_name": "x", "phase": "running", "args": '{"a":1}'},
        )
    ]
    (done,) = events_of(calls.result("c1", Raw(b"2")))
    assert done[1] == {
        "call_id": "c1",
        "tool_name": "x",
        "phase": "completed",
        "args": '{"a":1}',
        "result": "2",
    }


def test_a_start_that_comes_again_changes_nothing() -> None:
    calls = begun("{}")

    assert calls.start("c1", "x") == []


def test_an_input_that_is_no_json_waits_for_another_and_is_a_text_at_last() -> None:
    calls = begun('{"a":')

    assert calls.end("c1") == []
    assert calls.waits_for_input
    assert calls.described("c1") == ("x", Raw(b'"{\\"a\\":"'))
    assert input_of(calls.result("c1", None)) == '"{\\"a\\":"'


def test_a_fragment_of_an_input_is_replaced_by_that_of_a_snapshot() -> None:
    """Some agents leave out the first piece."""
    calls = begun('n": 1}')
    calls.end("c1")

    assert input_of(calls.input_found("c1", Raw(b'{"n": 1}'))) == '{"n": 1}'


def test_a_call_of_an_earlier_run_is_known_and_not_begun_again() -> None:
    calls = Calls()
    calls.adopt("c1", "x", Raw(b"{}"))

    assert calls.start("c1", "x") + calls.args("c1", "{}") + calls.end("c1") == []
    assert events_of(calls.result("c1", Raw(b"1")))[0][1]["tool_name"] == "x"


def test_what_an_earlier_run_told_is_followed() -> None:
    calls = Calls()
    calls.follow(ToolUpdate(call_id="c1", tool_name="x", phase=Phase.PENDING))
    calls.follow(ToolUpdate(call_id="c2", tool_name="y", phase=Phase.RUNNING, args=Raw(b"[1]")))
    calls.follow(ToolUpdate(call_id="c3", tool_name="z", phase=Phase.COMPLETED))

    assert calls.described("c1") == ("x", Raw(b"{}"))
    assert calls.described("c2") == ("y", Raw(b"[1]"))
    assert calls.is_done("c3")


def test_what_an_earlier_run_told_with_the_outcome_alone_is_followed_too() -> None:
    calls, args = Calls(), Raw(b'{"a":1}')
    for call_id in ("c1", "c2"):
        over = ToolUpdate(call_id=call_id, tool_name="x", phase=Phase.COMPLETED, args=args)
        if call_id == "c2":
            calls.follow(ToolUpdate(call_id=call_id, tool_name="x", phase=Phase.PENDING))
        calls.follow(over)
        calls.follow(over)

    assert [calls.described(each) for each in ("c1", "c2")] == [("x", args)] * 2
    assert [calls.is_apart(each) for each in ("c1", "c2")] == [False, False]


def test_a_call_that_was_settled_without_an_outcome_gets_it_later_once() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    (settled,) = events_of(calls.settle("c1"))
    calls.next_run()

    assert (settled[1]["error"], settled[1]["preliminary"]) == ("No result", True)
    assert (calls.is_open("c1"), calls.lacks_outcome("c1"), calls.is_done("c1")) == (
        *(False, True, False),
    )
    assert repeated(calls, '{"a": 1}') == []
    (done,) = events_of(calls.result("c1", Raw(b"2")))
    assert (done[1]["tool_name"], done[1]["phase"]) == ("x", "completed")
    assert calls.is_done("c1")
    assert calls.result("c1", Raw(b"3")) == []
    assert calls.came_late("c1", has_input=True, is_error=False) == []


def test_one_that_an_earlier_run_settled_gets_it_too() -> None:
    calls, earlier = Calls(), begun("{}")
    for update in earlier.settle("c1"):
        assert isinstance(update, ToolUpdate)
        calls.follow(update)

    assert not calls.is_done("c1")
    assert events_of(calls.result("c1", Raw(b"2")))[0][1]["result"] == "2"


def test_an_end_without_input_waits_for_one() -> None:
    calls = begun()

    assert calls.end("c1") == []
    assert calls.waits_for_input
    assert input_of(calls.input_found("c1", Raw(b'{"a":1}'))) == '{"a":1}'
    assert not calls.waits_for_input
    assert calls.input_found("c1", Raw(b"{}")) == []


def test_a_result_ends_the_wait_for_an_input() -> None:
    calls = begun()
    calls.end("c1")

    (done,) = calls.result("c1", Raw(b"1"))

    assert "args" not in plain_event(done)[1]  # the translator makes up an empty one
    assert not calls.waits_for_input


def test_an_input_of_a_snapshot_does_not_replace_one_that_is_told() -> None:
    calls = begun('{"a":')

    assert calls.input_found("c1", Raw(b"{}")) == []
    assert calls.input_found("c9", Raw(b"{}")) == []


def test_a_result_before_the_end_has_the_whole_input() -> None:
    calls = begun('{"a":1}')

    assert input_of(calls.result("c1", Raw(b"1"))) == '{"a":1}'
    assert calls.end("c1") == []
    assert calls.args("c1", "more") == []


def test_a_result_counts_once() -> None:
    calls = begun("{}")
    calls.result("c1", Raw(b"1"))

    assert calls.result("c1", Raw(b"2")) == []
    assert calls.is_done("c1")


def test_a_result_of_a_call_that_never_began_is_shown() -> None:
    (done,) = events_of(Calls().result("c9", None, error="no"))

    assert done[1] == {"call_id": "c9", "tool_name": UNNAMED, "phase": "error", "error": "no"}


def test_an_id_may_be_used_again() -> None:
    calls = begun("{}")
    calls.result("c1", Raw(b"1"))

    assert events_of(calls.start("c1", "x")) == [START]
    assert calls.is_open("c1")
    assert not calls.is_done("c1")


def test_the_next_run_may_repeat_calls_of_the_runs_before() -> None:
    calls = begun("{}")
    calls.result("c1", Raw(b"1"))
    calls.next_run()

    assert calls.start("c1", "x") + calls.args("c1", "{}") + calls.end("c1") == []
    assert calls.result("c1", Raw(b"1")) == []


def test_what_an_earlier_run_added_to_an_input_is_not_part_of_it_any_more() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    shown = []
    for again in ('{"a":1,"b":2}', '{"a":1}'):
        calls.next_run()
        assert repeated(calls, again) == []
        shown.append(calls.described("c1"))

    assert shown == [("x", Raw(b'{"a":1,"b":2}')), ("x", Raw(b'{"a":1}'))]
    assert not calls.any_has_more


def test_what_a_later_run_added_is_that_of_a_call_of_its_own_when_it_is_shown() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    calls.next_run()
    assert calls.show_more(["c1", "c9"]) == []
    repeated(calls, '{"a":1,"b":2}')

    lacks, pending, running = events_of(calls.show_more(["c1", "c9"]))
    assert (lacks[1]["args"], lacks[1]["error"]) == ('{"a":1}', "No result")
    assert (pending[1]["phase"], running[1]["args"]) == ("pending", '{"a":1,"b":2}')
    assert calls.show_more(["c1"]) == []
    assert (calls.is_apart("c1"), calls.any_has_more) == (True, False)


def test_so_it_may_though_what_it_says_of_them_is_less_or_more() -> None:
    """A framework may not tell the input again, or add fields of its own."""
    for again in ([], ["{}"], ['{"a":'], ['{"b":2,', '"a":1.0}'], ['{"a":1}']):
        waiting, done, settled = (begun('{"a":1}') for _ in range(3))
        done.result("c1", Raw(b"1"))
        settled.settle("c1")
        for calls in (waiting, settled) if again[:1] == ['{"b":2,'] else (waiting, done, settled):
            calls.end("c1")
            calls.next_run()
            assert repeated(calls, *again) == [], again
            assert calls.has_waited_for("c1") is (calls is not done)


@pytest.mark.parametrize(
    ("name", "again"),
    [
        ("x", '{"a":2}'),
        ("x", '{"b":1}'),
        ("x", "[1]"),
        ("y", '{"a":1}'),
    ],
)
def test_what_has_the_id_of_a_call_of_an_earlier_run_and_is_another_is_begun(
    name: str, again: str
) -> None:
    waiting, done, settled = (begun('{"a":1}') for _ in range(3))
    done.result("c1", Raw(b"1"))
    settled.settle("c1")
    for calls in (waiting, done, settled):
        calls.end("c1")
        calls.next_run()
        *before, begun_, input_ = events_of(repeated(calls, again, name=name))
        assert [fields["error"] for _, fields in before] == ["No result"] * (calls is waiting)
        assert (begun_[1]["phase"], begun_[1]["tool_name"]) == ("pending", name)
        assert (input_[1]["phase"], input_[1]["args"]) == ("running", again)
        assert not calls.has_waited_for("c1")
        (outcome,) = events_of(calls.result("c1", Raw(b"2")))
        assert (outcome[1]["tool_name"], outcome[1]["args"]) == (name, again)
        assert calls.is_done("c1")


def test_another_tool_without_an_input_is_another_call() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    calls.next_run()

    settled, begun_ = events_of(repeated(calls, name="y"))
    assert (settled[1]["error"], begun_[1]["tool_name"]) == ("No result", "y")
    assert events_of(list(calls.settle_inputs()))[-1][1]["args"] == "{}"


def test_one_whose_end_is_not_told_is_begun_when_its_run_is_over() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    calls.next_run()
    assert calls.start("c1", "x") + calls.args("c1", '{"a":2}') + calls.start("c1", "x") == []

    *_, input_ = events_of(list(calls.settle_inputs()))
    assert input_[1]["args"] == '{"a":2}'
    assert list(calls.settle_inputs()) == []


def test_an_outcome_that_comes_in_between_ends_a_call_that_is_repeated() -> None:
    calls = begun('{"a":1}')
    calls.end("c1")
    calls.next_run()
    calls.start("c1", "x")
    calls.result("c1", None, error="Keep it")

    assert calls.args("c1", '{"a":1}') + calls.end("c1") == []
    assert len(calls.start("c1", "x")) == 1  # the model tries again, in the same run


def test_what_began_under_no_name_is_not_what_begins_there_later() -> None:
    calls = Calls()
    calls.result("c1", Raw(b"1"))
    calls.next_run()

    begun_, _ = events_of(repeated(calls, "{}"))
    assert (begun_[1]["phase"], begun_[1]["tool_name"]) == ("pending", "x")


def test_what_is_not_remembered_any_more_is_no_call_that_begins() -> None:
    calls = begun("{}")
    calls.result("c1", Raw(b"1"))
    calls.next_run()
    calls.start("c1", "x")
    for number in range(DONE_MAX):
        calls.result(f"d{number}", None)

    assert [fields["phase"] for _, fields in events_of(calls.end("c1"))] == ["pending"]


def test_empty_pieces_and_pieces_after_the_end_are_nothing() -> None:
    calls = begun("{}")

    assert calls.args("c1", "") == []
    calls.end("c1")
    assert calls.args("c1", "x") + calls.end("c1") + calls.end("c9") == []


def test_an_input_has_a_bound_and_another_call_has_its_own_room() -> None:
    calls = begun('"', "x" * INPUT_MAX, '"')
    calls.start("c2", "y")
    calls.args("c2", "{}")

    assert input_of(calls.result("c1", None)) == '"(too long)"'
    assert input_of(calls.end("c2")) == '"(too long)"'
    calls.result("c2", None)
    calls.start("c3", "z")
    calls.args("c3", "{}")
    assert input_of(calls.end("c3")) == "{}"


def test_the_calls_that_are_open_are_bounded_in_number() -> None:
    calls = Calls()
    for number in range(OPEN_MAX):
        calls.start(f"c{number}", "x")

    settled, begun_ = events_of(calls.start("more", "x"))

    assert settled[1]["error"] == "No result"
    assert begun_[1]["call_id"] == "more"
    assert len(calls.open_ids) == OPEN_MAX


def test_the_calls_that_are_remembered_are_bounded_in_number() -> None:
    calls = Calls()
    for number in range(DONE_MAX + 1):
        calls.result(f"c{number}", None)

    assert not calls.is_done("c0")
    assert calls.is_done("c1")


def test_a_call_is_described_with_its_input_as_far_as_it_is_known() -> None:
    calls = begun()

    assert (calls.described("c9"), calls.digests("c9")) == (None, ())
    assert calls.described("c1") == ("x", Raw(b"{}"))
    calls.args("c1", '{"a":1}')
    assert calls.described("c1") == ("x", Raw(b'{"a":1}'))
    calls.end("c1")
    assert calls.described("c1") == ("x", Raw(b'{"a":1}'))


def test_at_the_end_of_a_run_the_inputs_that_nobody_told_are_empty() -> None:
    calls = begun()
    calls.start("c2", "y")
    calls.args("c2", "[1]")
    calls.start("c3", "z")
    calls.args("c3", "{}")
    calls.end("c3")

    assert [fields["args"] for _, fields in events_of(list(calls.settle_inputs()))] == ["{}", "[1]"]
