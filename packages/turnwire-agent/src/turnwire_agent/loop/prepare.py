"""From a session's transcript to a request that a provider takes, and back.

A transcript has the registered names of tools, and may end in calls without results: somebody
stopped the turn, or the process died. Providers refuse both.
"""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request, ToolSpec
from turnwire_agent.llm.transcript import Assistant, Call, Message, Result, Results, Transcript
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.names import WireNames, wire_name
from turnwire_agent.tools.schema.normalise import normalise
from turnwire_agent.tools.schema.rules import Shape


class Prepared(Struct, frozen=True):
    """What is sent, and what is needed to understand the answer."""

    request: Request
    names: WireNames
    losses: tuple[Loss, ...] = ()
    """What of the tools' schemas the provider is not sent as a rule."""


def prepare(model: Model, transcript: Transcript, tools: Tools, instructions: str = "") -> Prepared:
    """Write the request of one call of a model.

    Args:
        model: Who is asked.
        transcript: With registered names. What it lacks is added, what no provider takes left out.
        tools: Those that the model may call.
        instructions: Before all of it.
    """
    names = tools.wire(model.shape)
    specs, losses = [], []
    for tool in tools:
        normalised = normalise(tool.schema, model.shape)
        specs.append(
            ToolSpec(names.wire(tool.name), tool.description, normalised.schema, normalised.strict)
        )
        losses += [
            Loss(f"tools.{tool.name}{loss.where}", loss.what, loss.why)
            for loss in normalised.losses
        ]
    request = Request(
        transcript=tuple(_on_the_wire(message, model.shape) for message in repaired(transcript)),
        instructions=instructions,
        tools=tuple(specs),
    )
    return Prepared(request, names, tuple(losses))


def registered(message: Assistant, names: WireNames) -> Assistant:
    """An answer with the registered names. A name that the model invented stays as it is."""
    parts = tuple(
        replace(part, name=names.tool(part.name) or part.name) if isinstance(part, Call) else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def repaired(transcript: Transcript) -> Transcript:
    """The transcript with one result for each call, right behind it, in the order of the calls.

    A call without a result gets one with the outcome `unknown`. A result without a call is left
    out.
    """
    messages: list[Message] = []
    waiting: tuple[Call, ...] = ()
    for message in transcript:
        if isinstance(message, Results):
            if waiting:
                messages.append(_results(waiting, message.results))
            waiting = ()
            continue
        if waiting:
            messages.append(_results(waiting, ()))
        waiting = message.calls if isinstance(message, Assistant) else ()
        messages.append(message)
    if waiting:
        messages.append(_results(waiting, ()))
    return tuple(messages)


def _results(calls: Iterable[Call], results: Iterable[Result]) -> Results:
    by_call = {result.call_id: result for result in results}
    return Results(
        tuple(
            by_call.get(call.id) or Result(call.id, call.name, outcome="unknown") for call in calls
        )
    )


def _on_the_wire(message: Message, shape: Shape) -> Message:
    """A message with names that the wire takes. Those of tools that are gone get one too."""
    if isinstance(message, Assistant):
        parts = tuple(
            replace(part, name=wire_name(part.name, shape)) if isinstance(part, Call) else part
            for part in message.parts
        )
        return replace(message, parts=parts)
    if isinstance(message, Results):
        return Results(
            tuple(replace(each, name=wire_name(each.name, shape)) for each in message.results)
        )
    return message
