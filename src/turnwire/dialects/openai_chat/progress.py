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
from turnwire.core.wire import lenient
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.sources import Sources
from turnwire.dialects.openai_chat.calls import Calls
from turnwire.dialects.openai_chat.frames import Chunk, Delta, ToolCall, ToolProgress, is_set

PICTURE_MAX: Final = 4_194_304
"""Longest URL of a picture that is shown, in characters."""


class _Thought(Struct, frozen=True):
    text: HandedOn = ""


class _Part(Struct, frozen=True):
    """A part of a content that is no string. `thinking` is a list of parts, or a string."""

    type: Word
    text: Raw = Raw()
    thinking: Raw = Raw()


class _Link(Struct, frozen=True):
    url: HandedOn
    title: HandedOn | None = None


class _Annotation(Struct, frozen=True):
    url_citation: _Link


class _Picture(Struct, frozen=True):
    image_url: _Link


_Raws = Annotated[list[Raw], MANY]

_decode_list = msgspec.json.Decoder(_Raws).decode
_decode_part = msgspec.json.Decoder(_Part).decode
_decode_thought = msgspec.json.Decoder(_Thought).decode
_decode_annotation = msgspec.json.Decoder(_Annotation).decode
_decode_picture = msgspec.json.Decoder(_Picture).decode

_REFUSAL: Final = "refusal"

CALLING: Final = frozenset({"tool_calls", "function_call"})
"""The reasons of a model that ended to have tools run."""


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
        self._has_content = False
        """Whether any of the answer came."""
        self._sources = Sources(frame_stats)
        self._block: str | None = None
        """Of which kind the last delta was: `text`, `reasoning` or `refusal`."""
        self._frame_stats = frame_stats

    def plain_text(self, chunk: Chunk) -> str | None:
        """The text of a chunk that is a text delta and nothing else; None if it is more."""
        if self._block != "text" or self.finish_reason is not None:
            return None
        choices = chunk.choices
        if choices is None or len(choices) != 1:
            return None
        choice = choices[0]
        delta = choice.delta
        if delta is None or type(delta.content) is not str or not delta.content:
            return None
        if choice.finish_reason or choice.index or choice.message is not None:
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
        new: list[Event] = []
        for choice in chunk.choices or ():
            if choice.index:
                self._frame_stats.count_left_out("choice", 0)
                continue
            if is_set(choice.logprobs):
                self._frame_stats.count_left_out("logprobs", len(choice.logprobs))
            new += self._delta(choice.delta)
            if not self._has_content:  # some servers repeat in it what they streamed
                new += self._delta(choice.message)
            if choice.finish_reason:
                self.finish_reason = choice.finish_reason
                new += self.calls.end_round()
        self._note_usage(chunk)
        for url in lenient.each(_decode_string, lenient.field(_decode_list, chunk.citations) or ()):
            self._sources.add(url)
        return new

    def tool_progress(self, progress: ToolProgress) -> list[Event]:
        """Return the events of what an agent says of one of its tools."""
        new = self.calls.progress(progress)
        if new:
            self._block = None
        return new

    def finish(self) -> list[Event]:
        """The turn is over. Return what waited for its end."""
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

    def _content(self, delta: Delta) -> Iterator[Event]:
        yield from self._write("reasoning", _reasoning(delta))
        if isinstance(delta.content, str):
            yield from self._write("text", delta.content)
        elif delta.content is not None:
            yield from self._parts(delta.content)
        if refusal := safe_json.string(delta.refusal):
            self.has_refusal = True
            yield from self._write(_REFUSAL, refusal)
        for piece in delta.tool_calls or ():
            yield from self._call(piece)
        if delta.function_call is not None:  # the form before there were several calls
            yield from self._call(ToolCall(index=0, function=delta.function_call))
        yield from self._media(delta)

    def _call(self, piece: ToolCall) -> list[Event]:
        new = self.calls.take(piece)
        if not new:
            return []
        self._block = self.finish_reason = None  # another round of calls, which may be cut
        return new

    def _go_on(self) -> Iterator[Event]:
        """Content comes. Behind calls, the agent ran the tools: the answer goes on, and may be cut.

        Some servers say `stop` beside calls, too.
        """
        if self.finish_reason in CALLING or (self.finish_reason and self.calls.are_open):
            self.finish_reason = None
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
        for part in lenient.each(_decode_part, parts):
            match part.type:
                case "text":
                    yield from self._write("text", safe_json.string(part.text) or "")
                case "thinking":
                    yield from self._write("reasoning", _thoughts(part.thinking))
                case _:
                    self._frame_stats.count_left_out("part of the content", len(part.text))

    def _media(self, delta: Delta) -> Iterator[Event]:
        citations = lenient.field(_decode_list, delta.annotations) or ()
        for citation in lenient.each(_decode_annotation, citations):
            self._sources.add(citation.url_citation.url, citation.url_citation.title)
        pictures = lenient.field(_decode_list, delta.images) or ()
        for picture in lenient.each(_decode_picture, pictures):
            url = picture.image_url.url
            if len(url) > PICTURE_MAX:
                self._frame_stats.count_left_out("picture", len(url))
                continue
            yield from self._go_on()
            self._block = None
            yield FilePart(url, _mime(url))
        if is_set(delta.audio):
            self._frame_stats.count_left_out("audio", len(delta.audio))


_decode_string = msgspec.json.Decoder(HandedOn).decode


def _reasoning(delta: Delta) -> str:
    """The reasoning of a delta. Some servers send the same under both names."""
    return safe_json.string(delta.reasoning_content) or safe_json.string(delta.reasoning) or ""


def _thoughts(thinking: Raw) -> str:
    if (text := safe_json.string(thinking)) is not None:
        return text
    parts = lenient.field(_decode_list, thinking) or ()
    return "".join(part.text for part in lenient.each(_decode_thought, parts))


def _mime(url: str) -> str:
    """The type of a picture: as its URL says it."""
    if not url.startswith("data:"):
        return "image/png"
    return url[len("data:") :].partition(",")[0].partition(";")[0][:64] or "image/png"
