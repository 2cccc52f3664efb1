"""The calls of an answer."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from support.openai_turn import plain_event
from turnwire.core.events import Event
from turnwire.core.wire import call_ids, input_pieces
from turnwire.dialects.openai_responses import calls, items
from turnwire.dialects.openai_responses.calls import Calls


def item(fields: dict[str, Any]) -> items.Item:
    found = items.read(Raw(json.dumps(fields).encode()))
    assert found is not None
    return found


def brief(events: list[Event]) -> list[Any]:
    """Each event as its phase, or its piece, with the input it has."""
    shown = []
    for event in events:
        kind, fields = plain_event(event)
        word = fields["text"] if kind == "ToolInputDelta" else fields["phase"].value
        shown.append((word, fields["args"]) if "args" in fields else word)
    return shown


def test_an_input_in_pieces_and_an_outcome() -> None:
    made = Calls("p1")
    new = made.begin(1, item(f.call()))
    new += made.add(1, '{"a":')
    new += made.add(1, "")
    new += made.add(1, "1}")
    new += made.end_input(1, '{"a":1}')
    new += made.end(1, item(f.call(args='{"a":1}')))
    assert made.open_ids == ["c1"]
    new += made.outcome("c1", Raw(b"21"))

    assert brief(new) == ["pending", '{"a":', "1}", ("running", '{"a":1}'), "completed"]
    assert made.open_ids == []
    assert made.outcome("c1", error="again") == []


@pytest.mark.parametrize(
    "ids", [("c1", "c1"), ("c1", "c7"), ("", ""), ("c1", "")], ids=["same", "other", "none", "late"]
)
def test_an_item_is_known_by_its_index_whatever_its_id(ids: tuple[str, str]) -> None:
    made = Calls("p1")
    first, last = ids
    new = made.begin(3, item(f.call(first, id="")))
    new += made.end(3, item(f.call(last, id="", args="{}")))

    assert brief(new) == ["pending", ("running", "{}")]
    assert made.begin(3, item(f.call("", id=""))) == []
    assert made.open_ids == [first or "p1:call-1"]


@pytest.mark.parametrize(("given", "call_id"), [("c1", "c1"), ("", "p1:call-1")])
def test_an_item_that_ends_after_its_outcome_adds_nothing(given: str, call_id: str) -> None:
    made = Calls("p1")
    made.begin(1, item(f.call(given, id=given)))
    made.outcome(call_id, Raw(b"21"))

    assert made.end(1, item(f.call(given, args='{"a":1}', id=given))) == []


@pytest.mark.parametrize("ending", ["item", "outcome"])
def test_another_call_at_an_index_of_one_that_is_done_is_another(ending: str) -> None:
    """Some servers send each item at the index 0."""
    made = Calls("p1")
    made.begin(0, item(f.call()))
    if ending == "item":
        made.end(0, item(f.call(args="{}")))
    else:
        made.outcome("c1", Raw(b"1"))

    assert brief(made.begin(0, item(f.call("c2")))) == ["pending"]
    assert brief(made.add(0, "[2]")) == ["[2]"]
    assert brief(made.end(0, item(f.call("c2", args="[2]")))) == [("running", "[2]")]
    assert made.call_id_at(0) == "c2"


def test_which_items_of_a_list_are_repeated() -> None:
    """A call with the same name at the same index is the same, where ids change."""
    made = Calls("p1")
    made.begin(1, item(f.call()))
    assert not made.is_repeated(1, item(f.call("c7")))
    made.end(1, item(f.call(args="{}")))

    assert made.is_repeated(1, item(f.call("c7")))
    assert not made.is_repeated(1, item(f.call("c7", "another")))
    assert not made.is_repeated(1, item(f.call("c1")))
    assert not made.is_repeated(2, item(f.call("c7")))
    made.outcome("c1", Raw(b"1"))
    assert made.is_repeated(1, item(f.call("c7")))
    assert not made.is_repeated(1, item(f.call("c1")))


def test_why_a_call_has_no_result() -> None:
    made = Calls("p1")
    made.begin(1, item(f.call()))
    assert made.are_unrun
    made.next_response()
    assert not made.are_unrun
    made.begin(1, item(f.call("c2")))

    errors = [plain_event(event)[1].get("error") for event in made.settle(calls.NOBODY_RAN)]
    assert [error for error in errors if error] == [calls.NOT_SHOWN, calls.NOBODY_RAN]


def test_a_call_that_comes_whole() -> None:
    made = Calls("p1")

    assert brief(made.begin(1, item(f.call(args='{"a":1}')))) == ["pending"]
    assert brief(made.outcome("c1", Raw(b"1"))) == [("running", '{"a":1}'), "completed"]
    assert brief(made.end(2, item(f.call("c2", args="{}")))) == ["pending", ("running", "{}")]
    assert made.call_id_at(2) == "c2"
    assert made.call_id_at(1) is None
    assert made.call_id_at(9) is None


@pytest.mark.parametrize(
    ("pieces", "whole", "given"),
    [
        ([], "", "{}"),
        (['{"a":1}'], "", '{"a":1}'),
        (["{"], '{"b":2}', '{"b":2}'),
        (["no json"], "", '"no json"'),
    ],
)
def test_which_input_counts(pieces: list[str], whole: str, given: str) -> None:
    made = Calls("p1")
    made.begin(1, item(f.call()))
    for piece in pieces:
        made.add(1, piece)

    assert brief(made.end_input(1, whole)) == [("running", given)]
    assert made.add(1, "late") == made.end_input(1, "{}") == []


def test_an_outcome_of_a_call_that_nobody_began() -> None:
    assert brief(Calls("p1").outcome("c9", Raw(b"1"))) == [("running", "{}"), "completed"]
    assert Calls("p1").add(1, "x") == Calls("p1").end_input(1, "x") == []


def test_a_call_that_waited_for_its_approval() -> None:
    made = Calls("p1")
    made.adopt("mcpr_1", "rm")
    made.next_response()
    ran = f.tool("mcp_call", name="rm", approval_request_id="mcpr_1", output="gone")

    assert made.begin(0, item(ran)) == []
    assert made.end(0, item(ran)) == []
    assert made.call_id_at(0) == "mcpr_1"
    assert brief(made.outcome("mcpr_1", Raw(b"1"))) == ["completed"]
    assert made.end(0, item(ran)) == []
    assert made.begin(5, item(ran)) == []


def test_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "OPEN_MAX", 1)
    monkeypatch.setattr(input_pieces, "INPUT_BYTES_MAX", 3)
    made = Calls("p1")
    made.begin(1, item(f.call()))
    made.add(1, '{"a":')

    assert brief(made.begin(2, item(f.call("c2")))) == [
        ("running", '"(too long)"'),
        "error",
        "pending",
    ]
    assert brief(made.settle("over")) == [("running", "{}"), "error"]


def test_what_is_kept_has_a_bound_and_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_pieces, "INPUT_BYTES_MAX", 10)
    monkeypatch.setattr(calls, "INPUT_BYTES_MAX", 10)
    monkeypatch.setattr(calls, "DONE_MAX", 2)
    made = Calls("p1")
    for number in range(5):
        made.begin(number, item(f.call(f"c{number}")))
        made.add(number, '{"a":"bc"}')
        assert made.kept_bytes == 10 + 2 + 2 * min(number, 2)
        assert brief(made.outcome(f"c{number}"))[0] == ("running", '{"a":"bc"}')

    assert made.kept_bytes == 2 * 2
    assert made.outcome("c4") == made.outcome("c3") == []
    assert made.outcome("c2") != []
    short, long = '{"a": 1}', '{"a": "long"}'
    assert brief(made.begin(7, item(f.call("c7", args=short)))) == ["pending"]
    assert made.kept_bytes == len(short) + 3 * 2
    assert brief(made.begin(8, item(f.call("c8", args=long)))) == ["pending", ("running", long)]
    assert brief(made.end(7, item(f.call("c7", args=short)))) == [("running", short)]
    assert made.kept_bytes == 4 * 2


def test_an_id_that_is_too_long_is_shortened_the_same_way_each_time() -> None:
    made, long = Calls("p1"), "x" * 949
    made.begin(1, item(f.call(long)))

    assert made.open_ids == [call_ids.shortened(long)]
    assert made.begin(2, item(f.call(long, id=""))) == []
    made.outcome(call_ids.shortened(long))
    assert made.begin(3, item(f.call(long))) == []
    assert made.kept_bytes == calls.DONE_ID_MAX
