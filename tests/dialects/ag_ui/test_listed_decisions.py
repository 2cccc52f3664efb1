"""The list of decisions that an app answers a plain question of LangChain's middleware with.

It is sent as it is. A reject in it is a no to the call that it is about: no later request has this
call without a result. Nothing in it takes an earlier no back.
"""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import ag_ui_frames as f
from support.ag_ui_asking import APPROVE, NO, WHY, answer, ask, asking, in_request
from support.ag_ui_decisions import CALL_A, CALL_B, A, B, asked, config, outcome, request, value
from turnwire.core.approvals import subject
from turnwire.core.body.conversation import Call, Conversation
from turnwire.core.body.ui_message import DENIED
from turnwire.core.events import Approval
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.dialects.ag_ui import AgUi

YES, REJECT, EDIT = {"type": "approve"}, {"type": "reject"}, {"type": "edit", "edited_action": {}}
EDITS = [config("delete", "edit", "reject")]
ONE = value(request(), configs=EDITS)
TWO = value(request(), request(args=B), configs=EDITS)


def denied(*told: Any, given: Any) -> list[str]:
    """The calls that the next request but one has as denied, after this answer to the last."""
    played = asking(*told)
    assert "kind" not in asked(played)[-1]
    answer(played, given)
    assert DENIED not in dict(in_request(played)).values()
    answer(ask(played, f.text("Hm."), WHY), "so")
    return [call_id for call_id, content in in_request(played) if content == DENIED]


@pytest.mark.attack(
    "an agent whose tools may be edited or rejected asks again after its user rejected a call",
    "its next request has the denial as the result of the call",
)
@pytest.mark.parametrize(
    "asks",
    [
        outcome(ONE),
        outcome(ONE, toolCallId="c1"),
        outcome(value(request(args={"path": "changed"}), configs=EDITS)),
        outcome({"action_requests": [request()]}),
    ],
)
@pytest.mark.parametrize("no", [{"decisions": [REJECT | {"message": "not now"}]}, False, "deny"])
def test_a_reject_is_a_no_to_its_call(asks: Any, no: Any) -> None:
    assert denied(*CALL_A, asks, given=no) == ["c1"]


def test_so_it_is_in_the_older_form() -> None:
    played = asking(*CALL_A, f.custom("on_interrupt", json.dumps(ONE)))
    answer(played, {"decisions": [REJECT]})
    answer(ask(played, f.text("Hm."), WHY), "so")

    assert in_request(played)[-1] == ("c1", DENIED)


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([REJECT, YES], ["c1"]),
        ([EDIT, REJECT], ["c2"]),
        ([REJECT, REJECT], ["c1", "c2"]),
        ([YES, EDIT], []),
        ([{"type": "respond", "message": "reject"}, {"type": "x"}], []),
        ([{"type": 1}, REJECT], ["c2"]),
        (["reject", REJECT], ["c2"]),
        ([REJECT], ["c1", "c2"]),
        ([REJECT, YES, YES], ["c1", "c2"]),
        ([YES], []),
        ([], []),
    ],
)
@pytest.mark.parametrize("asks", [outcome(TWO), outcome(TWO, toolCallId="c1")])
def test_each_decision_is_about_the_call_at_its_place(
    asks: Any, decisions: list[Any], expected: list[str]
) -> None:
    """If there are more or fewer decisions than calls, a reject may be about each."""
    assert denied(*CALL_A, *CALL_B, asks, given={"decisions": decisions}) == expected


def test_a_reject_that_may_be_about_either_of_two_calls_is_one_to_both() -> None:
    same = f.whole_call("c2", "delete", '{"path":"a"}')
    assert denied(*CALL_A, *same, outcome(ONE), given={"decisions": [REJECT]}) == ["c1", "c2"]


def test_an_answer_of_another_form_is_a_no_if_that_form_has_one() -> None:
    form = {"type": "object", "properties": {"approved": {}, "note": {}}, "required": ["note"]}
    asks = outcome(ONE, toolCallId="c1", responseSchema=form)
    assert denied(*CALL_A, asks, given={"decisions": [YES]}) == ["c1"]


@pytest.mark.parametrize("decision", [YES, EDIT, {"type": "respond", "message": "ok"}])
def test_no_decision_takes_an_earlier_no_back(decision: Any) -> None:
    played = answer(asking(*CALL_A, APPROVE), NO)
    answer(ask(played, outcome(ONE, "i2")), {"decisions": [decision]})

    assert in_request(played)[-1] == ("c1", DENIED)


def test_so_it_is_where_the_run_that_asks_began_in_another_process() -> None:
    """Its user answered an approval of one call there. The call beside it is known by its card."""
    cards = [Call("c1", "delete", Raw(json.dumps(A).encode()))]
    signed = subject(f.RUN, Approval("c1", "delete", cards[0].input))
    written = [b'{"role":"user"}', b'{"role":"assistant"}']
    protocol = AgUi().resume(
        ResumeRequest(
            user_id="u1",
            session_id="s1",
            init_s=5,
            replies=[QuestionReply("i1", Raw(b"true"), signed)],
            message_id=f.RUN,
            conversation=Conversation(written, {}, cards),
        )
    )
    sent = protocol.connect_request()
    for told, question_id, given in (
        ([*CALL_B, outcome(TWO, "i2")], "i2", b'{"decisions":[{"type":"reject"},{"type":"edit"}]}'),
        ([f.text("Hm."), WHY], "why", b'"so"'),
    ):
        run = json.loads(sent.body)["runId"]
        protocol.connection_opened(0)
        frames = [each for each in told if isinstance(each, bytes)]
        asks = f.interrupted(*(each for each in told if isinstance(each, dict)), run=run)
        for frame in (f.started(run), *frames, asks):
            protocol.receive_frame(frame, 0)
        connect = protocol.reply(QuestionReply(question_id, Raw(given)), "u1", 0).connect
        assert connect is not None
        sent = connect

    said = json.loads(sent.body)["messages"]
    assert [each["toolCallId"] for each in said if each.get("content") == DENIED] == ["c1"]
