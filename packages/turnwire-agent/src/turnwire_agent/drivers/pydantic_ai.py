"""An agent of pydantic-ai gives the answers: the extra `pydantic-ai`.

The loop asks it as it asks a model. What the agent does up to its end, or up to a call of a tool
that is registered here, is one answer: its messages are journaled with it, and go back to it as
they were. Tools that are registered here are run by the loop, with its policies, approvals and
journal; pydantic-ai knows them as external tools. Tools of the agent's own run inside of the
answer: if the process dies then, the answer is lost, and they run again.
"""

import json
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from typing import Any, Final

from msgspec import Raw
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults, ToolDefinition, messages
from pydantic_ai.exceptions import AgentRunError, UserError
from pydantic_ai.toolsets import ExternalToolset

from turnwire_agent.drivers.answers import Show
from turnwire_agent.llm.events import (
    Begun,
    Event,
    Finish,
    FinishReason,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import of_error
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Result,
    Results,
    Text,
    Transcript,
    User,
)
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.prepare import Prepared
from turnwire_agent.session.events import CallBegun, CallEnded

PROVIDER: Final = "pydantic-ai"
_ADAPTER: Final = messages.ModelMessagesTypeAdapter
_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_call": "tool-calls",
    "error": "error",
}


def model_of(agent: PydanticAgent[Any, Any]) -> Model:
    """Name an agent as the loop names a model. Its names of tools are those that OpenAI takes."""
    return Model(provider=PROVIDER, name=agent.name or "agent", shape="chat", base_url="")


class PydanticAiAnswers:
    """Answers of one agent."""

    def __init__(self, agent: PydanticAgent[Any, Any], deps: Any = None) -> None:
        """Take an agent.

        Args:
            agent: With a model, instructions, and perhaps tools of its own.
            deps: Of its runs.

        """
        self._agent = agent
        self._deps = deps

    async def stream(
        self, asked: AskModel, prepared: Prepared, show: Show
    ) -> AsyncGenerator[Event, None]:
        """Let the agent answer. What it raises is a fault whose text nobody is told."""
        request = prepared.request
        history, results, prompt = history_of(request.transcript)
        external = ExternalToolset(
            [
                ToolDefinition(
                    name=spec.name,
                    description=spec.description,
                    parameters_json_schema=spec.schema,
                )
                for spec in request.tools
            ]
        )
        own = _Own(asked, {spec.name for spec in request.tools}, show)
        try:
            async with self._agent.iter(
                prompt,
                message_history=history,
                deferred_tool_results=results,
                toolsets=[external],
                output_type=[self._agent.output_type, DeferredToolRequests],
                deps=self._deps,
            ) as run:
                yield Begun("", asked.model.name)
                blocks = _Blocks()
                async for node in run:
                    if PydanticAgent.is_model_request_node(node):
                        async with node.stream(run.ctx) as stream:
                            async for event in stream:
                                for each in blocks.of(event):
                                    yield each
                        for each in blocks.end():
                            yield each
                    elif PydanticAgent.is_call_tools_node(node):
                        async with node.stream(run.ctx) as stream:
                            async for event in stream:
                                await own.see(event)
                for each in _end(run.result):
                    yield each
        except (AgentRunError, UserError) as error:
            yield of_error({"code": type(error).__name__}, getattr(error, "status_code", 0) or 0)


def _end(result: Any) -> Iterator[Event]:
    """The calls that wait for the loop, and the end of the answer."""
    waiting: Sequence[Any] = ()
    if isinstance(result.output, DeferredToolRequests):
        waiting = result.output.calls
    for call in waiting:
        yield ToolCall(call.tool_call_id, call.tool_name, call.args_as_json_str())
    usage = result.usage
    reason = "tool-calls" if waiting else _reason(result)
    yield Finish(
        reason=reason,
        raw="",
        usage=Usage(
            input=usage.input_tokens,
            cache_read=usage.cache_read_tokens or None,
            output=usage.output_tokens,
        ),
        native=Raw(_ADAPTER.dump_json(result.new_messages())),
    )


def _reason(result: Any) -> FinishReason:
    last = result.new_messages()[-1]
    return _REASONS.get(str(getattr(last, "finish_reason", None)), "stop")


class _Blocks:
    """The parts of a response of the agent's model, as events of the loop."""

    def __init__(self) -> None:
        self._responses = 0
        self._open: dict[int, Event] = {}
        """What ends each part."""

    def of(self, event: Any) -> Iterator[Event]:
        """Return what one event of pydantic-ai says."""
        match event:
            case messages.PartStartEvent(index=index, part=part):
                yield from self._begin(index, part)
            case messages.PartDeltaEvent(index=index, delta=delta):
                yield from self._more(index, delta)
            case _:
                pass

    def end(self) -> Iterator[Event]:
        """End what is open: the response is whole."""
        yield from self._open.values()
        self._open.clear()
        self._responses += 1

    def _begin(self, index: int, part: Any) -> Iterator[Event]:
        if index in self._open:
            yield self._open.pop(index)
        id_ = f"{self._responses}-{index}"
        match part:
            case messages.TextPart(content=text):
                yield TextStart(id_)
                self._open[index] = TextEnd(id_)
                if text:
                    yield TextDelta(id_, text)
            case messages.ThinkingPart(content=text):
                yield ReasoningStart(id_)
                self._open[index] = ReasoningEnd(id_)
                if text:
                    yield ReasoningDelta(id_, text)
            case messages.ToolCallPart(tool_name=name, tool_call_id=call_id, args=args):
                yield ToolInputStart(call_id, name)
                self._open[index] = ToolInputEnd(call_id)
                if args:
                    yield ToolInputDelta(
                        call_id, args if isinstance(args, str) else json.dumps(args)
                    )
            case _:
                pass

    def _more(self, index: int, delta: Any) -> Iterator[Event]:
        end = self._open.get(index)
        match delta:
            case messages.TextPartDelta(content_delta=text) if text and isinstance(end, TextEnd):
                yield TextDelta(end.id, text)
            case messages.ThinkingPartDelta(content_delta=text) if text and isinstance(
                end, ReasoningEnd
            ):
                yield ReasoningDelta(end.id, text)
            case messages.ToolCallPartDelta(args_delta=str(text)) if text and isinstance(
                end, ToolInputEnd
            ):
                yield ToolInputDelta(end.id, text)
            case _:
                pass


class _Own:
    """Shows the tools of the agent's own, which run inside of the answer."""

    def __init__(self, asked: AskModel, external: set[str], show: Show) -> None:
        self._turn_id = asked.turn_id
        self._external = external
        self._show = show

    async def see(self, event: Any) -> None:
        match event:
            case messages.FunctionToolCallEvent(part=part) if part.tool_name not in self._external:
                await self._show(
                    CallBegun(
                        turn_id=self._turn_id,
                        call_id=part.tool_call_id,
                        tool=part.tool_name,
                        key="",
                        effect="once",
                        input=Raw(part.args_as_json_str().encode()),
                    )
                )
            case messages.FunctionToolResultEvent(part=part) if (
                part.tool_name not in self._external
            ):
                is_done = isinstance(part, messages.ToolReturnPart)
                text = part.model_response_str() if is_done else "The tool failed."
                await self._show(
                    CallEnded(
                        turn_id=self._turn_id,
                        call_id=part.tool_call_id,
                        tool=part.tool_name or "",
                        outcome="done" if is_done else "failed",
                        content=(Text(text),),
                        error=None if is_done else text,
                    )
                )
            case _:
                pass


def history_of(
    transcript: Transcript,
) -> tuple[list[Any], Any, Any]:
    """Return what a run begins with: the messages before, results that it waits for, its prompt."""
    history: list[Any] = []
    results, prompt = None, None
    for place, message in enumerate(transcript):
        is_last = place == len(transcript) - 1
        match message:
            case User(parts=parts) if is_last:
                prompt = _content(parts)
            case User(parts=parts):
                history.append(messages.ModelRequest([messages.UserPromptPart(_content(parts))]))
            case Assistant():
                history += _answered(message, history)
            case Results(results=each) if is_last:
                results = DeferredToolResults(calls={one.call_id: _value(one) for one in each})
            case Results(results=each):
                if not _is_native(transcript[place + 1]):
                    history.append(messages.ModelRequest([_returned(one) for one in each]))
    return history, results, prompt


def _is_native(message: object) -> bool:
    native = message.native if isinstance(message, Assistant) else None
    return native is not None and native.provider == PROVIDER


def _answered(message: Assistant, history: list[Any]) -> Iterable[Any]:
    if message.native is not None and _is_native(message):
        stored: list[Any] = _ADAPTER.validate_json(bytes(message.native.blocks))
        # A run has the prompt in its messages; the prompt of the transcript is the same.
        if (
            history
            and isinstance(stored[0], messages.ModelRequest)
            and any(isinstance(part, messages.UserPromptPart) for part in stored[0].parts)
        ):
            history.pop()
        return stored
    parts: list[Any] = []
    for part in message.parts:
        if isinstance(part, Text):
            parts.append(messages.TextPart(part.text))
        elif isinstance(part, Call):
            parts.append(messages.ToolCallPart(part.name, part.arguments, part.id))
    return [messages.ModelResponse(parts)] if parts else []


def _content(parts: Sequence[Text | Image | File]) -> Any:
    """A prompt for pydantic-ai."""
    content: list[Any] = []
    for part in parts:
        if isinstance(part, Text):
            content.append(part.text)
        elif part.data:
            content.append(messages.BinaryContent(part.data, media_type=part.media_type))
        elif isinstance(part, Image):
            content.append(messages.ImageUrl(part.url))
        else:
            content.append(messages.DocumentUrl(part.url))
    return content[0] if len(content) == 1 and isinstance(content[0], str) else content


def _value(result: Result) -> str:
    return (
        "\n".join(part.text for part in result.content if isinstance(part, Text)) or result.outcome
    )


def _returned(result: Result) -> Any:
    return messages.ToolReturnPart(result.name, _value(result), result.call_id)
