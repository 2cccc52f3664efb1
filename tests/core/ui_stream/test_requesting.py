"""Turns that ask their client for approval: natively, and how they go on."""

import json
from typing import Any

import pytest

from support import v2_frames as f
from support.continued import approval as asked_for_approval
from support.continued import continued, init
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.bounds import OPEN_QUESTIONS_MAX
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Opened, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
REQUESTS = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)


def approval(question_id: str = "q1", call: str = "c1", **fields: Any) -> bytes:
    frame = {"type": "question", "questionId": question_id, "turnId": f.OURS}
    about = {"kind": "approval", "callId": call, "toolName": "bash"}
    return json.dumps(frame | about | fields).encode()


def running(call: str = "c1") -> bytes:
    return f.tool("running", call, args={"n": 1})


def opened(*, native: bool = True, limits: Limits | None = None) -> Turn:
    ask = PromptRequest(text="hi", prompt_id=f.PROMPT)
    requests = REQUESTS if native else None
    turn = Turn(
        DIALECTS["v2"].prompt(ask),
        limits or Limits(),
        UIMessageStream(StreamOptions(approvals=requests)),
    )
    turn.handle(Opened(), 0)
    return turn


def chunks(act: Output) -> list[dict[str, Any]]:
    lines = [line for line in act.to_client.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def brief(act: Output) -> list[str]:
    """The types, each with the call that it is about."""
    return [" ".join(filter(None, (c["type"], c.get("toolCallId")))) for c in chunks(act)]


ENDED = ["finish-step", "finish"]


def test_an_approval_ends_the_stream_and_not_the_turn() -> None:
    turn = opened()

    act = turn.frames([f.begin(), f.part("May I?"), running(), approval(args={"n": 1})], 5)

    assert brief(act) == [
        *("start", "start-step", "text-start", "text-delta", "text-end"),
        *("tool-input-available c1", "tool-approval-request c1", *ENDED),
    ]
    assert act.to_client.endswith(b"data: [DONE]\n\n")
    assert (turn.outcome, act.to_agent) == (Outcome.ASKED, ())
    assert (
        turn.handle(ClientLeft(), 6),
        turn.handle(AgentLeft(), 7),
        turn.handle(Tick(), 9_999),
    ) == (
        Output(),
        Output(),
        Output(),
    )


def test_the_request_has_an_id_that_is_signed_for_it() -> None:
    turn = opened()

    (request,) = [
        c
        for c in chunks(turn.frames([f.begin(), running(), approval(args={"n": 1})], 5))
        if c["type"] == "tool-approval-request"
    ]

    assert request.keys() == {"type", "approvalId", "toolCallId"}
    assert getattr(SIGNER.read(request["approvalId"], 64.9), "question_id", None) == "q1"


def test_in_the_portable_profile_it_is_a_question_and_the_stream_stays_open() -> None:
    turn = opened(native=False)

    act = turn.frames([f.begin(), running(), approval()], 5)

    assert brief(act)[-1] == "data-question"
    assert turn.outcome is None


def test_all_that_one_read_brought_is_requested() -> None:
    turn = opened()
    both = [running("c1"), approval("q1", "c1"), running("c2"), approval("q2", "c2")]

    act = turn.frames([f.begin(), *both], 5)

    assert brief(act)[2:] == [
        *("tool-input-available c1", "tool-approval-request c1"),
        *("tool-input-available c2", "tool-approval-request c2", *ENDED),
    ]


def test_a_tool_that_runs_is_waited_for() -> None:
    turn = opened()
    turn.frames([f.begin(), running("c1"), running("c2")], 5)

    assert brief(turn.frames([approval("q1", "c1")], 6)) == ["tool-approval-request c1"]
    assert turn.outcome is None
    assert brief(turn.frames([f.tool("completed", "c2")], 7)) == [
        "tool-output-available c2",
        *ENDED,
    ]
    assert turn.outcome is Outcome.ASKED


def test_as_many_calls_run_as_wait_but_not_the_same() -> None:
    turn = opened()
    turn.frames([f.begin(), running("c1"), running("c2"), approval("q1", "c1")], 5)

    act = turn.frames([f.tool("completed", "c1")], 6)

    assert (brief(act), turn.outcome) == (["tool-output-available c1"], None)


def test_another_question_is_waited_for() -> None:
    turn = opened()

    act = turn.frames([f.begin(), running(), f.question("q0"), approval()], 5)
    assert (brief(act)[-2:], turn.outcome) == (["data-question", "tool-approval-request c1"], None)

    act = turn.frames([f.frame("question.resolved", questionId="q0", answer="tea")], 6)
    assert (brief(act), turn.outcome) == (["data-question", *ENDED], Outcome.ASKED)


def test_an_approval_that_closes_while_another_tool_runs_shows_at_its_card() -> None:
    turn = opened()
    turn.frames([f.begin(), running("c1"), running("c2"), approval("q1", "c1")], 5)

    closed = f.frame("question.expired", questionId="q1")
    assert chunks(turn.frames([closed, f.tool("error", "c1", error="late")], 6)) == [
        {
            "type": "tool-output-error",
            "toolCallId": "c1",
            "errorText": "late",
            "providerExecuted": True,
        }
    ]
    assert brief(turn.frames([f.tool("completed", "c2"), f.finalize()], 7))[-2:] == ENDED
    assert turn.outcome is Outcome.COMPLETED


def test_an_approval_that_was_closed_before_the_read_was_over_holds_nothing_up() -> None:
    turn = opened()
    closed = f.frame("question.resolved", questionId="q1", answer=True)

    act = turn.frames([f.begin(), running(), approval(), closed], 5)

    assert (brief(act)[-1], turn.outcome) == ("tool-approval-request c1", None)


@pytest.mark.parametrize(
    ("before", "chunks_before"),
    [
        ([], ["tool-input-available c1"]),
        ([f.tool("pending")], ["tool-input-start c1", "tool-input-available c1"]),
        ([running()], ["tool-input-available c1"]),
    ],
)
def test_the_missing_parts_of_the_card_are_sent_before(
    before: list[bytes], chunks_before: list[str]
) -> None:
    turn = opened()

    act = turn.frames([f.begin(), *before, approval(args={"n": 1})], 5)

    assert brief(act)[2:] == [*chunks_before, "tool-approval-request c1", *ENDED]
    assert [c["input"] for c in chunks(act) if "input" in c] == [{"n": 1}]


def test_an_unknown_input_is_empty() -> None:
    act = opened().frames([f.begin(), approval()], 5)

    assert [c["input"] for c in chunks(act) if "input" in c] == [{}]


@pytest.mark.parametrize(
    ("before", "question"),
    [
        pytest.param([running(), f.tool("completed")], approval(), id="its call is over"),
        pytest.param([running()], approval("\U0001f600" * 512), id="its id is too long to sign"),
        pytest.param([running()], approval(callId=7), id="it names no call"),
        pytest.param([running()], approval(callId=""), id="it names an empty call"),
        pytest.param([running()], approval(toolName=None), id="it names no tool"),
        pytest.param([running()], approval(kind="choice"), id="it is of another kind"),
        pytest.param([running()], approval(kind=["approval"]), id="its kind is no word"),
    ],
)
def test_where_there_can_be_no_request_it_is_a_question(
    before: list[bytes], question: bytes
) -> None:
    turn = opened()

    act = turn.frames([f.begin(), *before, question], 5)

    assert (brief(act)[-1], turn.outcome) == ("data-question", None)


def test_a_long_id_is_requested_as_long_as_it_can_come_back() -> None:
    turn = opened()

    turn.frames([f.begin(), running(), approval("q" * 512)], 5)

    assert turn.outcome is Outcome.ASKED


def test_before_its_turn_has_a_name_it_is_a_question() -> None:
    turn = opened()

    act = turn.frames([approval(turnId=None)], 5)

    assert (brief(act), turn.outcome) == (["start", "start-step", "data-question"], None)


def test_only_so_many_are_requested_at_once() -> None:
    turn = opened()
    many = [approval(f"q{n}", f"c{n}") for n in range(OPEN_QUESTIONS_MAX + 1)]

    act = turn.frames([f.begin(), *many], 5)

    assert brief(act)[-1] == "data-question"
    assert brief(act).count("data-question") == 1
    assert turn.outcome is None


def test_a_client_that_is_away_is_not_asked() -> None:
    """If no client comes back, the turn is aborted, as any turn that waits for its user."""
    turn = opened(limits=Limits(on_disconnect=DisconnectPolicy.GRACE, grace_s=30))
    turn.frames([f.begin(), running()], 5)
    turn.handle(ClientLeft(), 6)

    turn.frames([approval()], 7)
    assert turn.outcome is None

    act = turn.handle(Tick(), 36)
    assert [json.loads(frame)["type"] for frame in act.to_agent] == ["abort"]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_while_it_waits_for_a_tool_a_requested_approval_is_a_question_that_is_open() -> None:
    limits = Limits(question_wait_s=900, tool_silence_s=600)
    turn = opened(limits=limits)
    turn.frames([f.begin(), running("c1"), running("c2"), approval("q1", "c1")], 5)

    turn.handle(Tick(), 700)
    assert turn.outcome is None
    turn.handle(Tick(), 906)
    assert turn.outcome is Outcome.SILENT


def test_a_turn_that_ends_with_a_request_open_settles_its_card() -> None:
    turn = opened()
    turn.frames([f.begin(), running("c1"), running("c2"), approval("q1", "c1")], 5)

    act = turn.frames([f.finalize()], 6)

    assert brief(act) == ["tool-output-error c1", "tool-output-error c2", *ENDED]
    assert turn.outcome is Outcome.COMPLETED


@pytest.mark.parametrize(
    "about",
    [
        pytest.param({"args": {"n": 2}}, id="another input"),
        pytest.param({"args": {"n": 1}, "toolName": "rm"}, id="another tool"),
        pytest.param({"toolName": "rm"}, id="another tool, and no input"),
    ],
)
def test_what_the_card_does_not_show_is_not_requested_there(about: dict[str, Any]) -> None:
    """Otherwise the user would approve one input, and the agent would run another."""
    turn = opened()

    act = turn.frames([f.begin(), running(), approval(**about)], 5)

    assert brief(act)[-1] == "data-question"
    assert turn.outcome is None


def test_a_call_that_only_its_approval_names_is_waited_for_like_a_running_one() -> None:
    """It was approved, and the agent says nothing of it until it is done."""
    turn = continued(idle_s=100, question_wait_s=330, tool_silence_s=600)
    turn.frames([init(asked_for_approval())], 1)
    turn.handle(Tick(), 590)
    assert turn.outcome is None

    turn.handle(Tick(), 602)
    assert turn.outcome is Outcome.SILENT
