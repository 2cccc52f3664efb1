"""What is fuzzed. Each target takes any bytes, and raises only where something is wrong."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Raw

from attacks.fuzz.script import END, Counted, frame, play, steps
from support import acp_messages as a
from support import ag_ui_frames as g
from support import openai_chat_frames as o
from support import openai_responses_frames as r
from support import session_agent_frames as s
from support import ui_chunks as u
from support import v2_frames as f
from support.session_agent_pool import pool
from support.v2_pool import ENDINGS, OTHER_FRAMES, TEXTS
from turnwire.core.agent import Dialect
from turnwire.core.approvals import Invalid, Signer
from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.continuation import ApprovalResponse, Continuation
from turnwire.core.body.prompt import Prompt, extract
from turnwire.core.operations import Answered, History, Operation, StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import (
    AnswerRequest,
    DialectOptions,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StateMode,
    StopRequest,
)
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.dialects import DIALECTS
from turnwire.errors import BadRequest

V2: Final = (f.begin(), *TEXTS, *OTHER_FRAMES, *(end for end in ENDINGS if end[:1] == b"{"))
AGENTS: Final = {
    revision: [
        s.init(revision),
        s.user(),
        *s.queued(revision),
        *s.dequeued(revision),
        *pool(revision),
    ]
    for revision in s.REVISIONS
}
_STATE: Final = {"messages": [{"tool_calls": [{"id": "c1", "args": {"a": 1}}]}]}
_ACTIVITY: Final = {"messageId": "a1", "activityType": "PLAN"}
_SET: Final = [{"op": "add", "path": "/a", "value": 1}]
ACP: Final = (
    *(a.text("a"), a.text("b", messageId="m2"), a.thought("hm"), a.call(), a.state()),
    *(a.state(rawInput={"a": 1}), a.state("completed", content=a.shown("x"), rawOutput=[1])),
    *(a.state("failed"), a.permission(), a.permission(1, "c2"), a.update("plan", entries=[])),
    *(a.block(type="image", data="QUJD", mimeType="image/png"), a.done(), a.done("cancelled")),
    *(a.failure(a.PROMPT), *a.NOISE),
)
"""Messages of an agent that speaks ACP."""

UI_STREAM: Final = (
    *(u.start(), u.step(), u.text_start(), u.text("a"), u.text("b", "t2"), u.text_end()),
    *(u.thought("hm"), u.thought_end(), u.call(), u.piece('{"a"'), u.given(input={"a": 1})),
    *(u.output([1]), u.output("1", preliminary=True), u.failed(), u.denied(), u.refused()),
    *(u.ask(), u.ask("a2", "c2", signature="s"), u.data("x", {"a": 1}, id="x1"), u.step_end()),
    *(u.data("question", 1), u.chunk("file", url="https://a.example", mediaType="image/png")),
    *(u.chunk("abort"), u.error(), u.finish(finishReason="stop"), u.DONE, *u.NOISE),
)
"""Chunks of an agent that answers useChat itself."""

AG_UI: Final = (
    *(g.started(), g.text_start(), g.text("a"), g.text("b", "m2"), g.text_end(), g.thought("hm")),
    *(g.thought_end(), g.call(), g.call("c9", "confirm_changes"), g.args('{"a":1}'), g.args("{")),
    *(g.call_end(), g.result("21"), g.result([{"type": "text", "text": "x"}], "c2"), g.mark()),
    *(g.text_chunk(messageId="m3", delta="c"), g.text_chunk(delta="d", subagentRunId="s1")),
    *(g.call_chunk(toolCallId="c2", toolCallName="x", delta="{}"), g.raw(), g.custom("usage", {})),
    g.snapshot(g.user(), g.assistant("other", c1='{"s":1}'), g.tool("snap")),
    *(g.event("STATE_SNAPSHOT", snapshot=_STATE), g.event("STATE_DELTA", delta=_SET)),
    g.event("ACTIVITY_SNAPSHOT", **_ACTIVITY, content={}),
    g.event("ACTIVITY_DELTA", **_ACTIVITY, patch=_SET),
    *(g.event("STEP_STARTED", stepName="x"), g.event("SUBAGENT_ERROR", subagentRunId="s1")),
    *(g.custom("on_interrupt", '{"question":"ok?"}'), g.started("run-9"), g.finished("run-9")),
    g.interrupted({"id": "i1", "reason": "tool_call", "toolCallId": "c1", "message": "ok?"}),
    *(g.finished(usage=[{"inputTokens": 1}]), g.finished(outcome={"type": "cancelled"})),
    g.failed("boom"),
)
OPENAI_CHAT: Final = (
    *(o.started(), o.text("a"), o.text([{"type": "text", "text": "b"}]), o.thought("hm")),
    *(o.refusal("no"), o.call(o.head()), o.call(o.piece('{"a":1}')), o.call(o.head("c2", "x", 1))),
    *(o.call(o.piece("{", None)), o.progress("running", label="ls"), o.progress("completed", "c2")),
    *(o.usage(n=1), o.chunk({"images": [{"image_url": {"url": "data:,x"}}]}), *o.NOISE),
    *(o.finished(), o.finished("tool_calls"), o.finished("error"), o.failed("boom"), o.DONE),
)
OPENAI_RESPONSES: Final = (
    *(
        r.created(),
        r.text("a"),
        r.text("b", 2),
        r.text_done("ab"),
        r.summary("hm"),
        r.thought("hm"),
    ),
    *(
        r.refusal("no"),
        *r.whole_call(),
        r.item_done(r.output("21"), 2),
        r.item_done(r.message("a")),
    ),
    *(r.item_done(r.tool("mcp_call", error="no"), 3), r.item_done(r.asks(), 4), *r.NOISE),
    *(r.item_done(r.tool("web_search_call", action={"sources": [{"url": "https://a"}]}), 5),),
    *(r.completed(output=[r.message("all")]), r.incomplete(), r.failed(), r.error(), r.DONE),
)
LIMITS: Final = AttachmentLimits(
    count=3, characters=10_000, types=("image/*", "text/*"), hosts=("a.b",)
)
SIGNER: Final = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")


def v2(data: bytes) -> None:
    """Frames of the `v2` wire, for a prompt or for whoever resumes."""
    dialect = DIALECTS["v2"]
    if data[:1] < b"\x80":
        conversation = dialect.prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    else:
        conversation = dialect.resume(_look())
    play(conversation, data[1:], V2)


def session_agent(data: bytes) -> None:
    """Frames of the `session-agent` wire, in each of its revisions."""
    which = data[0] if data else 0
    revision = s.REVISIONS[which % 3]
    dialect = DIALECTS["session-agent"]
    if which < 0x80:
        asked = PromptRequest(text="two", prompt_id="p1", user_id=s.ME)
        play(dialect.prompt(asked), data[1:], AGENTS[revision])
    else:
        play(dialect.resume(_look()), data[1:], AGENTS[revision])


def ag_ui(data: bytes) -> None:
    """Events of the `ag-ui` wire, with and without the agent's state."""
    state = [*StateMode][(data[0] if data else 0) % len(StateMode)]
    asked = PromptRequest(text="hi", prompt_id=g.RUN, options=DialectOptions(state=state))
    play(DIALECTS["ag-ui"].prompt(asked), data[1:], AG_UI)


def ui_stream(data: bytes) -> None:
    """Chunks of the `ui-stream` wire."""
    play(DIALECTS["ui-stream"].prompt(PromptRequest(text="hi", prompt_id="p1")), data, UI_STREAM)


def openai_chat(data: bytes) -> None:
    """Events of the `openai-chat` wire."""
    asked = PromptRequest(text="hi", prompt_id="p1")
    play(DIALECTS["openai-chat"].prompt(asked), data[1:], OPENAI_CHAT)


def openai_responses(data: bytes) -> None:
    """Events of the `openai-responses` wire."""
    asked = PromptRequest(text="hi", prompt_id="p1")
    play(DIALECTS["openai-responses"].prompt(asked), data[1:], OPENAI_RESPONSES)


def acp(data: bytes) -> None:
    """Messages of the `acp` wire, of a session that is open."""
    protocol = DIALECTS["acp"].prompt(PromptRequest(text="hi", prompt_id="p1"))
    for message in a.OPENED:
        protocol.receive_frame(message, 0)
    play(protocol, data, ACP)


def _look() -> ResumeRequest:
    return ResumeRequest(user_id=s.ME, init_s=5)


def body(data: bytes) -> None:
    """The body of a prompt: read, or refused with a reason."""
    Counted.runs += 1
    try:
        read = extract(data, LIMITS)
    except BadRequest:
        return
    match read:
        case Prompt():
            assert read.text.strip() or read.attachments
            msgspec.json.encode(read.text)
            msgspec.json.encode([read.message_id, read.chat_id, read.replaces])
            msgspec.json.encode(read.attachments)
        case Continuation():
            assert read.responses
            for response in read.responses:
                msgspec.json.encode(response)


def continuation(data: bytes) -> None:
    """What follows the last step of a message that comes back, and its approvals."""
    part = data.decode(errors="replace")
    body(b'{"messages":[{"id":"m","role":"assistant","parts":[%b]}]}' % data)
    signed = SIGNER.read(part, 0)
    assert signed in {Invalid.NOT_OURS, Invalid.EXPIRED}
    approval = SIGNER.sign(part[:200], data[:16], 10)
    if approval is not None and approval.isascii():
        back = SIGNER.read(approval, 1)
        assert not isinstance(back, Invalid)
        assert back.question_id == part[:200]
        message = _responded(approval)
        told = extract(json.dumps({"messages": [message]}).encode(), LIMITS)
        assert isinstance(told, Continuation)
        assert told.responses == (ApprovalResponse(approval, approved=True, call_id="c"),)


def _responded(approval: str) -> dict[str, Any]:
    part = {
        "type": "tool-x",
        "toolCallId": "c",
        "state": "approval-responded",
        "approval": {"id": approval, "approved": True},
    }
    return {"id": "m", "role": "assistant", "parts": [{"type": "step-start"}, part]}


def operations(data: bytes) -> None:
    """Stop, answer and recall, on both wires."""
    which = data[0] if data else 0
    dialect: Dialect = DIALECTS[("v2", "session-agent")[which & 1]]
    known: Sequence[bytes] = AGENTS[s.REVISIONS[(which >> 4) % 3]] if which & 1 else V2
    operation = _operation(dialect, which)
    now = 0.0
    told = [*operation.connection_opened(now)]
    for kind, rest in steps(data[1:]):
        heard = frame(kind, rest, known)
        if heard is not None:
            Counted.frames += 1
            told += operation.receive_frame(heard, now)
        else:
            now += (rest[0] if rest else 1) / 4
            told += operation.tick(now)
        if operation.result is not None:
            break
    for _ in range(8):
        if operation.result is None:
            now = max(now, operation.deadline)
            told += operation.tick(now)
    if operation.result is None:
        operation.connection_lost()
    for each in told:
        msgspec.json.decode(each)
    match operation.result:
        case History():
            for message in msgspec.json.decode(ui_messages(operation.result)):
                assert {"id", "role", "parts"} <= message.keys()
        case StopResult():
            msgspec.json.encode(operation.result.turn_id)
        case result:
            assert isinstance(result, Answered | Rejection)
    Counted.runs += 1


def _operation(dialect: Dialect, which: int) -> Operation[Any]:
    common: dict[str, Any] = {"user_id": s.ME, "init_s": 5, "verdict_s": 5}
    match which >> 1 & 3:
        case 0:
            return dialect.stop(StopRequest(**common))
        case 1:
            return dialect.stop(StopRequest(turn_id="turn-1", **common))
        case 2:
            return dialect.answer(AnswerRequest(reply=QuestionReply("q1", Raw(b'"yes"')), **common))
        case _:
            return dialect.read_history(HistoryRequest(limit=3, **common))


class Target(NamedTuple):
    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    words: Sequence[bytes]
    """What the fuzzer may put together."""


def _scripts(frames: Sequence[bytes], heads: Sequence[int]) -> list[bytes]:
    """Scripts of a few known frames, and one of each raw one."""
    numbers = [bytes([0, number % 256]) for number in range(min(len(frames), 256))]
    whole = [END.join(numbers[i : i + 6]) for i in range(0, len(numbers), 3)]
    raw = [b"\x01" + each for each in frames]
    return [bytes([head]) + each for head in heads for each in (*whole, END.join(raw[:12]), *raw)]


_BODIES: Final = [
    json.dumps(
        {"messages": [message], "id": "c", "trigger": "regenerate-message", "messageId": "m"}
    )
    for message in (
        {"id": "m", "role": "user", "content": "hi"},
        {"id": "m", "role": "user", "parts": [{"type": "text", "text": "hi"}]},
        {"role": "user", "parts": [{"type": "file", "url": "data:image/png;base64,iVBORw0KGgo="}]},
        _responded("x"),
    )
]
_PARTS: Final = [
    b'{"type":"step-start"},{"type":"data-question","id":"q1","data":{"state":"answered","answer":1}}',
    b'{"type":"tool-x","state":"output-available","providerExecuted":true}',
    json.dumps(_responded("x")["parts"][1]).encode(),
]
_WORDS: Final = tuple(
    f'"{word}"'.encode()
    for word in (
        *("type", "turnId", "promptId", "turn-1", "p1", "delta", "content", "status", "data"),
        *(
            "session",
            "messages",
            "parts",
            "runnerBusy",
            "runningTurnId",
            "channelType",
            "__proto__",
        ),
        *("answer", "questionId", "state", "answered", "approval", "approved", "role", "user"),
        *(
            "assistant",
            "text",
            "file",
            "url",
            "mediaType",
            "providerExecuted",
            "\\ud800",
            "step-start",
        ),
    )
)

TARGETS: Final[Mapping[str, Target]] = {
    "v2": Target(v2, _scripts(V2, (0, 0x80)), _WORDS),
    "session-agent": Target(
        session_agent,
        [
            seed
            for number, revision in enumerate(s.REVISIONS)
            for seed in _scripts(AGENTS[revision], (number, 0x81 + number))
        ],
        _WORDS,
    ),
    "ag-ui": Target(ag_ui, _scripts(AG_UI, (0, 1, 2)), _WORDS),
    "ui-stream": Target(ui_stream, _scripts(UI_STREAM, (0, 1)), _WORDS),
    "openai-chat": Target(openai_chat, _scripts(OPENAI_CHAT, (0,)), _WORDS),
    "openai-responses": Target(openai_responses, _scripts(OPENAI_RESPONSES, (0,)), _WORDS),
    "acp": Target(acp, _scripts(ACP, (0, 1)), _WORDS),
    "body": Target(body, [each.encode() for each in _BODIES], _WORDS),
    "continuation": Target(continuation, _PARTS, _WORDS),
    "errands": Target(
        operations,
        [*_scripts(V2, (0, 2, 4, 6)), *_scripts(AGENTS["R"], (1, 3, 5, 7))],
        _WORDS,
    ),
}
