"""Responses: a request is written."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Raw

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import OneTool, Request
from turnwire_agent.llm.shape import Encoded, native_blocks
from turnwire_agent.llm.shapes import media
from turnwire_agent.llm.shapes.arguments import sendable
from turnwire_agent.llm.shapes.body import written
from turnwire_agent.llm.shapes.call_ids import fitting
from turnwire_agent.llm.shapes.left_out import is_empty, left_out
from turnwire_agent.llm.shapes.result_text import result_text
from turnwire_agent.llm.transcript import (
    Assistant,
    Call,
    File,
    Image,
    Reasoning,
    Result,
    Text,
    User,
)

CALL_ID_CHARS: Final = 64


def encode(model: Model, request: Request) -> Encoded:
    """Write a request. See `turnwire_agent.llm.shape.Shape`."""
    losses: list[Loss] = []
    body: dict[str, Any] = {
        "model": model.name,
        "input": list(_items(model, request, losses)),
        "stream": True,
        "store": False,
    }
    if model.quirks.sealed_reasoning:
        body["include"] = ["reasoning.encrypted_content"]
    if request.instructions:
        body["instructions"] = request.instructions
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                "strict": tool.strict and model.quirks.strict_tools,
            }
            for tool in request.tools
        ]
        choice = request.tool_choice
        if isinstance(choice, OneTool):
            body["tool_choice"] = {"type": "function", "name": choice.name}
        else:
            body["tool_choice"] = choice
        if request.parallel_tools is not None:
            body["parallel_tool_calls"] = request.parallel_tools
    if request.effort is not None:
        body["reasoning"] = {"effort": request.effort, "summary": "auto"}
    if request.answer_schema is not None:
        schema = {"type": "json_schema", "name": "answer", "schema": request.answer_schema}
        body["text"] = {"format": schema}
    if request.stop:
        losses.append(Loss("stop", "dropped", "the wire has no stop sequences"))
    bounds = {
        "max_output_tokens": request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    body |= {name: value for name, value in bounds.items() if value is not None}
    return Encoded("/responses", written(body), losses=tuple(losses))


def _items(model: Model, request: Request, losses: list[Loss]) -> Iterator[dict[str, Any] | Raw]:
    as_sent = False
    last = len(request.transcript) - 1
    for number, message in enumerate(request.transcript):
        where = f"messages[{number}]"
        if isinstance(message, User):
            if content := _content(message.parts, where, losses, now=number == last):
                yield {"type": "message", "role": "user", "content": content}
            else:
                losses.append(Loss(where, "dropped", "there is nothing in it"))
        elif isinstance(message, Assistant):
            native = native_blocks(message, model)
            as_sent = bool(native)
            yield from native or _assistant(message, where, losses)
        else:
            for at, result in enumerate(message.results):
                call_id = result.call_id if as_sent else fitting(result.call_id, CALL_ID_CHARS)
                output: object = result_text(result)
                if files := _files(result, f"{where}.results[{at}]", losses):
                    output = [*_content((Text(result_text(result)),), where, losses), *files]
                yield {"type": "function_call_output", "call_id": call_id, "output": output}


def _assistant(message: Assistant, where: str, losses: list[Loss]) -> Iterator[dict[str, Any]]:
    for part in message.parts:
        if isinstance(part, Text):
            if part.text:
                yield {"type": "message", "role": "assistant", "content": part.text}
        elif isinstance(part, Call):
            arguments = sendable(part.arguments)
            if part.arguments.strip() and arguments != part.arguments:
                losses.append(Loss(f"{where}.arguments", "sent as text", "they are no JSON object"))
            yield {
                "type": "function_call",
                "call_id": fitting(part.id, CALL_ID_CHARS),
                "name": part.name,
                "arguments": arguments,
            }
        elif isinstance(part, Reasoning):
            losses.append(Loss(f"{where}.reasoning", "dropped", "it is another model's"))
        else:
            losses.append(Loss(f"{where}.files", "dropped", "an assistant's message has none"))


def _content(
    parts: Sequence[Text | Image | File], where: str, losses: list[Loss], *, now: bool = False
) -> list[dict[str, Any]]:
    content = []
    for number, part in enumerate(parts):
        place = f"{where}.parts[{number}]"
        if not isinstance(part, Text):
            if not is_empty(part, place, losses):
                content.append(_file(part, place, losses, now=now))
        elif part.text:
            content.append({"type": "input_text", "text": part.text})
    return content


def _files(result: Result, where: str, losses: list[Loss]) -> list[dict[str, Any]]:
    return [
        _file(part, place, losses, now=False)
        for number, part in enumerate(result.content)
        if not isinstance(part, Text)
        and not is_empty(part, place := f"{where}.content[{number}]", losses)
    ]


def _file(part: Image | File, where: str, losses: list[Loss], *, now: bool) -> dict[str, Any]:
    media_type = media.type_of(part)
    if media.is_image(part):
        return {"type": "input_image", "image_url": media.address(part), "detail": "auto"}
    if not part.data:
        return {"type": "input_file", "file_url": part.url}
    if media_type == "application/pdf":
        name = part.name if isinstance(part, File) else ""
        file = {"filename": name or "file.pdf", "file_data": media.address(part)}
        return {"type": "input_file"} | file
    if media_type.startswith("text/"):
        losses.append(Loss(where, "sent as text", "the wire has no files of this type"))
        return {"type": "input_text", "text": media.words(part)}
    return {"type": "input_text", "text": left_out(part, where, losses, now=now)}
