"""An answer as a message of the transcript, from the events of its stream."""

from typing import Final

from turnwire_agent.llm.events import (
    Event,
    FileMade,
    Finish,
    ReasoningDelta,
    ReasoningStart,
    TextDelta,
    TextStart,
    ToolCall,
)
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.transcript import Assistant, Call, File, Image, Native, Reasoning, Text

_Part = Text | Reasoning | Call | Image | File

_WORDS: Final = (TextDelta, ReasoningDelta)


class Answer:
    """Gathers one stream. It has a message only when the stream has its `Finish`."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._words: dict[str, tuple[type[Text | Reasoning], list[str]]] = {}
        self._parts: list[_Part | str] = []
        """A string is the id of a block of words."""
        self.finish: Finish | None = None

    def add(self, event: Event) -> None:
        """Take the next event of the stream."""
        if isinstance(event, _WORDS):
            self._words[event.id][1].append(event.text)
        elif isinstance(event, TextStart | ReasoningStart):
            kind = Text if isinstance(event, TextStart) else Reasoning
            self._words[event.id] = (kind, [])
            self._parts.append(event.id)
        elif isinstance(event, ToolCall):
            self._parts.append(Call(event.id, event.name, event.arguments))
        elif isinstance(event, FileMade):
            kind_of_file = Image if event.media_type.startswith("image/") else File
            self._parts.append(kind_of_file(event.media_type, event.data))
        elif isinstance(event, Finish):
            self.finish = event

    def message(self) -> Assistant | None:
        """The answer, its blocks in the order of their beginnings; None if it was cut or failed."""
        if self.finish is None:
            return None
        parts = [self._part(part) if isinstance(part, str) else part for part in self._parts]
        native = None
        if bytes(self.finish.native) != b"[]":
            model = self._model
            native = Native(model.shape, model.provider, model.name, self.finish.native)
        return Assistant(tuple(parts), native)

    def _part(self, block_id: str) -> _Part:
        kind, words = self._words[block_id]
        return kind("".join(words))
