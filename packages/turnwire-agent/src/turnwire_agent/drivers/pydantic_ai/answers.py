"""Answers of an agent of pydantic-ai.

The loop asks it as it asks a model. What the agent does up to its end, or up to a call of a tool
that is registered here, is one answer: its messages are journaled with it, and go back to it as
they were. Tools that are registered here are run by the loop, with its policies, approvals and
journal; pydantic-ai knows them as external tools. Tools of the agent's own run inside of the
answer: if the process dies then, the answer is lost, and they run again.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import pydantic_core
from msgspec import Raw
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, ToolDefinition
from pydantic_ai.capabilities import ReinjectSystemPrompt
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelHTTPError,
    UsageLimitExceeded,
)
from pydantic_ai.toolsets import ExternalToolset, ToolsetTool

from turnwire_agent.drivers.answers import Show
from turnwire_agent.drivers.pydantic_ai.blocks import Blocks
from turnwire_agent.drivers.pydantic_ai.contained_run import ContainedRun
from turnwire_agent.drivers.pydantic_ai.history import MESSAGES, PROVIDER, history_of
from turnwire_agent.drivers.pydantic_ai.own_calls import OwnCalls
from turnwire_agent.llm.events import (
    Begun,
    Event,
    Finish,
    FinishReason,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    Usage,
)
from turnwire_agent.llm.faults import Fault, of_error
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.prepare import Prepared

REPAIRS: Final = 3
"""How often in an answer the model may write arguments of a registered tool that are no JSON."""
_REASONS: Final[dict[str, FinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_call": "tool-calls",
    "error": "error",
}


class OwnApprovalError(Exception):
    """A tool of the agent's own asks for approval. Only one that is registered here can."""


class _Registered(ExternalToolset[Any]):  # type: ignore[misc]
    """The tools that are registered here.

    Their arguments are the loop's to check, but pydantic-ai reads them: it tells the model when
    they are no JSON, which would otherwise end the run.
    """

    async def get_tools(self, ctx: Any) -> dict[str, ToolsetTool[Any]]:
        tools = await super().get_tools(ctx)
        return {name: replace(tool, max_retries=REPAIRS) for name, tool in tools.items()}


class PydanticAiAnswers:
    """Answers of one agent."""

    def __init__(self, agent: PydanticAgent[Any, Any], deps: Any = None) -> None:
        """Take an agent.

        Args:
            agent: With a model, instructions, and perhaps tools of its own.
            deps: Of all of its runs: one object, which is not stored.

        """
        self._agent = agent
        self._deps = deps

    @property
    def model(self) -> Model:
        """The agent, as the loop names a model. Its names of tools are those that OpenAI takes."""
        name = self._agent.name or "agent"
        return Model(provider=PROVIDER, name=name, shape="chat", base_url="")

    async def stream(
        self, asked: AskModel, prepared: Prepared, show: Show
    ) -> AsyncGenerator[Event, None]:
        """Let the agent answer.

        What goes wrong with its model is a fault. All else that it raises is let through: then the
        turn ends as an error whose text nobody is told.

        Raises:
            OwnApprovalError: see there.

        """
        request = prepared.request
        own = OwnCalls(asked, {spec.name for spec in request.tools}, show)
        try:
            async with self._run(request) as run:
                yield Begun("", asked.model.name)
                blocks = Blocks(own)
                async for node in run:
                    if PydanticAgent.is_model_request_node(node):
                        async with node.stream(run.ctx) as stream:
                            blocks.begin(run.ctx.deps.tool_manager)
                            async for event in stream:
                                for each in blocks.of(event):
                                    yield each
                        for each in blocks.end():
                            yield each
                    elif PydanticAgent.is_call_tools_node(node):
                        async with node.stream(run.ctx) as stream:
                            async for event in stream:
                                await own.see(event)
                for each in _end(run.result, is_structured=blocks.is_structured):
                    yield each
        except AgentRunError as error:
            yield _fault(error)

    def _run(self, request: Request) -> Any:
        """Begin a run, where the messages end that there are."""
        history, results, prompt = history_of(request.transcript)
        registered = _Registered(
            [
                ToolDefinition(
                    name=spec.name,
                    description=spec.description,
                    parameters_json_schema=dict(spec.schema),
                )
                for spec in request.tools
            ]
        )
        return self._agent.iter(
            prompt,
            message_history=history,
            deferred_tool_results=results,
            toolsets=[registered],
            instructions=request.instructions or None,
            # pydantic-ai takes it from no agent that has validators of its output.
            output_type=[self._agent.output_type, DeferredToolRequests] if request.tools else None,
            # Without it only a history that is empty gets one, and the first turn may be lost.
            capabilities=[ReinjectSystemPrompt(), ContainedRun()],
            deps=self._deps,
        )


def _end(result: Any, *, is_structured: bool) -> Iterator[Event]:
    """The calls that wait for the loop, and the end of the answer."""
    waiting: Sequence[Any] = ()
    if isinstance(result.output, DeferredToolRequests):
        if result.output.approvals:
            raise OwnApprovalError
        waiting = result.output.calls
    elif is_structured:
        yield TextStart("output")
        yield TextDelta("output", pydantic_core.to_json(result.output).decode())
        yield TextEnd("output")
    for call in waiting:
        yield ToolCall(call.tool_call_id, call.tool_name, call.args_as_json_str())
    usage = result.usage
    yield Finish(
        reason="tool-calls" if waiting else _reason(result),
        raw="",
        usage=Usage(
            # Nobody is billed for 0: the model did not say.
            input=usage.input_tokens or None,
            cache_read=usage.cache_read_tokens or None,
            cache_written=usage.cache_write_tokens or None,
            output=usage.output_tokens or None,
        ),
        native=Raw(MESSAGES.dump_json(result.new_messages())),
    )


def _reason(result: Any) -> FinishReason:
    finish = getattr(result.response, "finish_reason", None)
    reason = _REASONS.get(str(finish), "stop")
    # Of a call of its own tools, or of its output, that the run has dealt with.
    return "stop" if reason == "tool-calls" else reason


def _fault(error: AgentRunError) -> Fault:
    """What went wrong, as with a provider. Its text is for nobody but the operator."""
    if isinstance(error, ModelHTTPError):
        return of_error(error.body or error.message, error.status_code)
    if isinstance(error, ModelAPIError):
        return Fault(kind="connection", code=type(error).__name__)
    if isinstance(error, UsageLimitExceeded):
        return Fault(kind="quota", code=type(error).__name__)
    return Fault(kind="malformed", code=type(error).__name__)
