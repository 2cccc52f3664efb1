"""Each request for a permission gets one answer, whether a user can give it or not."""

import json
from typing import Any

import pytest

from support import acp_messages as f
from support.acp_turn import Played, begun
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.acp.calls import INPUT_MAX
from turnwire.dialects.acp.permissions import LEFT_OUT, NOBODY, UNREADABLE

QUESTION = "p1:0"


def outcome(played: Played) -> Any:
    return played.sent[-1]["result"]["outcome"]


def test_the_turn_goes_on_after_the_answer() -> None:
    played = begun(f.call(), f.permission()).reply(QUESTION, answer=True)
    played.tell(f.state(), f.state("completed", content=f.shown("a")), f.text("Done."), f.done())

    assert (played.turn.outcome, played.client.text) == (Outcome.COMPLETED, "Done.")
    played.client.close()


def test_an_answer_to_what_is_not_open_is_nothing() -> None:
    played = begun(f.permission()).reply(QUESTION, answer=True)
    sent = len(played.sent)

    assert len(played.reply(QUESTION, answer=True).sent) == sent


LONG = {"x": "y" * INPUT_MAX}


@pytest.mark.parametrize(
    "messages",
    [
        [f.permission(rawInput=LONG)],
        [f.call(rawInput=LONG), f.permission(rawInput=None)],
        [f.call(rawInput=LONG), f.state(), f.permission(rawInput={})],
        [f.permission(content=[LONG])],
        [f.permission(rawInput=None, locations=[LONG])],
        [f.permission(rawInput={"x": "y" * (INPUT_MAX - 20)}, content=[{"type": "x"}])],
        [f.permission("x" * 4_000)],
        [f.UNREADABLE],
    ],
)
def test_what_cannot_be_shown_is_not_allowed(messages: list[bytes]) -> None:
    played = begun(*messages)

    assert (played.questions, outcome(played)) == ([], {"outcome": "cancelled"})
    assert played.statuses[-1] == UNREADABLE
    assert played.protocol.frame_stats.left_out[LEFT_OUT] == 1
    assert (played.turn.outcome, played.client.error) == (None, None)


def test_an_input_that_is_short_again_is_shown() -> None:
    played = begun(f.call(rawInput=LONG), f.permission())

    assert played.questions[0]["args"] == {"command": "ls"}


@pytest.mark.parametrize("request_id", [1.5, 1.0, 0, "", None, 2**70, "x"])
def test_an_answer_has_the_id_of_its_request(request_id: Any) -> None:
    played = begun(f.permission(request_id)).reply(QUESTION, answer=True)

    assert (played.sent[-1]["id"], outcome(played)["optionId"]) == (request_id, "once")


def test_requests_with_ids_that_look_alike_are_two() -> None:
    played = begun(f.permission(1, "c1"), f.permission("1", "c2"))
    played.reply("p1:0", answer=True).reply("p1:1", answer=False)

    assert [each["id"] for each in played.sent[-2:]] == [1, "1"]
    assert [each["result"]["outcome"]["optionId"] for each in played.sent[-2:]] == ["once", "no"]


def test_a_notification_asks_for_nothing() -> None:
    asked = json.loads(f.permission())
    del asked["id"]
    sent = len(begun().sent)

    assert len(begun(json.dumps(asked).encode()).sent) == sent


def test_without_a_turn_log_nobody_can_answer() -> None:
    played = begun(f.call(), f.permission(), has_turn_log=False)

    assert (played.questions, outcome(played)) == ([], {"outcome": "cancelled"})
    assert played.statuses[-1] == NOBODY
    assert played.protocol.frame_stats.left_out == {LEFT_OUT: 1}
    played.tell(f.state("failed"), f.text("Then not."), f.done())
    assert (played.turn.outcome, played.client.text) == (Outcome.COMPLETED, "Then not.")


def withdrawn(request_id: Any) -> bytes:
    return f.message(method="$/cancel_request", params={"requestId": request_id})


def test_a_request_that_is_withdrawn_is_no_question_any_more() -> None:
    played = begun(f.permission(4, "c0"), f.permission(5), withdrawn(5))

    assert played.client.questions == {"p1:0": "open", "p1:1": "expired"}
    assert (played.sent[-1]["id"], outcome(played)) == (5, {"outcome": "cancelled"})
    assert len(played.reply("p1:1", answer=True).sent) == len(played.sent)
    sent = len(played.sent)
    played.tell(withdrawn(9), f.message(method="$/cancel_request", params=7))
    assert len(played.sent) == sent


def test_behind_a_cancel_every_request_is_answered_and_not_shown() -> None:
    protocol = begun(f.call()).protocol
    protocol.abort()

    for asked in (f.permission(7), f.UNREADABLE):
        late: Any = protocol.receive_frame(asked, 0)
        assert late.events == ()
        assert json.loads(late.to_agent[0])["result"]["outcome"] == {"outcome": "cancelled"}


def test_very_many_permissions_are_bounded() -> None:
    played = begun(*(f.permission(number, f"c{number}") for number in range(70)))

    assert len(played.client.questions) == 64
    assert outcome(played) == {"outcome": "cancelled"}


def test_the_permission_of_another_session_is_not_given() -> None:
    played = begun(f.permission(session="session-9"))

    assert (played.questions, outcome(played)) == ([], {"outcome": "cancelled"})


def test_a_stop_answers_what_is_open() -> None:
    """Agents wait for ever for an answer that nobody gives."""
    played = begun(f.call(), f.permission()).stop()

    cancel, answer = played.sent[-2:]
    played.tell(f.done("cancelled"))
    assert (cancel["method"], cancel["params"]) == ("session/cancel", {"sessionId": f.SESSION})
    assert answer == {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "cancelled"}}}
    assert played.tell(f.done("cancelled")).turn.outcome is Outcome.CANCELED
