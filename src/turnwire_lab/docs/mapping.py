"""The mapping table: frames of the `v2` wire fed to a real `Turn`, and what came out of it."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

Frame = dict[str, Any]

_TURN: Final = {"turnId": "T"}
_CREATE: Final[Frame] = {"type": "message.create", "promptId": "P", **_TURN}
_TEXT: Final[Frame] = {"type": "message.part.text-delta", "delta": "Hi", **_TURN}
_CHUNK: Final[Frame] = {"type": "chunk", "content": "Hi", "messageId": "T"}
_THOUGHT: Final[Frame] = {"type": "message.part.reasoning-delta", "delta": "Hm", **_TURN}

_FILE: Final[Frame] = {
    "type": "message.part.file",
    "url": "data:image/png;base64,QQ==",
    "mime": "image/png",
    **_TURN,
}
_SOURCE: Final[Frame] = {
    "type": "message.part.source",
    "sourceId": "s1",
    "url": "https://a.example/",
    **_TURN,
}


_PIECE: Final[Frame] = {
    "type": "message.part.tool-input-delta",
    "callId": "c1",
    "toolName": "bash",
    "delta": "{",
    **_TURN,
}
_DATA: Final[Frame] = {"type": "message.part.data", "dataName": "d", "value": 1, **_TURN}
_NAMED: Final[Frame] = {**_DATA, "dataId": "d1"}


def _tool(status: str, **more: Any) -> Frame:
    kind = "message.part.tool-update"
    return {"type": kind, "callId": "c1", "toolName": "bash", "status": status, **_TURN, **more}


def _final(reason: str, **more: Any) -> Frame:
    return {"type": "message.finalize", "reason": reason, **_TURN, **more}


_STEP: Final[Frame] = {"type": "message.part.step", **_TURN}


def _retract(since: int) -> Frame:
    return {"type": "message.part.retract", "since": since, **_TURN}


_RETRACT: Final = _retract(0)
_PENDING = _tool("pending")
_RUNNING = _tool("running", args={"n": 1})
_DONE = _tool("completed", result=2)
_PIECE_OF_UPDATE = _tool("pending", argsDelta="{")
_LENGTH = _final("end_turn", finishReason="length")
_PRELIMINARY = _tool("running", result=1, preliminary=True)
_ASKED: Final[Frame] = {"type": "question", "questionId": "q1", "text": "Go?"}
_APPROVAL: Final[Frame] = {**_ASKED, "kind": "approval", "callId": "c1", "toolName": "bash"}

_ROWS: Final[Sequence[tuple[str, Sequence[Frame], Frame]]] = (
    ("`message.create` of our prompt", [], _CREATE),
    ("`message.create` of another prompt", [], {**_CREATE, "turnId": "U", "promptId": "Q"}),
    ("the first `message.part.text-delta` or `chunk` of a block", [_CREATE], _TEXT),
    ("the next one", [_CREATE, _TEXT], _TEXT),
    ("the same delta, repeated as `chunk`", [_CREATE, _TEXT], _CHUNK),
    ("text after tools that all have an outcome", [_CREATE, _RUNNING, _DONE], _TEXT),
    ("text while a tool runs", [_CREATE, _RUNNING], _TEXT),
    ("`message.part.reasoning-delta`", [_CREATE], _THOUGHT),
    ("text after reasoning", [_CREATE, _THOUGHT], _TEXT),
    ("`message.part.tool-update` `pending`", [_CREATE, _TEXT], _PENDING),
    ("… `running` with `args`", [_CREATE, _PENDING], _RUNNING),
    ("… `running` without", [_CREATE, _PENDING], _tool("running")),
    ("… `running` without, after pieces of the input", [_CREATE, _PIECE], _tool("running")),
    ("… `running` with a `preliminary` result", [_CREATE, _RUNNING], _PRELIMINARY),
    ("… `completed`", [_CREATE, _PENDING, _RUNNING], _DONE),
    ("… `completed`, first seen", [_CREATE], _DONE),
    ("… `error`", [_CREATE, _RUNNING], _tool("error", error="exit 1")),
    ("… `completed`, repeated", [_CREATE, _RUNNING, _DONE], _DONE),
    ("the first `message.part.tool-input-delta` of a call", [_CREATE, _TEXT], _PIECE),
    ("the next one", [_CREATE, _PIECE], _PIECE),
    ("one after the call's `args`", [_CREATE, _RUNNING], _PIECE),
    ("`message.part.tool-update` `pending` with `argsDelta`", [_CREATE], _PIECE_OF_UPDATE),
    ("`message.part.step`", [_CREATE, _TEXT], _STEP),
    ("… where the step is empty", [_CREATE], _STEP),
    ("… while a tool runs", [_CREATE, _RUNNING], _STEP),
    ("`message.part.retract` of text", [_CREATE, _TEXT], _RETRACT),
    ("… of a call with a piece of its input", [_CREATE, _PIECE], _retract(0)),
    ("… of nothing", [_CREATE, _TEXT], _retract(1)),
    ("`message.part.file`", [_CREATE, _TEXT], _FILE),
    ("`message.part.source`", [_CREATE, _TEXT], _SOURCE),
    ("… whose `url` is none of `https:`, `http:`", [_CREATE], {**_SOURCE, "url": "javascript:1"}),
    ("`message.part.data`", [_CREATE, _TEXT], _NAMED),
    ("… with the `dataId` of an earlier one", [_CREATE, _NAMED, _TEXT], _NAMED),
    ("… `transient`", [_CREATE, _TEXT], {**_DATA, "transient": True}),
    ("`agentStatus`", [_CREATE], {"type": "agentStatus", "status": "thinking"}),
    ("`question`", [_CREATE], _ASKED),
    ("… of `kind` `approval`", [_CREATE, _RUNNING], _APPROVAL),
    (
        "`question.resolved`",
        [_CREATE, _ASKED],
        {"type": "question.resolved", "questionId": "q1", "answer": "yes"},
    ),
    ("`question.expired`", [_CREATE, _ASKED], {"type": "question.expired", "questionId": "q1"}),
    ("`message.finalize` `end_turn`", [_CREATE, _TEXT], _final("end_turn")),
    (
        "… with a `finalText` that goes on",
        [_CREATE, _TEXT],
        _final("end_turn", finalText="Hi there"),
    ),
    ("… while a tool runs", [_CREATE, _RUNNING], _final("end_turn")),
    ("… `error`", [_CREATE, _TEXT], _final("error", error="out of tokens")),
    ("… `canceled`", [_CREATE, _RUNNING], _final("canceled")),
    ("… with the `finishReason` `length`", [_CREATE, _TEXT], _LENGTH),
    ("`complete`", [_CREATE, _TEXT], {"type": "complete"}),
    ("`error` before the turn", [], {"type": "error", "message": "no"}),
    ("`error` in mid-turn", [_CREATE, _TEXT], {"type": "error", "message": "no"}),
    ("a frame of another turn", [_CREATE], {**_TEXT, "turnId": "U"}),
    ("hydration and domain frames (`message.updated`, …)", [_CREATE], {"type": "audit_log"}),
    ("a frame of an unknown type", [_CREATE], {"type": "agentPlan"}),
)


_NATIVE_ROWS: Final[Sequence[tuple[str, Sequence[Frame], Frame]]] = (
    ("… in the profiles `6` and `7`", [_CREATE, _RUNNING], _APPROVAL),
    ("… while another tool runs", [_CREATE, _RUNNING, {**_RUNNING, "callId": "c2"}], _APPROVAL),
    ("… in the profiles `6` and `7`", [_CREATE, _RUNNING], _PRELIMINARY),
    ("… in the profile `7.1`", [_CREATE, _TEXT], _RETRACT),
    ("… in the profiles `6` and `7`", [_CREATE, _TEXT], _LENGTH),
)
"""What differs for a client that asks for a profile; each stands below the row of its frame."""

_REQUESTS: Final = ApprovalIssuer(
    signer=Signer(keys=[b"a key"], session_id="S", user_id="U"), epoch=0.0, valid_s=60.0
)


def rows() -> Iterator[tuple[str, str]]:
    """Frames of the agent, and the types of the chunks that they become."""
    for label, before, frame in _ROWS:
        yield label, _worth(before, frame)
        native = (row for row in _NATIVE_ROWS if row[2] is frame)
        yield from ((n, _worth(b, f, approvals=_REQUESTS)) for n, b, f in native)


def _worth(
    before: Sequence[Frame], frame: Frame, *, approvals: ApprovalIssuer | None = None
) -> str:
    kinds = [shown(record) for record in _records(before, frame, approvals)]
    return " → ".join(kinds) or "nothing"


def _records(
    before: Sequence[Frame], frame: Frame, approvals: ApprovalIssuer | None
) -> list[dict[str, Any]]:
    conversation = DIALECTS["v2"].prompt(PromptRequest(text="", prompt_id="P"))
    options = StreamOptions(approvals=approvals, resets=approvals is not None)
    turn = Turn(conversation, Limits(), UIMessageStream(options))
    turn.handle(Opened(), 0)
    turn.frames([json.dumps(each).encode() for each in before], 0)
    written = turn.frames([json.dumps(frame).encode()], 0).to_client
    lines = [line for line in written.decode().split("\n") if line.startswith("data: {")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def shown(chunk: dict[str, Any]) -> str:
    data = chunk.get("data")
    value = (data.get("state") or data.get("status")) if isinstance(data, dict) else None
    flag = next((name for name in ("preliminary", "transient") if chunk.get(name)), None)
    state = f" ({value or flag})" if value or flag else ""
    text = f" “{chunk['errorText']}”" if "errorText" in chunk else ""
    reason = f" ({chunk['finishReason']})" if "finishReason" in chunk else ""
    return f"`{chunk['type']}`{state}{text}{reason}"
