"""Whoever comes back to a `v2` turn, or reads it later, has what who never left was told."""

import json
from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.continued import REQUESTS, YES, Json, approval, called, chunks, continued, init, text
from turnwire.core.agent import AgentProtocol
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.operations import History
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
)
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.testing.client_model import read

V2 = DIALECTS["v2"]
CLOSED = f.frame("question.resolved", questionId="q1", answer=True)
END = [f.part("Done."), f.finalize()]


def parts(conversation: AgentProtocol, *frames: bytes) -> list[Json]:
    """Of the message that a client of the native profile has in the end."""
    turn = Turn(conversation, Limits(), UIMessageStream(StreamOptions(approvals=REQUESTS)))
    written = turn.handle(Opened(), 0).to_client
    for frame in frames:
        written += turn.frames([frame], 1).to_client
    return read(written).parts


def live(*frames: bytes) -> list[Json]:
    return parts(V2.prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)), f.begin(), *frames)


def resumed(*told: Json, then: list[bytes]) -> list[Json]:
    return parts(V2.resume(ResumeRequest(user_id="u1", init_s=5)), init(*told), *then)


def tool(call: str = "c1", status: str = "running", **fields: Any) -> bytes:
    return f.tool(status, call, **{"args": {"n": 1}} | fields)


def asks(**fields: Any) -> bytes:
    return json.dumps(approval(**fields) | {"turnId": f.OURS}).encode()


def asked(**fields: Any) -> Json:
    return approval(answer=True, **fields) | {"turnId": f.OURS}


@pytest.mark.parametrize("about", [{"args": {"n": 2}}, {"toolName": "rm"}], ids=str)
@pytest.mark.parametrize("is_over", [True, False])
def test_an_approval_that_was_told_as_a_question_is_told_as_one(
    about: Json,
    is_over: bool,  # noqa: FBT001 (a parameter of pytest's)
) -> None:
    ended = tool(status="completed", result=1)
    card = called(status="completed", result=1) if is_over else called()

    undisturbed = live(f.part("May I?"), tool(), asks(**about), CLOSED, ended, *END)
    rest = END if is_over else [ended, *END]

    assert [p["type"] for p in undisturbed].count("data-question") == 1
    assert resumed(text("May I?"), card, asked(**about), then=rest) == undisturbed


def brief(parts: list[Json]) -> list[str]:
    return [p.get("text") or p.get("toolCallId") or p["type"] for p in parts]


def test_what_was_said_before_an_approval_stands_above_it() -> None:
    told = [called(), called("c2"), text("May I? "), asked(), text("Thanks. ")]

    shown = brief(resumed(*told, then=END))

    assert shown == ["step-start", "c1", "c2", "May I? ", "Thanks. Done."]


def test_a_call_that_is_told_after_its_approval_stands_where_it_was_asked() -> None:
    told = [called("c2"), asked(), text("b "), called(status="completed", result=1)]

    assert brief(resumed(*told, then=END)) == ["step-start", "c2", "c1", "b ", "Done."]


def test_an_approval_that_the_message_has_as_a_question_is_closed_there() -> None:
    known = ClientCopy(message_id="m1", pending=frozenset({"c2", "q0"}))
    turn = continued(YES, known=known)
    before = asked(question_id="q0", call="c0", args={"n": 2})

    act = turn.frames([init(called("c0"), before, called("c2"), approval(call="c2"))], 1)

    (told,) = [c for c in chunks(act) if c["type"] == "data-question"]
    assert (told["id"], told["data"]["state"]) == ("q0", "resolved")


ODD: list[Json] = [
    {"title": {"en": "Ship?"}},
    {"url": ["https://a.example"]},
    {"callId": 7, "toolName": None},
    {"expired": None},
    {"expired": False},
]


@pytest.mark.parametrize("fields", ODD, ids=str)
def test_a_question_may_have_any_fields(fields: Json) -> None:
    """Also such as other parts have, with other values."""
    asking = {"type": "question", "questionId": "q1", "turnId": f.OURS, "text": "ok?", **fields}

    turn = Turn(
        V2.resume(ResumeRequest(user_id="u1", init_s=5)),
        Limits(),
        UIMessageStream(StreamOptions(approvals=REQUESTS)),
    )
    turn.handle(Opened(), 0)

    (question,) = [
        c for c in chunks(turn.frames([init(asking)], 1)) if c["type"] == "data-question"
    ]
    assert question["data"]["state"] == "open"
    operation = V2.answer(
        AnswerRequest(user_id="u1", init_s=5, verdict_s=5, reply=QuestionReply("q1", Raw(b'"yes"')))
    )
    operation.connection_opened(0)
    assert len(operation.receive_frame(init(asking), 1)) == 1


def test_an_id_that_a_second_call_has_is_that_of_a_second_card() -> None:
    """Live, a call that begins after its outcome is another; a part has its last status alone."""
    first: Json = {"result": "one"}
    second: Json = {"result": "two", "args": {"n": 2}}
    undisturbed = live(
        *(tool(status="pending"), tool(), tool(status="completed", **first), f.part("y")),
        *(tool(status="pending"), tool(status="completed", **second), *END),
    )
    told = [called(status="completed", **first), text("y"), called(status="completed", **second)]

    assert [p.get("output") for p in undisturbed if p["type"] == "tool-bash"] == ["one", "two"]
    assert resumed(*told, then=END) == undisturbed
    assert history(*told, text("Done.")) == undisturbed


def test_an_input_that_is_not_told_is_not_taken_for_another() -> None:
    card = called(status="completed", result=1)
    del card["args"]

    shown = resumed(card, asked(), then=END)

    assert [p["type"] for p in shown if p["type"] != "step-start"] == ["tool-bash", "text"]


def test_a_part_that_is_there_twice_is_one_call() -> None:
    part = called(status="completed", result=1)

    assert resumed(part, part, then=END) == resumed(part, then=END)


def test_a_part_for_each_status_is_one_call() -> None:
    states = [called(status="pending"), called(), called(status="completed", result=1)]

    assert resumed(*states, then=END) == resumed(states[-1], then=END)


def history(*told: Json) -> list[Json]:
    recalling = V2.read_history(HistoryRequest(user_id="u1", init_s=5, verdict_s=5, limit=2))
    recalling.connection_opened(0)
    recalling.receive_frame(
        init(*told, {"type": "finish", "reason": "end_turn"}, runnerBusy=False), 1
    )
    assert isinstance(recalling.result, History)
    (message,) = json.loads(ui_messages(recalling.result))
    found: list[Json] = message["parts"]
    return found


@pytest.mark.parametrize("pieces", range(4))
def test_an_input_in_pieces_is_whole_wherever_its_client_comes_back(pieces: int) -> None:
    texts = ['{"a', '":"\U0001f600', '"}']
    rest = [f.tool("completed", result=1), *END]
    undisturbed = live(*map(f.tool_input, texts), *rest)
    card = called(status="pending", inputText="".join(texts[:pieces]))
    del card["args"]

    assert undisturbed[1]["input"] == {"a": "\U0001f600"}
    assert resumed(card, then=[*map(f.tool_input, texts[pieces:]), *rest]) == undisturbed


def test_data_is_the_same_live_resumed_and_later() -> None:
    undisturbed = live(
        *(f.data(1, dataId="d"), f.part("a"), f.data(2), f.data(3, dataId="d"), f.part("b")),
        *(f.data(4, dataName="other", dataId="d", transient=True), f.finalize()),
    )

    def data(value: int, **fields: str) -> Json:
        return {"type": "data", "dataName": "state", "value": value, **fields}

    told = [data(3, dataId="d"), text("a"), data(2), text("b")]
    assert resumed(*told, then=[f.finalize()]) == undisturbed
    assert history(*told) == undisturbed
    assert [part.get("data") for part in undisturbed] == [None, 3, None, 2, None]


def test_a_turn_that_was_waited_for_is_not_called_like_its_prompt() -> None:
    """A client would overwrite the prompt; and in its own stream it is not either."""
    prompt = {"id": "e1", "role": "user", "promptId": f.PROMPT, "queued": True, "parts": []}
    turn = Turn(V2.resume(ResumeRequest(user_id="u1", init_s=5)), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    waits = f.frame(
        "init",
        session={"messages": [prompt | {"clientMessageId": f.OURS}]},
        data={"runnerBusy": True, "promptsQueued": 1},
    )

    told = turn.frames([waits, f.begin(), *END], 1).to_client

    assert read(turn.handle(Opened(), 0).to_client + told).message_id == f"{f.OURS}:answer"
