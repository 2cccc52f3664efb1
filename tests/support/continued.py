"""A turn that goes on after its user approved something, and what comes out of it."""

import json
from typing import Any, Final

from msgspec import Raw

from support import v2_frames as f
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import QuestionReply, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.terms import Terms
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

Json = dict[str, Any]

REQUESTS: Final = ApprovalIssuer(
    signer=Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1"), epoch=0, valid_s=60
)
YES: Final = QuestionReply("q1", Raw(b"true"))
ENDED: Final = ["finish-step", "finish"]


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def called(call: str = "c1", status: str = "running", **fields: Any) -> Json:
    about = {"callId": call, "toolName": "bash", "args": {"n": 1}, "status": status}
    return {"type": "tool-call", **about, **fields}


def question(question_id: str = "q1", **fields: Any) -> Json:
    return {"type": "question", "questionId": question_id, "text": "ok?", **fields}


def approval(question_id: str = "q1", call: str = "c1", **fields: Any) -> Json:
    about = {"kind": "approval", "callId": call, "toolName": "bash", "args": {"n": 1}}
    return question(question_id, **about | fields)


def init(*parts: Json, **data: Any) -> bytes:
    turn = {"id": f.OURS, "role": "assistant", "promptId": "p9", "parts": parts}
    session = {"id": "s1", "messages": [turn]}
    told = {"runnerBusy": True, "runningTurnId": f.OURS} | data
    return f.frame("init", session=session, data=told)


_NO_TERMS: Final = Terms()
MESSAGE: Final = ClientCopy(message_id="m1")


def continued(
    *replies: QuestionReply,
    native: bool = True,
    member: Member | None = None,
    known: ClientCopy = MESSAGE,
    terms: Terms = _NO_TERMS,
    **limits: Any,
) -> Turn:
    look = ResumeRequest(user_id="u1", init_s=5, replies=replies or (YES,), terms=terms)
    turn = Turn(
        DIALECTS["v2"].resume(look, member),
        Limits(**{"hold_s": 10, **limits}),
        UIMessageStream(StreamOptions(client_copy=known, approvals=REQUESTS if native else None)),
    )
    turn.handle(Opened(), 0)
    return turn


def chunks(act: Output) -> list[Json]:
    lines = [line for line in act.to_client.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def brief(act: Output) -> list[str]:
    return [" ".join(filter(None, (c["type"], c.get("toolCallId")))) for c in chunks(act)]


def frames_sent(act: Output) -> list[Json]:
    return [json.loads(frame) for frame in act.to_agent]
