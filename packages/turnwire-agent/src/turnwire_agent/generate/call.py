"""A question and a model as one call: what is sent, and the answer in the words of who asked."""

from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from turnwire_agent.generate.question import BadQuestionError, Question
from turnwire_agent.llm.events import Event, ToolCall, ToolInputStart
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import OneTool, Request
from turnwire_agent.loop.prepare import prepare
from turnwire_agent.tools.arguments import Valid, decoded
from turnwire_agent.tools.contract import BadToolError, Tool, Tools
from turnwire_agent.tools.names import WireNames
from turnwire_agent.tools.schema.restore import restore

SENTENCE_MAX: Final = 500
"""Most characters of what is said of a tool that cannot be sent."""


class Call(Struct, frozen=True):
    """One call of a model for a program that runs the tools itself."""

    request: Request
    losses: tuple[Loss, ...]
    """What of the tools' schemas the provider is not sent as a rule."""
    names: WireNames
    schemas: dict[str, dict[str, Any]]
    """By registered name."""

    def event(self, event: Event) -> Event:
        """An event with registered names, and with arguments that fit the registered schema.

        A name that the model invented stays as it is, and arguments that are no JSON do too: the
        program that asked says so to the model.
        """
        if isinstance(event, ToolInputStart):
            return replace(event, name=self.names.tool(event.name) or event.name)
        if isinstance(event, ToolCall):
            name = self.names.tool(event.name) or event.name
            return replace(event, name=name, arguments=self._arguments(name, event.arguments))
        return event

    def _arguments(self, name: str, arguments: str) -> str:
        """Without the nulls that a strict schema makes the model write for what is left out."""
        read = decoded(arguments)
        if name not in self.schemas or not isinstance(read, Valid):
            return arguments
        restored = restore(read.value, self.schemas[name])
        return arguments if restored == read.value else msgspec.json.encode(restored).decode()


def call(question: Question, model: Model) -> Call:
    """Write what a model is sent.

    Raises:
        BadQuestionError: A tool cannot be sent to it, the one that it must call is not among them,
            or native blocks are none.
    """
    try:
        tools = Tools(
            Tool(
                name=each.name,
                description=each.description,
                schema=each.schema,
                validate=decoded,
                call=lambda *_: None,  # tools run where they are from
            )
            for each in question.tools
        )
    except BadToolError as error:
        raise BadQuestionError(str(error)[:SENTENCE_MAX]) from None
    prepared = prepare(model, question.neutral(), tools, question.instructions)
    choice = question.tool_choice
    if isinstance(choice, OneTool):
        if tools.get(choice.name) is None:
            raise BadQuestionError("the tool of tool_choice is not among the tools")
        choice = OneTool(prepared.names.wire(choice.name))
    request = replace(
        prepared.request,
        tool_choice=choice,
        parallel_tools=question.parallel_tools,
        max_tokens=question.max_tokens,
        temperature=question.temperature,
        top_p=question.top_p,
        stop=question.stop,
        effort=question.effort,
        answer_schema=question.answer_schema,
    )
    schemas = {tool.name: tool.schema for tool in tools}
    return Call(request, prepared.losses, prepared.names, schemas)
