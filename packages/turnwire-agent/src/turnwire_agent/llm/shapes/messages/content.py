"""A transcript as messages of blocks."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.shape import UnsendableError, native_blocks
from turnwire_agent.llm.shapes import media
from turnwire_agent.llm.shapes.arguments import BROKEN, is_object
from turnwire_agent.llm.shapes.call_ids import fitting
from turnwire_agent.llm.shapes.left_out import is_empty, left_out
from turnwire_agent.llm.shapes.result_text import result_text
from turnwire_agent.llm.transcript import (
    Assistant,
    File,
    Image,
    Reasoning,
    Result,
    Text,
    Transcript,
    User,
)

CALL_ID_CHARS: Final = 64
TITLE_CHARS: Final = 500


def messages_of(model: Model, transcript: Transcript, losses: list[Loss]) -> list[dict[str, Any]]:
    """The field `messages`. Whoever speaks twice has one message; who says nothing has none.

    Raises:
        UnsendableError: In what the user says now, a file cannot be sent, or there is nothing. A
            model that was sent its own last answer would go on with that.
    """
    messages: list[dict[str, Any]] = []
    used: set[str] = set()
    ids: dict[str, str] = {}
    for number, message in enumerate(transcript):
        where = f"messages[{number}]"
        role = "user"
        content: list[dict[str, Any] | Raw]
        if isinstance(message, User):
            now = number == len(transcript) - 1
            content = list(_content_of(message.parts, where, losses, now=now))
        elif isinstance(message, Assistant):
            role = "assistant"
            native = native_blocks(message, model)
            ids = {call.id: call.id for call in message.calls}
            if not native:
                ids = {call_id: _unused(call_id, number, used) for call_id in ids}
            used |= set(ids.values())
            content = [*(native or _answered(message, ids, where, losses))]
        else:
            content = [
                _result(result, ids, f"{where}.results[{at}]", losses)
                for at, result in enumerate(message.results)
            ]
        if not content:
            losses.append(Loss(where, "dropped", "there is nothing in it"))
        elif messages and messages[-1]["role"] == role:
            messages[-1]["content"] += content
        else:
            messages.append({"role": role, "content": content})
    if not messages or (isinstance(transcript[-1], User) and messages[-1]["role"] != "user"):
        raise UnsendableError(f"messages[{len(transcript) - 1}]: there is nothing in it")
    return messages


def _unused(call_id: str, number: int, used: set[str]) -> str:
    """An id that fits, and that no call before has: the provider refuses one that is there twice.

    Some models number the calls of each answer from 0 on.
    """
    fits = fitting(call_id, CALL_ID_CHARS)
    return fitting(f"{call_id}/{number}", CALL_ID_CHARS) if fits in used else fits


def input_of(arguments: str) -> Raw | dict[str, str]:
    """The input of a call as the wire has it, an object; a dict if it had to be made one."""
    if not arguments.strip():
        return Raw(b"{}")
    return Raw(arguments.encode()) if is_object(arguments) else {BROKEN: arguments}


def _answered(
    message: Assistant, ids: Mapping[str, str], where: str, losses: list[Loss]
) -> Iterator[dict[str, Any]]:
    """What another model answered: its words, then its calls."""
    for part in message.parts:
        if isinstance(part, Text) and part.text.strip():
            yield {"type": "text", "text": part.text}
    if any(isinstance(part, Reasoning) for part in message.parts):
        losses.append(Loss(f"{where}.reasoning", "dropped", "it is another model's"))
    if any(isinstance(part, Image | File) for part in message.parts):
        losses.append(Loss(f"{where}.files", "dropped", "an assistant's message has none"))
    for call in message.calls:
        given = input_of(call.arguments)
        if isinstance(given, dict):
            losses.append(Loss(f"{where}.arguments", "sent as text", "they are no JSON object"))
        yield {"type": "tool_use", "id": ids[call.id], "name": call.name, "input": given}


def _result(
    result: Result, ids: Mapping[str, str], where: str, losses: list[Loss]
) -> dict[str, Any]:
    call_id = ids.get(result.call_id) or fitting(result.call_id, CALL_ID_CHARS)
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
    sent = [
        file
        for number, part in enumerate(result.content)
        if not isinstance(part, Text)
        for file in _file(part, f"{where}.content[{number}]", losses, now=False)
    ]
    files = [each for each in sent if each["type"] != "text"]
    texts = [result_text(result), *(each["text"] for each in sent if each["type"] == "text")]
    words = "\n".join(each for each in texts if each)
    if files:
        block["content"] = [*_content_of((Text(words),), where, losses), *files]
    elif words.strip():
        block["content"] = words
    # What is an error may have words alone. With files, only the words in front say what it is.
    if result.outcome != "done" and not files:
        block["is_error"] = True
    return block


def _content_of(
    parts: Sequence[Text | Image | File], where: str, losses: list[Loss], *, now: bool = False
) -> Iterator[dict[str, Any]]:
    for number, part in enumerate(parts):
        if not isinstance(part, Text):
            yield from _file(part, f"{where}.parts[{number}]", losses, now=now)
        elif part.text.strip():  # a text of white space alone is refused
            yield {"type": "text", "text": part.text}


def _file(
    part: Image | File, where: str, losses: list[Loss], *, now: bool
) -> Iterator[dict[str, Any]]:
    media_type = media.type_of(part)
    title = {"title": part.name[:TITLE_CHARS]} if isinstance(part, File) and part.name else {}
    source = {"type": "url", "url": part.url}
    if part.data:
        source = {"type": "base64", "media_type": media_type, "data": media.encoded(part)}
    if is_empty(part, where, losses):
        return
    if media.is_image(part):
        yield {"type": "image", "source": source}
    elif media_type == "application/pdf":
        yield {"type": "document", "source": source} | title
    elif media_type.startswith("text/") and part.data:
        if media_type != "text/plain":
            losses.append(Loss(where, "sent as text/plain", "the wire has no other texts"))
        plain = {"type": "text", "media_type": "text/plain", "data": media.words(part)}
        yield {"type": "document", "source": plain} | title
    else:
        yield {"type": "text", "text": left_out(part, where, losses, now=now)}
