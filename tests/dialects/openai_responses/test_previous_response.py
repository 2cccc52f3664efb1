"""A thread that the agent keeps, where each request names the response before it."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from support.openai_turn import Played
from turnwire.core.events import Approval, Question, TurnStarted
from turnwire.core.requests import AgentSession, DialectOptions, QuestionReply, ResumeRequest
from turnwire.core.turn.outcome import Outcome
from turnwire.dialects.openai_responses import OpenAiResponses
from turnwire.dialects.openai_responses.turn import UNREADABLE_QUESTION

OPTIONS = DialectOptions(model="m", sends_history=False, names_previous_response=True)
QUESTION = "mcpr_1/resp_1/files"


def played(
    *frames: bytes, known: str | None = None, options: DialectOptions = OPTIONS
) -> tuple[Played, list[str]]:
    kept: list[str] = []
    session = AgentSession(known=known, keep=kept.append)
    return Played(OpenAiResponses(), *frames, options=options, agent_session=session), kept


def test_a_prompt_goes_on_with_the_response_that_was_kept() -> None:
    first, kept = played(f.created(), f.text("a"), f.completed())
    second, _ = played(known="resp_1")

    assert kept == ["resp_1"]
    assert "previous_response_id" not in first.requests[0]
    assert second.requests[0]["previous_response_id"] == "resp_1"
    assert "conversation" not in second.requests[0]


@pytest.mark.parametrize(
    ("frames", "kept"),
    [
        ([f.text("a"), f.completed()], ["resp_1"]),
        ([f.created(), f.event("response.completed", response={"id": "resp_2"})], ["resp_2"]),
        ([f.created(), f.event("response.completed")], ["resp_1"]),
        ([f.text("a"), f.event("response.completed")], []),
        ([f.created(), f.incomplete()], ["resp_1"]),
        ([f.created(), f.failed()], []),
        ([f.created(), f.error()], []),
        ([f.created(), f.event("response.cancelled", response={"id": "resp_1"})], []),
        ([f.created(), *f.whole_call(), f.completed(), f.DONE], []),
        ([f.created(), f.text("a")], []),
    ],
)
def test_only_a_response_that_can_be_gone_on_with_is_kept(
    frames: list[bytes], kept: list[str]
) -> None:
    turn, found = played(*frames)

    assert turn.leave().turn.outcome is not None
    assert found == kept


def test_where_the_agent_has_names_of_ours_no_id_is_kept_or_sent() -> None:
    options = DialectOptions(model="m", sends_history=False)
    turn, kept = played(f.created(), f.completed(), known="resp_0", options=options)

    assert kept == []
    assert "previous_response_id" not in turn.requests[0]
    assert turn.requests[0]["conversation"]


@pytest.mark.parametrize("asked_by", [f.created(), f.event("response.created")])
def test_an_answer_goes_on_with_the_response_that_asked(asked_by: bytes) -> None:
    turn, kept = played(asked_by, f.item_done(f.asks()), f.completed(), known="resp_0")
    assert kept == []
    turn.leave().reply(QUESTION, answer=True).open_again()

    assert [each["previous_response_id"] for each in turn.requests] == ["resp_0", "resp_1"]
    assert [item["type"] for item in turn.requests[1]["input"]] == ["mcp_approval_response"]
    turn.tell(f.event("response.created", response={"id": "resp_2"}), f.text("Done."))
    turn.tell(f.event("response.completed"))
    assert (turn.turn.outcome, kept) == (Outcome.COMPLETED, ["resp_2"])


def test_an_answer_in_a_request_of_its_own_goes_on_with_it_too() -> None:
    approval = Approval("mcpr_1", "delete_file", Raw(b"{}"))
    kept: list[str] = []
    made = OpenAiResponses().resume(
        ResumeRequest(
            user_id="u1",
            init_s=5,
            replies=(QuestionReply(QUESTION, Raw(b"true")),),
            waiting=[TurnStarted("p1"), Question(QUESTION, Raw(b"{}"), approval)],
            options=OPTIONS,
            agent_session=AgentSession(known="resp_0", keep=kept.append),
        )
    )

    assert json.loads(made.connect_request().body)["previous_response_id"] == "resp_1"
    made.receive_frame(f.event("response.completed", response={"id": "resp_2"}), 0)
    assert kept == ["resp_2"]


def test_an_id_that_is_too_long_for_a_question_is_an_error() -> None:
    begun: dict[str, Any] = {"id": "r" * 510}
    turn, _ = played(
        f.event("response.created", response=begun),
        f.item_done(f.asks()),
        f.event("response.completed", response=begun),
    )

    assert turn.turn.outcome is Outcome.FAILED
    assert turn.client.error == UNREADABLE_QUESTION
