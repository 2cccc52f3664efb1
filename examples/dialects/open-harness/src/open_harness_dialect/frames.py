"""The events of the wire, each in an envelope, and the commands that go the other way."""

from typing import Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td

ENVELOPE: Final = "event"


class OfRun(Struct, frozen=True, rename="camel", kw_only=True):
    """An event. Those of a flow may name no run, and no node."""

    run_id: td.SomeId | None = None
    node_id: td.SomeId | None = None


class FlowStart(OfRun, frozen=True, tag="flow:start"):
    flow_name: td.SomeId | None = None


class FlowComplete(OfRun, frozen=True, tag="flow:complete"):
    flow_name: td.SomeId | None = None
    status: td.Word | None = None


class FlowPaused(OfRun, frozen=True, tag="flow:paused"):
    flow_name: td.SomeId | None = None


class FlowResumed(OfRun, frozen=True, tag="flow:resumed"):
    flow_name: td.SomeId | None = None


class FlowAborted(OfRun, frozen=True, tag="flow:aborted"):
    flow_name: td.SomeId | None = None


class NodeStart(OfRun, frozen=True, tag="node:start"):
    pass


class NodeComplete(OfRun, frozen=True, tag="node:complete"):
    output: Raw = Raw()


class NodeError(OfRun, frozen=True, tag="node:error"):
    error: Raw = Raw()


class NodeSkipped(OfRun, frozen=True, tag="node:skipped"):
    pass


class AgentStart(OfRun, frozen=True, tag="agent:start"):
    pass


class _Content(OfRun, frozen=True):
    content: td.HandedOn


class AgentTextDelta(_Content, frozen=True, tag="agent:text:delta"):
    pass


class AgentText(_Content, frozen=True, tag="agent:text"):
    """The whole text of a block, behind its deltas."""


class AgentThinkingDelta(_Content, frozen=True, tag="agent:thinking:delta"):
    pass


class AgentThinking(_Content, frozen=True, tag="agent:thinking"):
    """The whole reasoning of a block, behind its deltas."""


class AgentTool(OfRun, frozen=True, tag="agent:tool"):
    """A call that has run. It has no id, and perhaps no input."""

    tool_name: td.Id
    tool_input: Raw = Raw()
    tool_output: Raw = Raw()
    error: Raw = Raw()


class AgentError(OfRun, frozen=True, tag="agent:error"):
    message: td.HandedOn = ""
    error_type: td.Word | None = None


class AgentComplete(OfRun, frozen=True, tag="agent:complete"):
    """The end of one agent of perhaps several."""

    result: Raw = Raw()
    usage: Raw = Raw()


class AgentPaused(OfRun, frozen=True, tag="agent:paused"):
    prompt_id: td.SomeId | None = None


class AgentAborted(OfRun, frozen=True, tag="agent:aborted"):
    pass


class NotShown(OfRun, frozen=True):
    """Base of the events that are known, and of which nothing is shown."""


class EdgeFire(NotShown, frozen=True, tag="edge:fire"):
    pass


class LoopIterate(NotShown, frozen=True, tag="loop:iterate"):
    pass


class StatePatch(NotShown, frozen=True, tag="state:patch"):
    pass


class CommandReceived(NotShown, frozen=True, tag="command:received"):
    pass


_Flow: TypeAlias = FlowStart | FlowComplete | FlowPaused | FlowResumed | FlowAborted
_Node: TypeAlias = NodeStart | NodeComplete | NodeError | NodeSkipped
_Told: TypeAlias = AgentTextDelta | AgentText | AgentThinkingDelta | AgentThinking | AgentTool
_Agent: TypeAlias = AgentStart | AgentError | AgentComplete | AgentPaused | AgentAborted
_Hidden: TypeAlias = EdgeFire | LoopIterate | StatePatch | CommandReceived
Event: TypeAlias = _Flow | _Node | _Told | _Agent | _Hidden

KINDS: Final = (
    *(FlowStart, FlowComplete, FlowPaused, FlowResumed, FlowAborted),
    *(NodeStart, NodeComplete, NodeError, NodeSkipped),
    *(AgentTextDelta, AgentText, AgentThinkingDelta, AgentThinking, AgentTool),
    *(AgentStart, AgentError, AgentComplete, AgentPaused, AgentAborted),
    *(EdgeFire, LoopIterate, StatePatch, CommandReceived),
)
DECODER: Final[td.FrameDecoder[Event]] = td.frame_decoder(*KINDS, inside=ENVELOPE)


def tag_of(kind: type[Struct]) -> str:
    """Return the `type` of an event."""
    return str(kind.__struct_config__.tag)


_COMMON: Final = td.names("type timestamp")
_UNREAD: Final = {
    **{tag_of(kind): _COMMON for kind in KINDS},
    **{tag_of(kind): td.names("*") for kind in KINDS if issubclass(kind, NotShown)},
    "flow:aborted": _COMMON | td.names("reason"),
    "node:skipped": _COMMON | td.names("reason"),
    "agent:start": _COMMON | td.names("prompt sessionId model"),
    "agent:thinking": _COMMON | td.names("tokenCount"),
    "agent:thinking:delta": _COMMON | td.names("tokenCount"),
    "agent:tool": _COMMON | td.names("durationMs"),
    "agent:error": _COMMON | td.names("details"),
    "agent:complete": _COMMON
    | td.names("structuredOutput modelUsage totalCostUsd durationMs numTurns"),
    "agent:paused": _COMMON | td.names("sessionId numTurns"),
    "agent:aborted": _COMMON | td.names("reason"),
}
"""By type: the fields that are known, and not read."""

_ANYTHING: Final = (
    "toolInput toolOutput output error result structuredOutput details prompt patch command"
)

SCHEMA: Final = td.WireSchema(
    frames=[msgspec.defstruct("_Envelope", [(ENVELOPE, kind)], tag=tag_of(kind)) for kind in KINDS],
    deltas=td.names("agent:text:delta agent:thinking:delta"),
    unread={f"{kind}.{ENVELOPE}": fields for kind, fields in _UNREAD.items()},
    type_of=td.type_inside(ENVELOPE),
    hidden=frozenset(f"*.{ENVELOPE}.{name}" for name in _ANYTHING.split()),
)


def _command(**fields: object) -> bytes:
    return msgspec.json.encode({"type": "command", "command": fields})


def send(run_id: str, message: str) -> bytes:
    """Return the command that begins a run."""
    return _command(type="send", message=message, runId=run_id)


def reply(run_id: str, prompt_id: str, content: str) -> bytes:
    """Return the command that answers a pause."""
    return _command(type="reply", promptId=prompt_id, content=content, runId=run_id)


ABORT: Final = _command(type="abort", resumable=False, reason="the user stopped it")
"""The command that stops whatever runs on the server: it names no run."""
