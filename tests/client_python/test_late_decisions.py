"""A decision that comes too late, or is not taken, is not for the call of another turn."""

import httpx
import pytest

from client_python.approving import CALL, MADE, START, Json, asks, body
from turnwire_client import Chat, Client, Event, Finish, Limits, ToolApprovalRequest

REFUSAL = b'{"error":"No","code":"question_closed"}'
ASKED = body(START, CALL, asks("one"))
OTHER = body(START | {"messageId": "a2"}, CALL, asks("two"))
"""The next turn, which numbers its calls alike."""


class Gateway:
    """Answers each request with the next of these: a stream, a status, or a broken line (None)."""

    def __init__(self, *answers: bytes | int | None) -> None:
        self._answers = [*answers]
        self.asked: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(f"{request.method} {request.url.path.rpartition('/')[2]}")
        answer = self._answers.pop(0)
        if answer is None:
            raise httpx.ReadError("cut")
        if isinstance(answer, int):
            return httpx.Response(answer, content=REFUSAL)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=answer)

    def chat(self) -> Chat:
        http = httpx.Client(transport=httpx.MockTransport(self))
        client = Client("http://gateway.example", http=http, limits=Limits(waits_s=(0.0, 0.0)))
        return client.chat("s1", token="t", profile="7")


def approval_in(events: list[Event]) -> ToolApprovalRequest:
    (approval,) = [event for event in events if isinstance(event, ToolApprovalRequest)]
    return approval


@pytest.mark.parametrize("answer", [None, 409])
def test_a_decision_that_was_not_taken_is_not_for_the_next_turn(answer: int | None) -> None:
    gateway = Gateway(ASKED, answer, body(START, CALL, MADE), OTHER)
    chat = gateway.chat()
    for event in chat.send("hi"):
        if isinstance(event, ToolApprovalRequest):
            chat.approve(event)

    events = [*chat.send("and now?")]

    assert gateway.asked == ["POST chat", "POST chat", "GET stream", "POST chat"]
    assert approval_in(events).approval_id == "two"
    assert isinstance(events[-1], Finish)


@pytest.mark.parametrize("value", [{}, {"all": True}])
def test_a_late_decision_is_not_for_the_turn_that_runs_by_then(value: Json) -> None:
    other = body(START | {"messageId": "a2"}, CALL | {"input": value}, asks("two"))
    gateway = Gateway(ASKED, other, ASKED)
    chat = gateway.chat()
    approval = approval_in([*chat.send("hi")])

    chat.approve(approval)
    resumed = [*chat.resume()]
    events: list[Event] = []
    for event in chat.send("and now?"):
        events.append(event)
        chat.approve(approval_in(resumed))

    assert gateway.asked == ["POST chat", "GET stream", "POST chat"]
    assert approval_in(resumed).message_id == "a2"
    assert isinstance(resumed[-1], Finish)
    assert isinstance(events[-1], Finish)


def test_a_late_decision_is_for_its_own_turn_though_another_stream_signs_anew() -> None:
    gateway = Gateway(ASKED, body(START, CALL, asks("two")), body(START, MADE))
    chat = gateway.chat()
    chat.approve(approval_in([*chat.send("hi")]))

    assert isinstance([*chat.resume()][-1], Finish)
    assert gateway.asked == ["POST chat", "GET stream", "POST chat"]


def test_a_prompt_drops_what_was_decided_before_it() -> None:
    gateway = Gateway(ASKED, ASKED)
    chat = gateway.chat()
    chat.approve(approval_in([*chat.send("hi")]))

    assert isinstance([*chat.send("and now?")][-1], Finish)
    assert gateway.asked == ["POST chat", "POST chat"]
