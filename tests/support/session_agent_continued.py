"""A message that goes on after its user answered, and the frames of its turn."""

from typing import Any, Final

from msgspec import Raw

from support import session_agent_frames as f
from support.session_agent_resumed import INIT_S, busy, init_r, prompt, turn
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.requests import Channel, QuestionReply, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.terms import Terms
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.session_agent import SessionAgent

YES: Final = QuestionReply("q1", Raw(b'"yes"'))
ANSWER: Final = {"type": "answer", "questionId": "q1", "answer": "yes"}
ASKS: Final = f.tool("running", "c9", "question", args={})
DONE: Final = f.tool("completed", "c9", "question", result="yes")
BEFORE: Final = [f.text("A"), f.tool("completed", "c1"), f.text("B")]
MESSAGE: Final = ClientCopy(message_id="m1", text_chars=2, text_blocks=2)
"""What a client has that heard all of that."""
_NO_TERMS: Final = Terms()
DELTA: Final = ["text-start", "text-delta", "text-end"]


def continued(
    *replies: QuestionReply,
    member: Member | None = None,
    known: ClientCopy = MESSAGE,
    channel: f.Fields = f.CHANNEL,
    terms: Terms = _NO_TERMS,
    **limits: Any,
) -> Turn:
    where = Channel(channel["channelType"], channel["channelId"])
    look = ResumeRequest(
        user_id=f.ME, init_s=INIT_S, replies=replies or (YES,), terms=terms, channel=where
    )
    conversation = SessionAgent().resume(look, member)
    made = Turn(
        conversation,
        Limits(**{"hold_s": 2 * INIT_S, **limits}),
        UIMessageStream(StreamOptions(client_copy=known)),
    )
    made.handle(Opened(), 0)
    return made


def hello(revision: str, *parts: f.Fields, content: str = "AB", by: str = f.ME) -> bytes:
    """`init` while the turn waits for its answer."""
    if revision != "R":
        return busy(revision)
    return init_r({**prompt("P1"), "authorId": by}, turn(*(parts or WAITS), content=content))


# R begins a text after a tool with all that was said.
WAITS: Final = [f.text("A"), f.tool("completed", "c1"), f.text("AB"), ASKS]


def answered(revision: str, *parts: f.Fields, content: str = "AB") -> list[bytes]:
    """The agent took the answer, and the tool that asked is done."""
    if not parts:
        parts = (*WAITS[:3], DONE) if revision == "R" else (*BEFORE, DONE)
    return [f.answered(revision), f.updated(*parts, content=content)]


def begun(revision: str, **made: Any) -> Turn:
    """One whose answer was taken, and whose turn goes on."""
    stream = continued(**made)
    stream.frames([hello(revision), f.asked(revision), *answered(revision)], 1)
    return stream


def approval() -> bytes:
    prompt = {"id": "q1", "type": "approval", "title": "May I?", "context": {**f.CHANNEL}}
    return f.frame("interactive_prompt", prompt=prompt)
