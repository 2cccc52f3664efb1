"""Chat Completions: a request is written."""

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

CALL_ID_CHARS: Final = 40

AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

NOTHING: Final = "there is nothing in it"
"""Several servers refuse a message of no words."""


def encode(model: Model, request: Request) -> Encoded:
    """Write a request. See `turnwire_agent.llm.shape.Shape`."""
    losses: list[Loss] = []
    body: dict[str, Any] = {
        "model": model.name,
        "messages": list(_messages(model, request, losses)),
        "stream": True,
    }
    quirks = model.quirks
    if quirks.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                }
                | ({"strict": True} if tool.strict and quirks.strict_tools else {}),
            }
            for tool in request.tools
        ]
        choice = request.tool_choice
        if isinstance(choice, OneTool):
            body["tool_choice"] = {"type": "function", "function": {"name": choice.name}}
        else:
            body["tool_choice"] = choice
        if request.parallel_tools is not None:
            body["parallel_tool_calls"] = request.parallel_tools
    if request.effort is not None:
        if quirks.effort_field:
            body["reasoning_effort"] = request.effort
        else:
            losses.append(Loss("effort", "dropped", "the server does not know it"))
    if request.answer_schema is not None:
        schema = {"name": "answer", "schema": request.answer_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    bounds = {
        quirks.max_tokens_field: request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "stop": list(request.stop) or None,
    }
    body |= {name: value for name, value in bounds.items() if value is not None}
    return Encoded("/chat/completions", written(body), losses=tuple(losses))


def _messages(model: Model, request: Request, losses: list[Loss]) -> Iterator[dict[str, Any] | Raw]:
    if request.instructions:
        yield {"role": model.quirks.system_role, "content": request.instructions}
    as_sent = False
    last = len(request.transcript) - 1
    for number, message in enumerate(request.transcript):
        where = f"messages[{number}]"
        if isinstance(message, User):
            if content := _content(message.parts, where, losses, now=number == last):
                yield {"role": "user", "content": content}
            else:
                losses.append(Loss(where, "dropped", NOTHING))
        elif isinstance(message, Assistant):
            native = native_blocks(message, model)
            as_sent = bool(native)
            if native:
                yield from native
            elif answer := _assistant(message, where, losses):
                yield answer
        else:
            shown: list[dict[str, Any]] = []
            for at, result in enumerate(message.results):
                call_id = result.call_id if as_sent else fitting(result.call_id, CALL_ID_CHARS)
                content, files = _result(result, f"{where}.results[{at}]", losses)
                if files and model.quirks.result_images:
                    content = [*([_text(content)] if content else []), *files]
                elif files:
                    shown += [_text(f"From the result of the call {call_id}:"), *files]
                yield {"role": "tool", "tool_call_id": call_id, "content": content}
            if shown:
                losses.append(
                    Loss(where, "files sent as a user's", "a tool's message has text alone")
                )
                yield {"role": "user", "content": shown}


def _result(result: Result, where: str, losses: list[Loss]) -> tuple[Any, list[dict[str, Any]]]:
    """The words of a result, and its files. A file of text is words."""
    texts, files = [result_text(result)], []
    for number, part in enumerate(result.content):
        place = f"{where}.content[{number}]"
        if isinstance(part, Text) or is_empty(part, place, losses):
            continue
        sent = _file(part, place, losses, now=False)
        if sent["type"] == "text":
            texts.append(sent["text"])
        else:
            files.append(sent)
    return "\n".join(each for each in texts if each), files


def _assistant(message: Assistant, where: str, losses: list[Loss]) -> dict[str, Any] | None:
    sent: dict[str, Any] = {"role": "assistant"}
    texts = [part.text for part in message.parts if isinstance(part, Text) and part.text]
    if texts:
        sent["content"] = "\n\n".join(texts)
    if any(isinstance(part, Reasoning) for part in message.parts):
        losses.append(Loss(f"{where}.reasoning", "dropped", "it is another model's"))
    if any(isinstance(part, Image | File) for part in message.parts):
        losses.append(Loss(f"{where}.files", "dropped", "an assistant's message has none"))
    if message.calls:
        sent["tool_calls"] = [_call(call, where, losses) for call in message.calls]
    if len(sent) == 1:
        losses.append(Loss(where, "dropped", NOTHING))
        return None
    return sent


def _call(call: Call, where: str, losses: list[Loss]) -> dict[str, Any]:
    arguments = sendable(call.arguments)
    if call.arguments.strip() and arguments != call.arguments:
        losses.append(Loss(f"{where}.arguments", "sent as text", "they are no JSON object"))
    function = {"name": call.name, "arguments": arguments}
    return {"id": fitting(call.id, CALL_ID_CHARS), "type": "function", "function": function}


def _content(
    parts: Sequence[Text | Image | File], where: str, losses: list[Loss], *, now: bool = False
) -> str | list[dict[str, Any]]:
    """A string if there is one text, which every server takes; else a list of parts."""
    content = []
    for number, part in enumerate(parts):
        if not isinstance(part, Text):
            place = f"{where}.parts[{number}]"
            if not is_empty(part, place, losses):
                content.append(_file(part, place, losses, now=now))
        elif part.text:
            content.append(_text(part.text))
    if not content:
        return ""
    if len(content) == 1 and content[0]["type"] == "text":
        return str(content[0]["text"])
    return content


def _text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def _file(part: Image | File, where: str, losses: list[Loss], *, now: bool) -> dict[str, Any]:
    media_type = media.type_of(part)
    if media.is_image(part):
        return {"type": "image_url", "image_url": {"url": media.address(part)}}
    if part.data and media_type in AUDIO:
        audio = {"data": media.encoded(part), "format": AUDIO[media_type]}
        return {"type": "input_audio", "input_audio": audio}
    if part.data and media_type == "application/pdf":
        name = part.name if isinstance(part, File) else ""
        file = {"filename": name or "file.pdf", "file_data": media.address(part)}
        return {"type": "file", "file": file}
    if part.data and media_type.startswith("text/"):
        losses.append(Loss(where, "sent as text", "the wire has no files of this type"))
        return _text(media.words(part))
    return _text(left_out(part, where, losses, now=now))
