"""The items of an answer, as an agent describes them when they begin and when they are done.

`read` returns an `Item`: a message, a call of a tool, its output, a request for an approval, or
reasoning. Tools that run at the server have a type of their own each (`web_search_call`); what they
have in common is read alike.
"""

from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import MANY, HandedOn, Word
from turnwire.core.wire import json_text, lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import errors

APPROVAL: Final = "mcp_approval_request"
MESSAGE: Final = "message"
REASONING: Final = "reasoning"
LIST_OF_TOOLS: Final = "mcp_list_tools"

OUTPUT: Final = "_call_output"
CALL: Final = "_call"

_TOOLS: Final = frozenset({"function_call", "custom_tool_call", "mcp_call", "tool_call"})
"""Calls that have a name of their own."""

RUN_BY_OTHERS: Final = frozenset(
    {
        *("function_call", "custom_tool_call", "computer_call", "local_shell_call", "shell_call"),
        "apply_patch_call",
    }
)
"""Calls whose outputs are items of their own. The others have it in the item of the call."""


ANSWERED: Final = {kind: f"{kind}_output" for kind in ("function_call", "custom_tool_call")}
"""The calls that need an output in a conversation, and its type."""


class Item(Struct, frozen=True):
    """An item. No field but the type is checked: a wrong one hides no other."""

    type: Word
    id: Raw = Raw()
    call_id: Raw = Raw()
    name: Raw = Raw()
    status: Raw = Raw()
    arguments: Raw = Raw()
    input: Raw = Raw()
    action: Raw = Raw()
    actions: Raw = Raw()
    operation: Raw = Raw()
    queries: Raw = Raw()
    code: Raw = Raw()
    output: Raw = Raw()
    outputs: Raw = Raw()
    results: Raw = Raw()
    result: Raw = Raw()
    output_format: Raw = Raw()
    error: Raw = Raw()
    content: Raw = Raw()
    summary: Raw = Raw()
    encrypted_content: Raw = Raw()
    server_label: Raw = Raw()
    approval_request_id: Raw = Raw()


class Part(Struct, frozen=True):
    """A part of a message, of reasoning or of an output."""

    text: Raw = Raw()
    refusal: Raw = Raw()
    image_url: Raw = Raw()
    annotations: Raw = Raw()


class Annotation(Struct, frozen=True):
    type: Word = ""
    url: HandedOn | None = None
    title: HandedOn | None = None


class _Source(Struct, frozen=True):
    url: HandedOn


class _Action(Struct, frozen=True):
    sources: Raw = Raw()


_decode_item = msgspec.json.Decoder(Item).decode
_decode_list = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_decode_part = msgspec.json.Decoder(Part).decode
_decode_annotation = msgspec.json.Decoder(Annotation).decode
_decode_source = msgspec.json.Decoder(_Source).decode
_decode_action = msgspec.json.Decoder(_Action).decode


def read(raw: Raw) -> Item | None:
    """Return an item; None if it is none."""
    return lenient.field(_decode_item, raw)


def raw_list(raw: Raw) -> list[Raw]:
    """Return the elements of a list; none if it is no list."""
    return lenient.field(_decode_list, raw) or []


def parts(raw: Raw, count_left_out: Callable[[Raw], None]) -> list[Part]:
    """Return the parts of a content. A plain text is a part of its own."""
    if bytes(raw).startswith(b'"'):
        return [Part(text=raw)]
    return list(lenient.each(_decode_part, raw_list(raw), count_left_out))


def annotation(raw: Raw) -> Annotation | None:
    """Return an annotation of a text."""
    return lenient.field(_decode_annotation, raw)


def word(raw: Raw) -> str:
    """Return a short string of an item; empty for anything else."""
    return safe_json.short_string(raw) or ""


def tool_name(item: Item) -> str:
    """Return the name of the tool of a call."""
    named = word(item.name) if item.type in _TOOLS or item.type == APPROVAL else ""
    return named or item.type.removesuffix(CALL)


def is_call(item: Item) -> bool:
    """Whether an item is a call of a tool."""
    return item.type.endswith(CALL)


def is_output(item: Item) -> bool:
    """Whether an item is the output of a call."""
    return item.type.endswith(OUTPUT)


def input_of(item: Item) -> Raw | None:
    """Return the input of a call, as far as the item has it; None if it has none yet."""
    for text in (item.arguments, item.input):
        if (found := safe_json.string(text)) is not None:
            return json_text.parsed(found) if found else None
    for value in (item.arguments, item.action, item.actions, item.operation):
        if _is_set(value):
            return value.copy()
    for name, value in (("queries", item.queries), ("code", item.code)):
        if _is_set(value):
            return Raw(b'{"%b":%b}' % (name.encode(), bytes(value)))
    return None


def is_failed(item: Item) -> bool:
    """Whether a call or its output says that it failed."""
    return errors.is_error(item.error) or word(item.status) in {"failed", "incomplete"}


def sources(item: Item, count_left_out: Callable[[Raw], None]) -> list[str]:
    """Return the pages that a search found."""
    action = lenient.field(_decode_action, item.action)
    found = raw_list(Raw() if action is None else action.sources)
    return [each.url for each in lenient.each(_decode_source, found, count_left_out)]


def has_output(item: Item) -> bool:
    """Whether the item of an output has one, which may come later."""
    return bytes(item.output) not in {b"", b"null", b'""', b"[]"}


def picture_of(item: Item) -> str:
    """Return the picture that a call made, as a `data:` URL; empty if it made none."""
    picture = safe_json.string(item.result)
    return f"data:image/{word(item.output_format) or 'png'};base64,{picture}" if picture else ""


class Outcome(Struct, frozen=True):
    """What a call brought: an output, and the URLs of its pictures."""

    output: Raw
    pictures: tuple[str, ...] = ()


def outcome_of(item: Item, frame_stats: FrameStats) -> Outcome:
    """Return the outcome of a call that is done, or of the item of its output."""
    given = next((raw for raw in (item.output, item.results, item.outputs) if _is_set(raw)), Raw())
    if not given:
        status = word(item.status) or "completed"
        return Outcome(Raw(msgspec.json.encode({"status": status})))
    if not is_output(item) or not bytes(given).startswith(b"["):
        return Outcome(json_text.structured(given).copy())
    texts: list[str] = []
    pictures: list[str] = []
    left_out: list[Raw] = []
    for part in parts(given, left_out.append):
        if (text := safe_json.string(part.text)) is not None:
            texts.append(text)
        elif (url := safe_json.string(part.image_url)) is not None:
            pictures.append(url)
        else:
            left_out.append(Raw())
    if not texts and not pictures:  # of a tool with words of its own
        return Outcome(given.copy())
    for part_left_out in left_out:
        frame_stats.count_left_out("part of a result", len(part_left_out))
    text = safe_json.join_surrogates("".join(texts))
    return Outcome(json_text.structured(Raw(msgspec.json.encode(text))), tuple(pictures))


def _is_set(raw: Raw) -> bool:
    return bytes(raw) not in {b"", b"null"}
