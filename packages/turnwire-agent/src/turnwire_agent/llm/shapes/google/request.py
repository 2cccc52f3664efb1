"""`streamGenerateContent`: a request is written."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Raw

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Effort, OneTool, Request
from turnwire_agent.llm.shape import Encoded, native_blocks
from turnwire_agent.llm.shapes import media
from turnwire_agent.llm.shapes.arguments import is_object, sendable
from turnwire_agent.llm.shapes.body import written
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

THINKING: Final[dict[Effort, dict[str, Any]]] = {
    "none": {"thinkingBudget": 0},
    "low": {"includeThoughts": True, "thinkingLevel": "LOW"},
    "medium": {"includeThoughts": True, "thinkingLevel": "MEDIUM"},
    "high": {"includeThoughts": True, "thinkingLevel": "HIGH"},
}

UNSIGNED: Final = "skip_thought_signature_validator"
"""The signature of a call that another model made."""

TAKEN: Final = frozenset(
    {"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf"}
)
"""Types of files that models of this wire read. For any other a whole request is refused."""

TAKEN_KINDS: Final = ("audio/", "video/", "text/")

MODES: Final = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


def encode(model: Model, request: Request) -> Encoded:
    """Write a request. See `turnwire_agent.llm.shape.Shape`."""
    losses: list[Loss] = []
    body: dict[str, Any] = {"contents": list(_contents(model, request, losses))}
    if request.instructions:
        body["systemInstruction"] = {"parts": [{"text": request.instructions}]}
    if request.tools:
        declared = [
            {
                "name": tool.name,
                "description": tool.description,
                "parametersJsonSchema": tool.schema,
            }
            for tool in request.tools
        ]
        choice = request.tool_choice
        calling: dict[str, Any] = {"mode": "ANY"}
        if isinstance(choice, OneTool):
            calling["allowedFunctionNames"] = [choice.name]
        else:
            calling["mode"] = MODES[choice]
        body["tools"] = [{"functionDeclarations": declared}]
        body["toolConfig"] = {"functionCallingConfig": calling}
        if request.parallel_tools is False:
            losses.append(Loss("parallel_tools", "dropped", "the wire cannot forbid it"))
    settings = {
        "maxOutputTokens": request.max_tokens,
        "temperature": request.temperature,
        "topP": request.top_p,
        "stopSequences": list(request.stop) or None,
        "thinkingConfig": THINKING[request.effort] if request.effort else None,
        "responseMimeType": "application/json" if request.answer_schema else None,
        "responseJsonSchema": request.answer_schema,
    }
    if given := {name: value for name, value in settings.items() if value is not None}:
        body["generationConfig"] = given
    name = model.name if "/" in model.name else f"models/{model.name}"
    path = f"/{quote(name)}:streamGenerateContent?alt=sse"
    return Encoded(path, written(body), losses=tuple(losses))


def _contents(model: Model, request: Request, losses: list[Loss]) -> Iterator[dict[str, Any]]:
    sent_ids: set[str] = set()
    last = len(request.transcript) - 1
    for number, message in enumerate(request.transcript):
        where = f"messages[{number}]"
        parts: Sequence[dict[str, Any] | Raw]
        if isinstance(message, User):
            parts = list(_parts(message.parts, f"{where}.parts", losses, now=number == last))
            role = "user"
        elif isinstance(message, Assistant):
            native = native_blocks(message, model)
            sent_ids = _ids(native or [])
            role, parts = "model", native or list(_assistant(message, where, losses))
        else:
            role, parts = "user", list(_results(message.results, sent_ids, model, where, losses))
        if parts:
            yield {"role": role, "parts": parts}


def _ids(native: list[Raw]) -> set[str]:
    """The ids that the provider gave its calls. It gets no others back."""
    parts = [msgspec.json.decode(part) for part in native]
    calls = [part.get("functionCall") for part in parts if isinstance(part, dict)]
    ids = [call.get("id") for call in calls if isinstance(call, dict)]
    return {call_id for call_id in ids if isinstance(call_id, str)}


def _assistant(message: Assistant, where: str, losses: list[Loss]) -> Iterator[dict[str, Any]]:
    unsigned = {"thoughtSignature": UNSIGNED}
    for part in message.parts:
        if isinstance(part, Text):
            if part.text:
                yield {"text": part.text}
        elif isinstance(part, Call):
            call = {"name": part.name, "args": _arguments(part, where, losses)}
            yield {"functionCall": call} | unsigned
            unsigned = {}
        elif isinstance(part, Reasoning):
            losses.append(Loss(f"{where}.reasoning", "dropped", "it is another model's"))
        else:
            yield from _parts((part,), f"{where}.files", losses)


def _arguments(call: Call, where: str, losses: list[Loss]) -> Raw:
    if call.arguments.strip() and not is_object(call.arguments):
        losses.append(Loss(f"{where}.arguments", "sent as text", "they are no JSON object"))
    return Raw(sendable(call.arguments).encode())


def _results(
    results: Sequence[Result], sent_ids: set[str], model: Model, where: str, losses: list[Loss]
) -> Iterator[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for at, result in enumerate(results):
        key = "output" if result.outcome == "done" else "error"
        made = [part for part in result.content if not isinstance(part, Text)]
        sent = list(_parts(made, f"{where}.results[{at}].files", losses))
        files = [each for each in sent if "text" not in each]
        texts = [result_text(result), *(each["text"] for each in sent if "text" in each)]
        response: dict[str, Any] = {
            "name": result.name,
            "response": {key: "\n".join(each for each in texts if each)},
        }
        if result.call_id in sent_ids:
            response["id"] = result.call_id
        if files and model.quirks.result_images:
            response["parts"] = files
        elif files:
            shown += [{"text": f"From the result of {result.name}:"}, *files]
        yield {"functionResponse": response}
    if shown:
        losses.append(Loss(where, "files sent as a user's", "this model's results have text alone"))
        yield from shown


def _parts(
    parts: Sequence[Text | Image | File], where: str, losses: list[Loss], *, now: bool = False
) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(parts):
        place = f"{where}[{number}]"
        if isinstance(part, Text):
            if part.text:
                yield {"text": part.text}
        elif not is_empty(part, place, losses):
            yield _file(part, place, losses, now=now)


def _file(part: Image | File, where: str, losses: list[Loss], *, now: bool) -> dict[str, Any]:
    media_type = media.type_of(part)
    if media_type not in TAKEN and not media_type.startswith(TAKEN_KINDS):
        return {"text": left_out(part, where, losses, now=now)}
    if part.data:
        return {"inlineData": {"mimeType": media_type, "data": media.encoded(part)}}
    return {"fileData": {"mimeType": media_type, "fileUri": part.url}}
