"""Requests for approvals: asked, answered beside the stream, and gone on with."""

from typing import Any

import pytest
from msgspec import Raw

from support import openai_responses_frames as f
from support.continued import REQUESTS
from support.openai_turn import Played
from turnwire.core.agent import Decoded
from turnwire.core.body.conversation import Conversation
from turnwire.core.requests import DialectOptions, PromptRequest, QuestionReply
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.openai_responses import OpenAiResponses, kept_items
from turnwire.dialects.openai_responses import turn as turn_module
from turnwire.dialects.openai_responses.turn import CUT_QUESTION, TOO_LONG, UNREADABLE_QUESTION

ASKING = [f.created(), f.text("I can. "), f.item_done(f.message("I can. "), 0)]
ASK = f.item_done(f.asks())
RAN = f.tool("mcp_call", name="delete_file", approval_request_id="mcpr_1", output="gone")
QUESTION = "mcpr_1/files"


def asked(*more: bytes, **given: Any) -> Played:
    return Played(OpenAiResponses(), *ASKING, ASK, *more, f.completed(usage={"n": 1}), **given)


def test_a_request_is_a_question_and_the_turn_waits_without_a_connection() -> None:
    turn = asked().leave()

    assert turn.turn.outcome is None
    assert turn.client.questions == {QUESTION: "open"}
    assert turn.protocol.receive_frame(f.text("late"), 0) is None


def test_a_yes_begins_the_next_response_with_all_that_was_said() -> None:
    turn = asked().leave().reply(QUESTION, answer=True).open_again()

    assert [item["type"] for item in turn.requests[1]["input"]] == [
        *("message", "message", "mcp_approval_request", "mcp_approval_response"),
    ]
    assert turn.requests[1]["input"][-1] == {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": True,
    }
    turn.tell(f.created(), f.added(RAN, 0), f.item_done(RAN, 0), f.text("Done.", 1), f.completed())

    assert turn.of_call("mcpr_1")[-1]["output"] == "gone"
    assert (turn.client.text, turn.turn.outcome) == ("I can. Done.", Outcome.COMPLETED)
    assert turn.client.questions == {QUESTION: "resolved"}
    assert turn.kinds.count("start") == 1
    assert turn.client.metadata == {"usage": {"n": 1}}
    turn.client.close()


def test_a_no_ends_the_card_at_once() -> None:
    turn = asked().leave().reply(QUESTION, answer=False).open_again()

    assert turn.of_call("mcpr_1")[-1]["errorText"] == "The user denied this call"
    assert turn.requests[1]["input"][-1]["approve"] is False
    turn.tell(f.text("As you like."), f.completed())
    assert turn.turn.outcome is Outcome.COMPLETED


def test_the_next_response_begins_when_all_have_an_answer() -> None:
    turn = asked(f.item_done(f.asks("mcpr_2"), 3)).leave().reply("mcpr_2/files", answer=True)
    assert len(turn.requests) == 1
    assert turn.protocol.reply(QuestionReply("mcpr_2/files", Raw(b"1")), "u1", 0) == Decoded()

    turn.reply(QUESTION, answer=False)

    answers = turn.requests[1]["input"][-2:]
    assert {each["approval_request_id"]: each["approve"] for each in answers} == {
        "mcpr_1": False,
        "mcpr_2": True,
    }


def test_another_request_follows() -> None:
    turn = asked().leave().reply(QUESTION, answer=True).open_again()
    turn.tell(f.item_done(RAN, 0), f.item_done(f.asks("mcpr_2"), 1), f.completed()).leave()
    turn.reply("mcpr_2/files", answer=True).open_again().tell(f.text("Both."), f.completed())

    kinds = [item["type"] for item in turn.requests[2]["input"]]
    assert kinds.count("mcp_approval_request") == 2
    assert turn.turn.outcome is Outcome.COMPLETED


def test_an_agent_that_keeps_the_conversation_gets_the_answers_alone() -> None:
    options = DialectOptions(model="m", sends_history=False)
    turn = asked(options=options).leave().reply(QUESTION, answer=True)

    (answer,) = turn.requests[1]["input"]
    assert answer["type"] == "mcp_approval_response"
    assert turn.requests[1]["conversation"] == turn.requests[0]["conversation"]


def test_another_call_that_is_open_ends_when_the_turn_waits() -> None:
    turn = asked(*f.whole_call(index=4))

    assert turn.of_call()[-1]["errorText"] == "No result"
    ran = f.output("sunny", "c2")
    turn = asked(
        *f.whole_call(index=4),
        *f.whole_call("c2", 5),
        f.item_done(ran, 6),
        f.event("response.output_item.done", item=[]),
    )
    turn.leave().reply(QUESTION, answer=True)

    outputs = [
        (item["call_id"], item["output"])
        for item in turn.requests[1]["input"]
        if isinstance(item, dict) and item["type"] == "function_call_output"
    ]
    assert outputs == [("c2", "sunny"), ("c1", "No result")]


@pytest.mark.parametrize(
    "requests",
    [
        *([f.asks("")], [f.asks("a/b")], [f.asks("x" * 600)], [f.asks("m1"), f.asks(name="")]),
        [f.asks(f"m{number}") for number in range(65)],
    ],
    ids=["nameless", "slash", "long", "second", "many"],
)
def test_a_request_that_nobody_can_answer_is_an_error(requests: list[dict[str, Any]]) -> None:
    items = [f.item_done(item, number) for number, item in enumerate(requests)]
    turn = Played(OpenAiResponses(), f.created(), *items, f.completed())

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, UNREADABLE_QUESTION)
    assert turn.client.questions == {}


@pytest.mark.parametrize(
    "frames",
    [
        [f.text("I ask"), f.completed(output=[f.message("I ask"), f.asks()])],
        [f.summary("hm"), f.completed(output=[f.asks()])],
        [f.added(f.asks(), 0), f.completed()],
        [f.added(f.asks(), 0), f.item_done(f.asks(), 0), f.completed(output=[f.asks()])],
        [f.added(f.asks(), 0), f.completed(output=[f.asks()])],
        [f.added(f.asks(), 3), f.added(f.asks(), 4), f.completed()],
    ],
    ids=["end", "end alone", "added", "all", "added and end", "added twice"],
)
def test_a_request_is_asked_wherever_it_stands(frames: list[bytes]) -> None:
    turn = Played(OpenAiResponses(), f.created(), *frames)

    assert turn.leave().client.questions == {QUESTION: "open"}
    assert turn.kinds.count("tool-input-available") == 1
    turn.reply(QUESTION, answer=True)
    asking = [item for item in turn.requests[1]["input"] if item["type"] == f.asks()["type"]]
    assert asking == [f.asks()]


@pytest.mark.parametrize("ending", [f.incomplete(), f.completed(status="incomplete")])
@pytest.mark.parametrize("request_item", [f.asks(), f.asks("")])
def test_a_request_in_a_response_that_was_cut_is_an_error(
    ending: bytes, request_item: dict[str, Any]
) -> None:
    turn = Played(OpenAiResponses(), f.created(), f.item_done(request_item), ending)

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, CUT_QUESTION)


def test_an_empty_message_that_the_end_repeats_is_sent_once() -> None:
    output = [f.message(""), f.asks()]
    turn = Played(
        OpenAiResponses(), f.item_done(output[0], 0), ASK, f.completed(output=output)
    ).leave()

    turn.reply(QUESTION, answer=True)
    assert [item.get("id") for item in turn.requests[1]["input"]] == [None, "msg_1", "mcpr_1", None]


def shorten(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any turn too long to be kept."""
    name, limit = {
        "items": (kept_items, "BYTES_MAX"),
        "history": (turn_module, "HISTORY_MAX"),
    }[where]
    monkeypatch.setattr(name, limit, 5)


@pytest.mark.parametrize("where", ["items", "history"])
def test_a_turn_that_is_too_long_to_go_on(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(where, monkeypatch)

    turn = asked().leave()
    assert turn.client.questions == {QUESTION: "open"}

    turn.reply(QUESTION, answer=True)

    assert (turn.turn.outcome, turn.client.error) == (Outcome.FAILED, TOO_LONG)


@pytest.mark.parametrize("where", ["items", "history"])
def test_a_native_approval_of_such_a_turn_is_asked(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer comes with the conversation, so nothing of the turn need be kept."""
    shorten(where, monkeypatch)
    options = StreamOptions(approvals=REQUESTS)
    made = OpenAiResponses().prompt(PromptRequest(text="Delete it.", prompt_id="p1"))
    turn = Turn(made, Limits(), UIMessageStream(options))
    turn.handle(Opened(), 0)

    stream = turn.frames([*ASKING, ASK, f.completed()], 0).to_client

    assert b'"type":"tool-approval-request"' in stream
    assert turn.outcome is Outcome.ASKED


def test_a_long_conversation_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_module, "HISTORY_MAX", 5)
    conversation = Conversation([b'{"type":"message","role":"user","content":"long"}'], {})
    made = OpenAiResponses().prompt(
        PromptRequest(text="hi", prompt_id="p1", conversation=conversation)
    )

    assert b"long" in made.connect_request().body
    assert b"long" not in made.connect_request().body


def test_what_it_keeps_is_given_back_when_memory_is_short() -> None:
    turn = asked().leave()
    made = turn.protocol
    assert made.kept_bytes > 200

    made.forget()

    assert made.kept_bytes == len("mcpr_1")
    assert turn.reply(QUESTION, answer=True).client.error == TOO_LONG
    assert turn.turn.outcome is Outcome.FAILED
