"""The mapping table of `ag-ui`: events of the wire fed to a real `Turn`, and what came out."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.requests import DialectOptions, PromptRequest, StateMode
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.ag_ui import AgUi
from turnwire_lab.docs.mapping import shown

Frame = dict[str, Any]


def _event(kind: str, **fields: Any) -> Frame:
    return {"type": kind, **fields}


_START: Final = _event("RUN_STARTED", threadId="T", runId="P")
_TEXT: Final = _event("TEXT_MESSAGE_CONTENT", messageId="m1", delta="Hi")
_OTHER_TEXT: Final = {**_TEXT, "messageId": "m2"}
_TEXT_END: Final = _event("TEXT_MESSAGE_END", messageId="m1")
_CHUNK: Final = _event("TEXT_MESSAGE_CHUNK", messageId="m1", delta="Hi")
_THOUGHT: Final = _event("REASONING_MESSAGE_CONTENT", messageId="r1", delta="Hm")
_THOUGHT_END: Final = _event("REASONING_MESSAGE_END", messageId="r1")
_CALL: Final = _event("TOOL_CALL_START", toolCallId="c1", toolCallName="bash")
_ARGS: Final = _event("TOOL_CALL_ARGS", toolCallId="c1", delta='{"n":1}')
_CALL_END: Final = _event("TOOL_CALL_END", toolCallId="c1")
_RESULT: Final = _event("TOOL_CALL_RESULT", toolCallId="c1", messageId="t1", content="2")
_MARK: Final = _event(
    "REASONING_ENCRYPTED_VALUE",
    subtype="message",
    entityId="t1",
    encryptedValue='{"pydantic_ai": {"outcome": "failed"}}',
)
_SNAPSHOT: Final = _event(
    "MESSAGES_SNAPSHOT",
    messages=[{"id": "t1", "role": "tool", "toolCallId": "c1", "content": "2"}],
)
_STATE: Final = _event("STATE_SNAPSHOT", snapshot={"a": 1})
_APPROVE: Final = {"id": "i1", "reason": "tool_call", "toolCallId": "c1", "message": "Go?"}
_CALLED: Final = [_START, _CALL, _ARGS, _CALL_END]
_DECIDE: Final = {
    "id": "i1",
    "metadata": {
        "langgraph": {
            "raw": {
                "action_requests": [{"name": "bash", "args": {"n": 1}}],
                "review_configs": [
                    {"action_name": "bash", "allowed_decisions": ["approve", "reject"]}
                ],
            }
        }
    },
}
"""As LangChain's middleware asks."""
_YES_OR_NO: Final = "… that asks a yes or a no about a call"
_DECISIONS: Final = "… that wants decisions about calls (LangChain), each call"


def _end(**fields: Any) -> Frame:
    return _event("RUN_FINISHED", threadId="T", runId="P", **fields)


def _interrupt(entry: Frame) -> Frame:
    return _end(outcome={"type": "interrupt", "interrupts": [entry]})


_ASKED: Final = _interrupt({"id": "i1", "reason": "input_required", "message": "Where to?"})

_ROWS: Final[Sequence[tuple[str, Sequence[Frame], Frame | None]]] = (
    ("`RUN_STARTED` of our run", [], _START),
    ("`RUN_STARTED` of another run", [], {**_START, "runId": "Q"}),
    ("… and any event, until our run starts", [{**_START, "runId": "Q"}], _TEXT),
    ("… that names neither run nor thread", [], _event("RUN_STARTED")),
    ("`TEXT_MESSAGE_START`", [_START], _event("TEXT_MESSAGE_START", messageId="m1")),
    ("`TEXT_MESSAGE_CONTENT`, the first of its message", [_START], _TEXT),
    ("… the next one", [_START, _TEXT], _TEXT),
    ("… of another message", [_START, _TEXT, _TEXT_END], _OTHER_TEXT),
    ("… before the end of the first", [_START, _TEXT], _OTHER_TEXT),
    ("… and then of the first again", [_START, _TEXT, _OTHER_TEXT], _TEXT),
    (
        "… of another role than the assistant's",
        [_START, _event("TEXT_MESSAGE_START", messageId="m1", role="user")],
        _TEXT,
    ),
    ("`TEXT_MESSAGE_END`", [_START, _TEXT], _TEXT_END),
    ("`TEXT_MESSAGE_CHUNK`", [_START], _CHUNK),
    ("… without an id", [_START, _CHUNK], _event("TEXT_MESSAGE_CHUNK", delta="Hi")),
    ("`REASONING_MESSAGE_CONTENT`", [_START], _THOUGHT),
    ("`REASONING_MESSAGE_END`", [_START, _THOUGHT], _THOUGHT_END),
    (
        "reasoning that repeats earlier reasoning, word for word",
        [_START, _THOUGHT, _THOUGHT_END],
        {**_THOUGHT, "messageId": "r2"},
    ),
    ("`TOOL_CALL_START`", [_START], _CALL),
    ("`TOOL_CALL_ARGS`", [_START, _CALL], _ARGS),
    ("`TOOL_CALL_END`", [_START, _CALL, _ARGS], _CALL_END),
    ("… whose input is no JSON, or was not sent", [_START, _CALL], _CALL_END),
    ("`TOOL_CALL_RESULT`, until the next event", _CALLED, _RESULT),
    ("… and then text", [*_CALLED, _RESULT], _TEXT),
    ("… with the mark of a failure after it", [*_CALLED, _RESULT], _MARK),
    ("… of a call that never began", [_START, _RESULT], _TEXT),
    ("`MESSAGES_SNAPSHOT` with the result of an open call", _CALLED, _SNAPSHOT),
    ("… without", [_START, _TEXT], {**_SNAPSHOT, "messages": []}),
    ("`STEP_STARTED`, `STEP_FINISHED`", [_START], _event("STEP_STARTED", stepName="x")),
    ("`SUBAGENT_…`", [_START], _event("SUBAGENT_STARTED", subagentRunId="s", name="x")),
    ("`CUSTOM`, `RAW`", [_START], _event("CUSTOM", name="x", value=1)),
    ("`RUN_FINISHED` with success", [_START, _TEXT], _end()),
    ("… while a call has no result", _CALLED, _end()),
    ("… `cancelled`", _CALLED, _end(outcome={"type": "cancelled"})),
    ("… with an interrupt", [_START, _TEXT], _ASKED),
    (_YES_OR_NO, _CALLED, _interrupt(_APPROVE)),
    (_DECISIONS, _CALLED, _interrupt(_DECIDE)),
    ("… that cannot be read", [_START, _TEXT], _interrupt({"message": "Where to?"})),
    ("`RUN_ERROR`", [_START, _TEXT], _event("RUN_ERROR", message="no model")),
    ("the end of the body without either", [_START, _TEXT], None),
    ("an event of an unknown type", [_START], _event("PLAN")),
)

_REQUESTS: Final = ApprovalIssuer(
    signer=Signer(keys=[b"a key"], session_id="S", user_id="U"), epoch=0.0, valid_s=60.0
)
_ACTIVITY: Final = _event("ACTIVITY_SNAPSHOT", messageId="a1", activityType="PLAN", content={})


def rows() -> Iterator[tuple[str, str]]:
    """Events of the agent, and the types of the chunks that they become."""
    for label, before, frame in _ROWS:
        yield label, _worth(before, frame)
        if frame is not None and label in {_YES_OR_NO, _DECISIONS}:
            yield "… in the profiles `6` and `7`", _worth(before, frame, approvals=_REQUESTS)
    for label, frame in (
        ("`STATE_SNAPSHOT`, `STATE_DELTA`", _STATE),
        ("`ACTIVITY_…`", _ACTIVITY),
        ("`RUN_FINISHED` with a `result`", _end(result={})),
    ):
        yield label, _worth([_START], frame)
        yield "… with `TURNWIRE_STATE=parts`", _worth([_START], frame, state=StateMode.PARTS)


def _worth(
    before: Sequence[Frame],
    frame: Frame | None,
    *,
    approvals: ApprovalIssuer | None = None,
    state: StateMode = StateMode.OFF,
) -> str:
    request = PromptRequest(text="", prompt_id="P", options=DialectOptions(state=state))
    options = StreamOptions(approvals=approvals)
    turn = Turn(AgUi().prompt(request), Limits(), UIMessageStream(options))
    turn.handle(Opened(), 0)
    turn.frames([json.dumps(each).encode() for each in before], 0)
    written = (
        turn.handle(AgentLeft(), 0)
        if frame is None
        else turn.frames([json.dumps(frame).encode()], 0)
    ).to_client
    lines = [line for line in written.decode().split("\n") if line.startswith("data: {")]
    kinds = [shown(json.loads(line.removeprefix("data: "))) for line in lines]
    return " → ".join(kinds) or "nothing"
