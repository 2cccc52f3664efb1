"""What the chunks of an answer tell, one after the other: text, reasoning, calls, sources, files.

`Progress.take` returns the events of a chunk. It knows nothing of how a turn begins and ends
(`turn`).
"""

from collections.abc import Iterator
from typing import Annotated, Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import KEPT_BYTES_MAX, MANY, HandedOn, Word
from turnwire.core.events import Event, FilePart, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.ui_stream.media import is_file
from turnwire.core.wire import json_text, lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.sources import Sources
from turnwire.dialects.openai_chat import reasons
from turnwire.dialects.openai_chat.calls import Calls
from turnwire.dialects.openai_chat.frames import (
    Chunk,
    Delta,
    ToolCall,
    ToolProgress,
    is_other,
    is_set,
)
from turnwire.dialects.openai_chat.pieces import text_of

PICTURE_MAX: Final = 4_194_304
"""Longest URL of a picture that is shown, in characters."""


class _Thought(Struct, frozen=True):
    text: HandedOn


class _Part(Struct, frozen=True):
    """A part of a content that is no string. `thinking` is a list of parts, or a string."""

    type: Word
    text: Raw = Raw()
    thinking: Raw = Raw()


class _Link(Struct, frozen=True):
    """A page or a picture; some servers have it in a field of its own."""

    url: Raw = Raw()
    title: Raw = Raw()
    url_citation: Raw = Raw()
    image_url: Raw = Raw()


class _Value(Struct, frozen=True):
    value: HandedOn


_Raws = Annotated[list[Raw], MANY]

_decode_list = msgspec.json.Decoder(_Raws).decode
_decode_part = msgspec.json.Decoder(_Part).decode
_decode_thought = msgspec.json.Decoder(_Thought).decode
_decode_link = msgspec.json.Decoder(_Link).decode
_decode_value = msgspec.json.Decoder(_Value).decode

_REFUSAL: Final = "refusal"

_TOOLS: Final = ("tool", "function")
"""The roles of tools, whose words are no answer."""


class Progress:
    """What a turn tells the client."""

    def __init__(self, turn_id: str, frame_stats: FrameStats) -> None:
        self.calls = Calls(turn_id)
        self.usage: Raw | None = None
        """The last usage that came: later ones replace it, and are never added."""
        self.has_text = False
        self.has_refusal = False
        self.finish_reason: str | None = None
        """Why the model ended, as it last said; None if it goes on behind its calls."""
        self.goes_on = False
        """Whether the agent goes on behind that reason: there are calls, whose tools it runs."""
        self.is_plain = False
        """Whether the next delta is a delta and nothing else, if its chunk has no more."""
        self._has_content = False
        """Whether any of the answer came."""
        self._has_pictures = False
        self._sources = Sources(frame_stats)
        self._block: str | None = None
        """Of which kind the last delta was: `text`, `reasoning` or `refusal`."""
        self._frame_stats = frame_stats

    def plain_text(self, chunk: Chunk) -> str | None:
        """The text of a chunk that is a text delta and nothing else; None if it is more."""
        if not self.is_plain:
            return None
        match chunk.choices:
            case [choice]:
                delta = choice.delta
            case _:
                return None
        if delta is None or type(delta.content) is not str or not delta.content:
            return None
        if delta.role and delta.role != "assistant":
            return None
        if choice.finish_reason or choice.index or choice.error or choice.message is not None:
            return None
        if chunk.usage or chunk.error or chunk.citations or chunk.x_groq is not None:
            return None
        if delta.tool_calls or delta.function_call is not None or delta.audio or delta.images:
            return None
        if delta.reasoning_content or delta.reasoning or delta.refusal or delta.annotations:
            return None
        return None if choice.logprobs and is_set(choice.logprobs) else delta.content

    def take(self, chunk: Chunk) -> list[Event]:
        """Return the events of a chunk."""
        self.is_plain = False
        new: list[Event] = []
        for choice in chunk.choices or ():
            if is_other(choice):
                self._frame_stats.count_left_out("choice", 0)
                continue
            if is_set(choice.logprobs):
                self._frame_stats.count_left_out("logprobs", len(choice.logprobs))
            new += self._delta(choice.delta)
            reason = reasons.read(choice.finish_reason)
            new += self._message(choice.message, is_last=reason is not None)
            if reason is not None:
                self.finish_reason = reason
                new += self.calls.end_round()
                self.goes_on = reason in reasons.CALLING or self.calls.are_open
        self._note_usage(chunk)
        self._cite(chunk.citations)
        self.is_plain = self._block == "text" and self.finish_reason is None
        return new

    def tool_progress(self, progress: ToolProgress) -> list[Event]:
        """Return the events of what an agent says of one of its tools."""
        new = self.calls.progress(progress)
        if new:
            self._block = None
            self.is_plain = False
        if self.finish_reason is not None and self.calls.are_open:
            self.goes_on = True
        return new

    def finish(self) -> list[Event]:
        """The turn is over. Return what waited for its end."""
        self.is_plain = False
        return [*self._sources.take()]

    def _note_usage(self, chunk: Chunk) -> None:
        of_groq = Raw() if chunk.x_groq is None else chunk.x_groq.usage
        for usage in (chunk.usage, of_groq):
            if bytes(usage).startswith(b"{") and len(usage) <= KEPT_BYTES_MAX:
                self.usage = usage.copy()

    def _delta(self, delta: Delta | None) -> list[Event]:
        new = [] if delta is None else list(self._content(delta))
        self._has_content = self._has_content or bool(new)
        return new

    def _message(self, message: Delta | None, *, is_last: bool) -> list[Event]:
        """Take a whole answer. Most servers that send one repeat in it what they streamed."""
        if message is None or not self._has_content:
            return self._delta(message)
        return list(self._not_streamed(message)) if is_last else []

    def _not_streamed(self, message: Delta) -> Iterator[Event]:
        """What only the whole answer has."""
        if not self.has_text and not self.has_refusal:
            yield from self._text(message)
        for piece in list(filter(self.calls.is_new, self._pieces(message))):
            yield from self._call(piece)
        self._cite(message.annotations)
        if not self._has_pictures:
            yield from self._pictures(message)

    def _content(self, delta: Delta) -> Iterator[Event]:
        if delta.role in _TOOLS:
            yield from self._output(delta)
            return
        yield from self._write("reasoning", _reasoning(delta))
        yield from self._text(delta)
        if refusal := safe_json.string(delta.refusal):
            self.has_refusal = True
            yield from self._write(_REFUSAL, refusal)
        for piece in self._pieces(delta):
            yield from self._call(piece)
        self._cite(delta.annotations)
        yield from self._pictures(delta)
        for what in ("audio", "reasoning_details"):
            if is_set(given := getattr(delta, what)):
                self._frame_stats.count_left_out(what, len(given))

    def _text(self, delta: Delta) -> Iterator[Event]:
        if isinstance(delta.content, str):
            yield from self._write("text", delta.content)
        elif delta.content is not None:
            yield from self._parts(delta.content)

    def _output(self, delta: Delta) -> Iterator[Event]:
        """What a tool returned. An empty output is none: what comes behind it is the output."""
        if not delta.content:
            return
        output = _output_of(delta.content)
        call_id = text_of(delta.tool_call_id)
        new = self.calls.output(call_id, output) if call_id else []
        if not new:
            self._frame_stats.count_left_out("output of a tool", len(output))
            return
        self._block = None
        yield from new

    def _pieces(self, delta: Delta) -> Iterator[ToolCall]:
        if isinstance(delta.tool_calls, list):
            yield from delta.tool_calls
        elif delta.tool_calls:
            self._frame_stats.count_left_out("tool_calls", 1)
        if delta.function_call is not None:  # the form before there were several calls
            yield ToolCall(index=Raw(b"0"), function=delta.function_call)

    def _call(self, piece: ToolCall) -> list[Event]:
        new = self.calls.take(piece)
        if not new:
            return []
        # Another round of calls, which may be cut.
        self._block, self.finish_reason, self.goes_on = None, None, False
        return new

    def _go_on(self) -> Iterator[Event]:
        """Content comes. Behind calls, the agent ran the tools: the answer goes on, and may be cut.

        Some servers say `stop` beside calls, too.
        """
        if self.goes_on:
            self.finish_reason, self.goes_on = None, False
            yield from self.calls.end_unseen()

    def _write(self, kind: str, text: str) -> Iterator[Event]:
        """A delta. It begins another block if the last one was of another kind."""
        if not text:
            return
        yield from self._go_on()
        if self._block is not None and _REFUSAL in {kind, self._block} and kind != self._block:
            yield TextBreak()
        self._block = kind
        if kind == "reasoning":
            yield ReasoningDelta(text)
            return
        self.has_text = True
        yield TextDelta(text)

    def _parts(self, parts: list[Raw]) -> Iterator[Event]:
        """A content in parts: text, thoughts, and what is left out."""
        for given in parts:
            part = lenient.field(_decode_part, given)
            text = safe_json.string(given) if part is None else _text_of(part)
            if text is not None:
                yield from self._write("text", text)
            elif part is not None and part.type == "thinking":
                yield from self._write("reasoning", self._thoughts(part.thinking))
            else:
                self._count_part(given)

    def _thoughts(self, thinking: Raw) -> str:
        if (text := safe_json.string(thinking)) is not None:
            return text
        parts = self._list(thinking, _PART)
        return "".join(each.text for each in lenient.each(_decode_thought, parts, self._count_part))

    def _count_part(self, part: Raw) -> None:
        self._frame_stats.count_left_out(_PART, len(part))

    def _cite(self, citations: Raw) -> None:
        """Note the pages of a list: URLs, or objects with one."""
        for given in self._list(citations, "citation"):
            url, title = _link(given)
            self._sources.add(url, title)

    def _pictures(self, delta: Delta) -> Iterator[Event]:
        for given in self._list(delta.images, "picture"):
            url, _ = _link(given)
            if len(url) > PICTURE_MAX or not is_file(url):
                self._frame_stats.count_left_out("picture", len(given))
                continue
            yield from self._go_on()
            self._block, self._has_pictures = None, True
            yield FilePart(url, _mime(url))

    def _list(self, given: Raw, what: str) -> list[Raw]:
        """Return the elements of a list. Any other value is counted, unless it is null."""
        found = lenient.field(_decode_list, given)
        if found is None and is_set(given):
            self._frame_stats.count_left_out(what, len(given))
        return found or []


_PART: Final = "part of the content"
_TEXTS: Final = frozenset({"text", "output_text"})


def _reasoning(delta: Delta) -> str:
    """The reasoning of a delta. Some servers send the same under both names."""
    return safe_json.string(delta.reasoning_content) or safe_json.string(delta.reasoning) or ""


def _text_of(part: _Part) -> str | None:
    """The text of a part, which some servers have in an object; None if it has none."""
    if part.type not in _TEXTS:
        return None
    text = safe_json.string(part.text)
    value = None if text is not None else lenient.field(_decode_value, part.text)
    return text if value is None else value.value


def _output_of(content: str | list[Raw]) -> Raw:
    """The output of a tool, as JSON: the one in a string, a text, or parts."""
    if isinstance(content, str):
        text = safe_json.join_surrogates(content)
        return json_text.structured(Raw(msgspec.json.encode(text))).copy()
    return Raw(msgspec.json.encode(content))


def _link(given: Raw) -> tuple[str, str | None]:
    """The URL and the title of a link: a string, an object, or one in an object. Empty: none."""
    link = lenient.field(_decode_link, given)
    if link is None:
        return safe_json.string(given) or "", None
    inner = link.url_citation or link.image_url
    if inner:
        given, link = inner, lenient.field(_decode_link, inner)
    if link is None:
        return safe_json.string(given) or "", None
    return safe_json.string(link.url) or "", safe_json.short_string(link.title)


def _mime(url: str) -> str:
    """The type of a picture: as its URL says it."""
    if not url.startswith("data:"):
        return "image/png"
    return url[len("data:") :].partition(",")[0].partition(";")[0][:64] or "image/png"
