"""How a request is written."""

from typing import Any, Final

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import OneTool, Request
from turnwire_agent.llm.shape import Encoded
from turnwire_agent.llm.shapes.body import written
from turnwire_agent.llm.shapes.messages.content import messages_of
from turnwire_agent.llm.shapes.messages.thinking import thinking_of

VERSION: Final = ("anthropic-version", "2023-06-01")


def encode(model: Model, request: Request) -> Encoded:
    """Write a request. See `turnwire_agent.llm.shape.Shape`."""
    losses: list[Loss] = []
    max_tokens = request.max_tokens or model.max_output_tokens
    body: dict[str, Any] = {"model": model.name, "max_tokens": max_tokens, "stream": True}
    if request.instructions.strip():
        body["system"] = request.instructions
    body["messages"] = messages_of(model, request.transcript, losses)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "input_schema": tool.schema}
            | ({"description": tool.description} if tool.description else {})
            | ({"strict": True} if tool.strict and model.quirks.strict_tools else {})
            for tool in request.tools
        ]
        body["tool_choice"] = _tool_choice(request)
    thinking = thinking_of(model, request, max_tokens, losses)
    if thinking:
        body["thinking"] = thinking
    output: dict[str, Any] = {}
    if thinking.get("type") == "adaptive":
        output["effort"] = request.effort
    if request.answer_schema is not None:
        output["format"] = {"type": "json_schema", "schema": request.answer_schema}
    if output:
        body["output_config"] = output
    thinks = thinking.get("type", "disabled") != "disabled"
    body |= _sampling(request, losses, takes=model.quirks.sampling, thinks=thinks)
    stop = [word for word in request.stop if word.strip()]
    if len(stop) < len(request.stop):
        losses.append(Loss("stop", "dropped", "the wire has no word of white space alone"))
    if stop:
        body["stop_sequences"] = stop
    return Encoded("/messages", written(body), (VERSION,), tuple(losses))


def _tool_choice(request: Request) -> dict[str, Any]:
    choice = request.tool_choice
    if choice == "none":
        return {"type": "none"}
    field: dict[str, Any]
    if isinstance(choice, OneTool):
        field = {"type": "tool", "name": choice.name}
    else:
        field = {"type": "any" if choice == "required" else "auto"}
    if request.parallel_tools is not None:
        field["disable_parallel_tool_use"] = not request.parallel_tools
    return field


def _sampling(
    request: Request, losses: list[Loss], *, takes: bool, thinks: bool
) -> dict[str, float]:
    """Temperature or `top_p`, from 0 to 1, of a model that takes them and does not think."""
    sent: dict[str, float] = {}
    for name, value in (("temperature", request.temperature), ("top_p", request.top_p)):
        if value is None:
            continue
        if not takes:
            losses.append(Loss(name, "dropped", "the model does not take it"))
        elif thinks:
            losses.append(Loss(name, "dropped", "a model that thinks has its own"))
        elif sent:
            losses.append(Loss(name, "dropped", "the wire takes one of the two"))
        elif value > 1:
            losses.append(Loss(name, "sent as 1", "the wire has none above"))
            sent[name] = 1.0
        else:
            sent[name] = value
    return sent
