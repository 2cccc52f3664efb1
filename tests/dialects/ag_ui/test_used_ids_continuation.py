"""The answer at a card begins a request, and nobody knows the turn but the client's message.

What begins under the id of one of its calls has a card of its own, as where there is a turn log.
"""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, WHY, answer, ask
from support.ag_ui_decisions import CALL_A, CALL_B, A, B
from support.ag_ui_turn import Played
from support.continued import REQUESTS
from turnwire.core.approvals import subject
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import ConversationLimits
from turnwire.core.body.conversion import convert_in_steps
from turnwire.core.events import Approval
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.steps import run_steps
from turnwire.core.turn.inputs import AgentLeft, Opened, Replied
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi
from turnwire.testing.client_model import Client

ABOUT_B = APPROVE | {"id": "i2", "toolCallId": "c2"}
AGAIN = APPROVE | {"id": "i3"}
MAIL = f.whole_call("c1", "mail", '{"to":"x"}')
TO = {"to": "x"}


def asking(*told: Any) -> Played:
    return ask(Played(native=True, options_of_stream=StreamOptions(approvals=REQUESTS)), *told)


class GoesOn:
    """The turn of the request that approves the call c2, and its client."""

    def __init__(self, asked: Played) -> None:
        self.client = asked.client.next_response()
        assert list(asked.client.approvals.values()) == ["c2"]
        said = [
            {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
            {"id": f.RUN, "role": "assistant", "parts": [*map(card, asked.client.parts)]},
        ]
        conversation = run_steps(
            convert_in_steps(
                [Raw(json.dumps(each).encode()) for each in said],
                AgUi().write_message,
                ConversationLimits(),
                pending={"c2"},
            )
        )
        shown = subject(f.RUN, Approval("c2", "delete", Raw(json.dumps(B).encode())))
        resumed = AgUi().resume(
            ResumeRequest(
                user_id="u1",
                session_id="s1",
                init_s=5,
                replies=(QuestionReply("i2", Raw(b"true"), shown),),
                message_id=f.RUN,
                conversation=conversation,
            )
        )
        known = ClientCopy(message_id=f.RUN, pending=frozenset({"c2"}))
        options = StreamOptions(approvals=REQUESTS, client_copy=known)
        self.turn = Turn(resumed, Limits(), UIMessageStream(options))
        self.sent = [json.loads(resumed.connect_request().body)]
        self.do(self.turn.handle(Opened(), 0))

    def do(self, output: Any) -> None:
        self.client.read(output.to_client)
        if output.connect is not None:
            self.sent.append(json.loads(output.connect.body))

    def ask(self, *told: bytes, asks: Any) -> "GoesOn":
        run = self.sent[-1]["runId"]
        frames = [f.started(run), *told, f.interrupted(asks, run=run)]
        self.do(self.turn.frames(frames, 0))
        self.do(self.turn.handle(AgentLeft(), 0))
        return self

    def answer(self, question_id: str, answer: bytes = b"true") -> "GoesOn":
        self.do(self.turn.handle(Replied(QuestionReply(question_id, Raw(answer)), "u1"), 0))
        self.do(self.turn.handle(Opened(), 0))
        return self

    @property
    def question(self) -> Any:
        return next(
            each["data"] for each in reversed(self.client.data) if each["type"] == "data-question"
        )

    @property
    def cards(self) -> dict[str, Any]:
        return cards(self.client)


def cards(client: Client) -> dict[str, Any]:
    return {
        each["toolCallId"]: (each.get("input"), each.get("output", each.get("errorText")))
        for each in client.parts
        if "toolCallId" in each
    }


def card(part: dict[str, Any]) -> dict[str, Any]:
    """A part as a client sends it."""
    if "toolCallId" not in part:
        return part
    if part["toolCallId"] == "c2":
        approval = {"id": "signed", "approved": True}
        return part | {"state": "approval-responded", "approval": approval}
    return part | {"state": "output-error" if "errorText" in part else "output-available"}


@pytest.mark.attack(
    "an agent that begins another call under the id of one that only the client's message has",
    "the call has a card of its own",
)
@pytest.mark.parametrize("ends", [[f.result("gone")], []])
def test_another_call_under_the_id_of_one_of_the_message_is_shown(ends: list[bytes]) -> None:
    asked = asking(*CALL_A, *ends, *CALL_B, ABOUT_B)
    goes_on = GoesOn(asked)
    goes_on.ask(f.result("gone", "c2", "t2"), *MAIL, f.result("sent", "c1", "t3"), asks=WHY)

    ended = "gone" if ends else "No result"
    assert goes_on.cards == {"c1": (A, ended), "c2": (B, "gone"), "c1#2": (TO, "sent")}
    goes_on.answer("why").ask(f.text("So."), asks=AGAIN)
    shown = goes_on.question
    assert (shown["toolName"], shown["args"]) == ("mail", TO)


def test_what_the_next_run_repeats_of_the_message_is_not_shown_again() -> None:
    asked = asking(*CALL_A, f.result("gone"), *CALL_B, ABOUT_B)
    goes_on = GoesOn(asked)
    told = [*CALL_A, f.result("gone"), f.result("gone", "c2", "t2")]
    goes_on.ask(*told, asks=AGAIN)

    shown = goes_on.question
    assert (shown["toolName"], shown["args"]) == ("delete", A)
    assert goes_on.cards == {"c1": (A, "gone"), "c2": (B, "gone"), "c1#2": (A, None)}


@pytest.mark.attack(
    "an agent that asks for approval of the second call of an id, of which only the client knows",
    "the approval shows the second call",
)
def test_an_approval_of_the_second_call_of_an_id_shows_that_one() -> None:
    asked = answer(asking(*CALL_A, WHY), "so")
    ask(asked, *MAIL, *CALL_B, ABOUT_B)
    goes_on = GoesOn(asked)
    assert goes_on.cards == {
        "c1": (A, "No result"),
        "c1#2": (TO, "No result"),
        "c2": (B, None),
    }
    goes_on.ask(f.result("gone", "c2", "t2"), asks=AGAIN)

    shown = goes_on.question
    assert (shown["toolName"], shown["args"]) == ("mail", TO)
    goes_on.answer("i3").ask(*MAIL, f.result("sent", "c1", "t3"), asks=WHY)
    assert goes_on.cards == {
        "c1": (A, "No result"),
        "c1#2": (TO, "sent"),
        "c2": (B, "gone"),
    }
    goes_on.answer("why")
    said = goes_on.sent[-1]["messages"]
    results = [(each["toolCallId"], each["content"]) for each in said if each["role"] == "tool"]
    assert sorted(results) == [("c1", "No result"), ("c1#2", "sent"), ("c2", "gone")]
