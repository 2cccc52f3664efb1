"""The history of a session, which `init` repeats."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.v2.frames import Prompt
from turnwire_lab.agents.v2.parts import Ended, File, Part, TextBlock, standing

ENTRIES: Final = 200
"""Older ones are forgotten, since a demo may run for weeks."""
FILE_CHARACTERS: Final = 8 * 1024 * 1024
"""Of the URLs of all files together. A file whose URL is forgotten is still listed."""


@dataclass(slots=True, eq=False)
class Entry:
    """One prompt or one turn of the session."""

    id: str
    role: Literal["user", "assistant"]
    origin: Json
    """Ids and channel the entry came with, repeated as they are."""
    parts: list[Part] = field(default_factory=list)
    queued: bool = False
    """Whether this is a prompt whose turn has not begun."""

    def open_block(self, kind: Literal["text", "reasoning"]) -> TextBlock | None:
        """The open block of that kind, if nothing else came after it."""
        match self.parts:
            case [*_, TextBlock(kind=found, streaming=True) as block] if found == kind:
                return block
        return None

    def close(self) -> None:
        """End the open block, if there is one."""
        if self.parts and isinstance(last := self.parts[-1], TextBlock):
            last.streaming = False

    def goes_by(self, name: str | None) -> bool:
        """Whether a client that has this message calls it so: by its own id, or by ours."""
        return name is not None and name in {self.origin.get("clientMessageId"), self.id}

    @property
    def text(self) -> str:
        stands = standing(self.parts)
        return "".join(p.text for p in stands if isinstance(p, TextBlock) and p.kind == "text")

    def written(self) -> Json:
        waits = {"queued": True} if self.queued else {}
        parts = [part.written() for part in self.parts]
        return {"id": self.id, "role": self.role, **self.origin, **waits, "parts": parts}


class History:
    """The entries of a session in the order of the prompts, each turn behind its own."""

    def __init__(self, most: int = ENTRIES) -> None:
        self._most = most
        self._entries: list[Entry] = []

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries)

    def add(self, prompt: Entry) -> None:
        self._entries.append(prompt)
        self._forget()

    def begin(self, prompt: Entry, turn: Entry) -> None:
        """Put a turn behind its prompt, which waits no longer."""
        prompt.queued = False
        self._entries.insert(self._entries.index(prompt) + 1, turn)
        self._forget()

    def remove(self, entry: Entry) -> None:
        self._entries.remove(entry)

    def take_back(self, prompt: Prompt) -> list[Entry]:
        """Remove what a prompt replaces, to the end of its channel; what waits there stays."""
        channel = prompt.channel.fields().items()
        ours = [e for e in self._entries if channel <= e.origin.items() and not e.queued]
        asked = [number for number, entry in enumerate(ours) if entry.role == "user"]
        # A message that was edited before is there once more; the last is meant.
        named = [number for number in asked if ours[number].goes_by(prompt.client_message_id)]
        if prompt.edit or prompt.regenerate:
            for number in reversed(named or (asked if prompt.regenerate else [])):
                gone = ours[number:]
                self._entries = [e for e in self._entries if e not in gone]
                return gone
        return []

    def answer_to(self, prompt: Prompt) -> Entry | None:
        """The turn of the same message on the same channel, unless it came to nothing."""
        origin = prompt.channel.fields() | {"clientMessageId": prompt.client_message_id}
        for asked, answered in reversed(list(pairwise(self._entries))):
            if origin.items() <= asked.origin.items() and answered.role == "assistant":
                last = answered.parts[-1] if answered.parts else None
                failed = isinstance(last, Ended) and last.reason != "end_turn"
                return None if failed else answered
        return None

    def _forget(self) -> None:
        while len(self._entries) > self._most and not self._entries[0].queued:
            del self._entries[0]
        room = FILE_CHARACTERS
        for entry in reversed(self._entries):
            for part in reversed(entry.parts):
                if isinstance(part, File) and part.url is not None:
                    room -= len(part.url)
                    part.url = part.url if room >= 0 else None
