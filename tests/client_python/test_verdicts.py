"""The decisions of a chat until they are sent: each holds for what was shown, and for no more."""

import pytest
from msgspec import structs

from client_python.approving import Json, approves, asked_for, card
from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import Part, UIMessage
from turnwire_client.requests import Verdicts


def test_the_message_has_the_decision_at_its_card() -> None:
    message = UIMessage("a1", "assistant", [card()])
    verdicts = Verdicts()
    approval = asked_for("c")
    assert verdicts.message(message) is None
    verdicts.decide(approval, approved=True, reason=None)
    verdicts.decide(approval, approved=False, reason="no")

    decided = verdicts.message(message)
    assert decided is not None
    assert decided.parts == [
        card()
        | {
            "state": "approval-responded",
            "approval": {"id": "a", "approved": False, "reason": "no"},
        }
    ]
    verdicts.forget(decided)
    assert verdicts.message(message) is None


def test_decisions_are_bounded() -> None:
    verdicts = Verdicts()
    for number in range(300):
        approves(asked_for(f"c{number}"), verdicts)
    parts = [card("c0"), card("c299")]

    assert verdicts.message(UIMessage("a1", "assistant", parts[:1])) is None
    assert verdicts.message(UIMessage("a1", "assistant", parts[1:])) is not None
    nameless = ToolApprovalRequest("a", "a", None, None, {}, "", is_native=True)
    with pytest.raises(ValueError, match="names no call"):
        verdicts.decide(nameless, approved=True, reason=None)


@pytest.mark.parametrize(
    ("message_id", "part"),
    [
        ("a2", card()),
        ("a1", card("d")),
        ("a1", card(name="remove")),
        ("a1", card(value={"all": True})),
        ("a1", card(value=[])),
    ],
)
def test_a_decision_holds_for_what_was_shown(message_id: str, part: Part) -> None:
    verdicts = Verdicts()
    approves(asked_for("c"), verdicts)

    assert verdicts.message(UIMessage(message_id, "assistant", [part])) is None
    assert verdicts.message(UIMessage("a1", "assistant", [card()])) is not None


def test_inputs_are_compared_as_json() -> None:
    verdicts = Verdicts()
    value: Json = {"a": 1, "b": {"c": 2, "d": 3}}
    approves(structs.replace(asked_for("c"), input=value), verdicts)
    ordered, other = {"b": {"d": 3, "c": 2}, "a": 1}, value | {"a": True}
    value.clear()  # by a program, which has shown it

    assert verdicts.message(UIMessage("a1", "assistant", [card(value=ordered)])) is not None
    assert verdicts.message(UIMessage("a1", "assistant", [card(value=other)])) is None


def test_what_a_message_asks_no_more_is_forgotten() -> None:
    verdicts = Verdicts()
    for each in ("c", "d", "e"):
        approves(asked_for(each), verdicts)

    over = card("d") | {"state": "output-available"}
    verdicts.keep(UIMessage("a1", "assistant", [card(), over, card("e", value={"all": True})]))

    found = [verdicts.message(UIMessage("a1", "assistant", [card(each)])) for each in "cde"]
    assert [each is not None for each in found] == [True, False, False]
