"""One run of a flow, from the prompt to its end.

Several agents may speak in one run, each at a node of the flow. So the end of the flow is the end
of the turn, and not that of an agent.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Raw, Struct

import turnwire.dialect as td
from open_harness_dialect import frames
from open_harness_dialect.runs import Runs
from open_harness_dialect.texts import Kind, Texts

OUTPUT_BYTES_MAX: Final = 65_536
"""Longest output of a node that is shown, in bytes of its JSON."""

NODES_MAX: Final = 256
"""Most nodes whose errors are kept."""

WAITS: Final = "The agent waits for a message"
FLOW_FAILED: Final = "The flow failed"
TOOL_FAILED: Final = "The tool failed"
_ABSENT: Final = frozenset({b"", b"null"})


class _Usage(Struct, rename="camel"):
    """The tokens of all agents together."""

    input_tokens: int = 0
    output_tokens: int = 0


_decode_usage = msgspec.json.Decoder(_Usage).decode
_decode_text = msgspec.json.Decoder(str).decode


class Turn(td.OneResponse):
    """One run. `may_abort`: the server has no runs but those of the session of `member`."""

    decoded_depth = 2

    def __init__(
        self, request: td.PromptRequest, member: td.Member | None, *, may_abort: bool
    ) -> None:
        super().__init__(request.prompt_id)
        self._run_id = request.prompt_id
        self._message = request.text
        self._state = request.options.state
        self._member = member or td.Member()
        self._may_abort = may_abort and not self._member.apart
        self._is_sent = False
        self._is_stale = False
        self._runs = Runs(self._run_id)
        self._texts = Texts(self.frame_stats)
        self._counted = 0
        """How many ids were made: neither calls nor pauses have any on this wire."""
        self._open: dict[str, None] = {}
        """The questions that are open."""
        self._errors: dict[str, str] = {}
        """The errors of nodes that were not followed by success, by node."""
        self._usage = _Usage()

    # The connection.

    def connect_request(self) -> td.ConnectRequest:
        """Return the request that opens the connection: the address is all of it."""
        return td.ConnectRequest()

    def connection_opened(self, now: float) -> td.Decoded:
        """Send the prompt. The server does not confirm it."""
        command = frames.send(self._run_id, self._message)
        self._message = ""
        self._is_sent = True
        self._member.prompt_channel = self._run_id
        return td.Decoded(super().connection_opened(now).events, to_agent=[command])

    @property
    def abort_scope(self) -> td.AbortScope:
        """Which runs an abort would stop now: all that are open on the server."""
        if not self._may_abort or not self._is_sent or self._scope is td.AbortScope.NONE:
            return td.AbortScope.NONE
        if self._runs.is_crowded or self._is_stale:
            return td.AbortScope.NONE
        if self._runs.has_others or self._runs.are_open(self._member.other_prompts):
            return td.AbortScope.SHARED
        return td.AbortScope.OURS

    @abort_scope.setter
    def abort_scope(self, scope: td.AbortScope) -> None:
        self._scope = scope

    def mark_stale(self) -> None:
        """Note that events were not read for a while: another run may have begun unseen.

        Nothing tells when all of them are read, so no abort is sent any more.
        """
        self._is_stale = True

    def abort(self) -> Sequence[bytes]:
        """Return the command that stops whatever runs, if only our run does."""
        return [frames.ABORT] if self.abort_scope is td.AbortScope.OURS else ()

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        """Send the answer to a pause. The run goes on, in the same connection."""
        if reply.question_id not in self._open:
            return td.Decoded()
        del self._open[reply.question_id]
        try:
            content = _decode_text(reply.answer)
        except msgspec.DecodeError:
            content = bytes(reply.answer).decode()
        command = frames.reply(self._run_id, reply.question_id, content)
        closed = td.QuestionClosed(reply.question_id, answer=reply.answer)
        return td.Decoded([closed], to_agent=[command])

    # The events.

    def receive_frame(self, frame: bytes, _now: float) -> td.Decoded | str | None:
        """Take one event, of our run or of another."""
        event = frames.DECODER.read(frame, self.frame_stats)
        if event is None:
            return None
        is_end = isinstance(event, frames.FlowComplete | frames.FlowAborted)
        if not self._runs.is_ours(event.run_id, is_end=is_end):
            self.frame_stats.foreign += 1
            return None
        node = event.node_id or ""
        match event:
            case frames.AgentTextDelta(content=text):
                events = self._texts.write((Kind.TEXT, node), text)
                return text if len(events) == 1 else td.Decoded(events)
            case frames.AgentThinkingDelta(content=text):
                return td.Decoded(self._texts.write((Kind.REASONING, node), text))
            case frames.AgentText(content=text):
                return td.Decoded(self._texts.end((Kind.TEXT, node), text))
            case frames.AgentThinking(content=text):
                return td.Decoded(self._texts.end((Kind.REASONING, node), text))
            case frames.AgentTool():
                return self._tool(event)
            case frames.FlowComplete(status=status, flow_name=name):
                return self._complete(status, name)
            case frames.FlowAborted(flow_name=name):
                told = _flow_status("aborted", name)
                return self.finished(told, reason=td.Reason.CANCELED, usage=self._used())
            case frames.AgentPaused(prompt_id=prompt_id):
                return self._ask(prompt_id or self._next_id(), node)
            case frames.FlowResumed(flow_name=name):
                return td.Decoded([*self._close_all(), _flow_status("running", name)])
            case frames.FlowStart(flow_name=name):
                return td.Decoded([_flow_status("running", name)])
            case frames.FlowPaused(flow_name=name):
                return td.Decoded([_flow_status("paused", name)])
            case _:
                return td.Decoded(self._progress(event, node))

    def _progress(self, event: frames.Event, node: str) -> list[td.Event]:
        """Return what is told of a node and its agent beside texts and calls."""
        match event:
            case frames.NodeStart():
                return [td.AgentStatus("running", node)]
            case frames.NodeSkipped():
                return [td.AgentStatus("skipped", node)]
            case frames.NodeComplete(output=output):
                self._errors.pop(node, None)
                return self._output(node, output)
            case frames.NodeError(error=error):
                return self._fail(node, td.error_message(error) or FLOW_FAILED)
            case frames.AgentStart():
                self._texts.begin(node)
                return []
            case frames.AgentError(message=message, error_type=kind):
                return self._fail(node, message or kind or FLOW_FAILED)
            case frames.AgentComplete():
                return self._agent_complete(event, node)
            case frames.AgentAborted():
                return [td.AgentStatus("aborted", node)]
            case _:
                self.frame_stats.count_left_out(frames.tag_of(type(event)), 0)
                return []

    def _tool(self, event: frames.AgentTool) -> td.Decoded:
        self._texts.interrupt()
        error = None
        if bytes(event.error) not in _ABSENT:
            error = td.error_message(event.error) or TOOL_FAILED
        update = td.tool_update(
            self._next_id(),
            event.tool_name,
            args=Raw() if bytes(event.tool_input) in _ABSENT else event.tool_input,
            result=event.tool_output or Raw(b"null"),
            error=error,
        )
        return td.Decoded([update])

    def _ask(self, question_id: str, node: str) -> td.Decoded:
        """Ask the user for the message that the agent waits for: a pause itself has no text."""
        self._texts.interrupt()
        td.keep(self._open, question_id, None, td.OPEN_QUESTIONS_MAX)
        payload = msgspec.json.encode({"text": WAITS, "nodeId": td.join_surrogates(node)})
        return td.Decoded([td.Question(question_id, Raw(payload))])

    def _close_all(self) -> list[td.Event]:
        """Close the open questions: somebody else made the run go on."""
        closed: list[td.Event] = [td.QuestionClosed(each, expired=True) for each in self._open]
        self._open.clear()
        return closed

    def _output(self, node: str, output: Raw) -> list[td.Event]:
        """Return the output of a node, if the operator shows the results of runs."""
        if bytes(output) in _ABSENT:
            return []
        if self._state is td.StateMode.OFF or len(output) > OUTPUT_BYTES_MAX:
            self.frame_stats.count_left_out("output of a node", len(output))
            return []
        shown_node = td.join_surrogates(node)
        data = Raw(msgspec.json.encode({"nodeId": shown_node, "output": output}))
        is_transient = self._state is td.StateMode.TRANSIENT
        return [td.DataPart("node-output", shown_node, data, transient=is_transient)]

    def _fail(self, node: str, error: str) -> list[td.Event]:
        """Note an error, which the flow may get over."""
        td.keep(self._errors, node, error, NODES_MAX)
        return [td.AgentStatus("failed", f"{node}: {error}")]

    def _agent_complete(self, event: frames.AgentComplete, node: str) -> list[td.Event]:
        self._errors.pop(node, None)
        self._add_usage(event.usage)
        if self._texts.has_told(node):
            return []
        try:
            result = _decode_text(event.result or Raw(b'""'))
        except msgspec.DecodeError:
            self.frame_stats.count_left_out("result of an agent", len(event.result))
            return []
        return self._texts.end((Kind.TEXT, node), result)

    def _add_usage(self, usage: Raw) -> None:
        """Add the tokens of one agent to those of the others."""
        if bytes(usage) in _ABSENT:
            return
        try:
            used = _decode_usage(usage)
        except msgspec.DecodeError:
            self.frame_stats.count_left_out("usage", len(usage))
            return
        self._usage.input_tokens += used.input_tokens
        self._usage.output_tokens += used.output_tokens

    def _complete(self, status: str | None, flow_name: str | None) -> td.Decoded:
        told = _flow_status(status or "complete", flow_name)
        error = None
        if status == "failed" or (status is None and self._errors):
            error = next(reversed(self._errors.values()), FLOW_FAILED)
        return self.finished(told, error=error, usage=self._used())

    def _used(self) -> Raw | None:
        return None if self._usage == _Usage() else Raw(msgspec.json.encode(self._usage))

    def _next_id(self) -> str:
        self._counted += 1
        return f"{self._run_id}:{self._counted}"


def _flow_status(status: str, flow_name: str | None) -> td.DataPart:
    data = {"status": td.join_surrogates(status), "flowName": td.join_surrogates(flow_name or "")}
    return td.DataPart("flow-status", "flow", Raw(msgspec.json.encode(data)))
