"""What is known of the calls of a client's last message, beside those that wait."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import pytest

from support.client_messages import APPROVED
from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.client_history import ClientHistory
from turnwire.core.body.continuation import Response
from turnwire.core.body.conversation import Conversation, Message, Result
from turnwire.core.body.other_calls import UNRESOLVED_MAX
from turnwire.core.body.prompt import extract

TEXT = {"type": "text", "text": "Well."}


def write(message: Message) -> Iterable[bytes]:
    yield f"{message.call_id}: {message.error}".encode() if isinstance(message, Result) else b"-"


def approvals(responses: Sequence[Response]) -> Collection[str]:
    """What the web layer does: all approvals of this id are good."""
    return {each.call_id or "" for each in responses if each.approval_id == "signed"}


def conversation(*messages: Any, is_whole: bool = True) -> Conversation:
    history = ClientHistory(write=write, pending=approvals, is_whole=is_whole)
    found = extract(json.dumps({"messages": messages}).encode(), AttachmentLimits(), history)
    assert found.conversation is not None
    return found.conversation


def user() -> dict[str, Any]:
    return {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "go"}]}


def assistant(*parts: Any) -> dict[str, Any]:
    return {"id": "a1", "role": "assistant", "parts": parts}


def lacking(call_id: str = "c2", **fields: Any) -> dict[str, Any]:
    """A call that had no outcome when the approvals were asked."""
    part = {"type": "tool-add", "toolCallId": call_id, "input": {"a": 1}, "providerExecuted": True}
    return part | {"state": "output-error", "errorText": "No result"} | fields


def test_a_call_beside_it_that_has_no_outcome_yet_is_known_with_its_place() -> None:
    earlier = assistant(lacking(), lacking("c9"))
    found = conversation(
        *(
            earlier,
            user(),
            assistant(lacking(), {"type": "text", "text": "Well."}, lacking("c3"), APPROVED),
        ),
    )

    known = [(one.call.call_id, one.sent_id, one.place) for one in found.unresolved]
    assert known == [("c2", "c2:2", 5), ("c3", "c3", 7)]
    assert {bytes(one.call.input) for one in found.unresolved} == {b'{"a": 1}'}
    assert [found.written[place or 0] for _, _, place in known] == [
        *(b"c2:2: No result", b"c3: No result")
    ]


@pytest.mark.parametrize(
    "other",
    [
        lacking(errorText="It broke"),
        lacking(state="input-available"),
        lacking(state="output-available", output="No result"),
        lacking(state="output-denied"),
        {**APPROVED, "toolCallId": "c2", "approval": {"id": "forged", "approved": True}},
        {**APPROVED, "toolCallId": "c2", "approval": {"id": "signed", "approved": False}},
    ],
)
def test_no_other_call_has_no_outcome_yet(other: Any) -> None:
    """Least of all one whose approval is not good, or that its user denied."""
    assert conversation(user(), assistant(other, APPROVED)).unresolved == ()


def card(call_id: str, **fields: Any) -> dict[str, Any]:
    return lacking(call_id, state="output-available", output=1) | fields


@pytest.mark.parametrize(
    ("cards", "settled", "unresolved"),
    [
        ([card("c2"), card("c3", state="output-denied")], ["c2", "c3"], []),
        ([card("c2", errorText="It broke", state="output-error")], ["c2"], []),
        ([card("c2", state="input-available")], [], []),
        ([card("c2"), card("c2#2"), lacking("c2#3")], ["c2", "c2"], ["c2"]),
        ([lacking("c2"), lacking("c2#2"), card("c2#3")], ["c2", "c2", "c2"], []),
        ([lacking("c2"), lacking("c3"), lacking("c2#2")], ["c2"], ["c3", "c2"]),
        ([card("c2"), card("c2"), lacking("c2")], ["c2"], []),
        ([lacking("c2"), lacking("c2"), card("c2")], ["c2"], ["c2", "c2"]),
        ([card("c1"), lacking("c1"), card("c1#2")], [], []),
    ],
)
def test_the_other_calls_of_its_message_are_known_by_the_ids_that_they_have_at_the_agent(
    cards: list[Any], settled: list[str], unresolved: list[str]
) -> None:
    """Not as another call that waits, though the client may copy its card."""
    earlier = assistant(card("c8"), lacking("c9"))
    found = conversation(earlier, user(), assistant(APPROVED, *cards))

    assert [one.call_id for one in found.settled] == settled
    assert [one.call.call_id for one in found.unresolved] == unresolved


def test_of_calls_without_an_outcome_the_last_ones_are_known() -> None:
    many = [lacking(f"c{number}") for number in range(2, UNRESOLVED_MAX + 3)]
    found = conversation(user(), assistant(*many, APPROVED)).unresolved

    assert len(found) == UNRESOLVED_MAX
    assert [found[0].call.call_id, found[-1].call.call_id] == ["c3", f"c{UNRESOLVED_MAX + 2}"]


def test_what_is_not_written_has_no_place() -> None:
    (known,) = conversation(*(user(), assistant(lacking(), APPROVED)), is_whole=False).unresolved

    assert (known.call.name, known.place) == ("add", None)
