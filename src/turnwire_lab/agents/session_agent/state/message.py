"""The text and the parts of a turn, as each revision keeps them (§5.7).

R keeps one text for the whole turn: a text part that begins after a tool gets all of it, and the
end writes the final text over every text part. A and V keep the segments apart.
"""

from dataclasses import dataclass, field

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.habits import Revision
from turnwire_lab.agents.session_agent.state.channel import NOWHERE, Channel


@dataclass(slots=True)
class Entry:
    """An entry that is not a turn."""

    fields: Json
    channel: Channel = NOWHERE

    @property
    def id(self) -> str:
        return str(self.fields["id"])

    def written(self) -> Json:
        return {**self.fields, **self.channel.fields()}


@dataclass(slots=True)
class TextPart:
    """A text part: which of the turn's pieces are in it. Joined only on demand."""

    start: int
    end: int
    final: str | None = None
    streaming: bool = True


@dataclass(slots=True)
class TurnEntry:
    id: str
    channel: Channel
    revision: Revision
    at: int
    pieces: list[str] = field(default_factory=list)
    parts: list[TextPart | Json] = field(default_factory=list)
    final_text: str | None = None

    @property
    def content(self) -> str:
        """All text so far; after the end only what came after the last tool (§5.7)."""
        return "".join(self.pieces) if self.final_text is None else self.final_text

    def say(self, piece: str) -> None:
        last = self.parts[-1] if self.parts else None
        self.pieces.append(piece)
        if isinstance(last, TextPart):
            last.end = len(self.pieces)
            return
        start = 0 if self.revision == "R" else len(self.pieces) - 1
        self.parts.append(TextPart(start, len(self.pieces)))

    def tool(self, update: Json) -> None:
        """A transition of a tool; what it does not repeat stays as it was."""
        self._close()
        for part in self.parts:
            if not isinstance(part, TextPart) and part.get("callId") == update["callId"]:
                part.update(update)
                return
        self.parts.append({"type": "tool-call", **update})

    def finish(self, reason: str, final_text: str | None, error: str | None) -> None:
        self._close()
        self.final_text = final_text
        texts = [part for part in self.parts if isinstance(part, TextPart)]
        if final_text is not None:
            if not texts:
                texts = [TextPart(0, 0, streaming=False)]
                self.parts.extend(texts)
            if self.revision == "R" or len(texts) == 1:
                for part in texts:
                    part.final = final_text
        ends: list[Json] = [{"type": "finish", "reason": reason}]
        if error is not None:
            ends.append({"type": "error", "message": error})
        # R: finish, then error; later the finish is always last (§4.2).
        self.parts.extend(ends if self.revision == "R" else reversed(ends))

    def written(self) -> Json:
        """As hydration repeats it."""
        return self.snapshot() | {"createdAt": self.at}

    def snapshot(self) -> Json:
        """As `message.updated` has it: the whole turn, and no time."""
        head = {"id": self.id, "role": "assistant", "content": self.content}
        return {**head, "parts": self._written_parts(), **self.channel.fields()}

    def _written_parts(self) -> list[Json]:
        return [
            {"type": "text", "text": self._text(part), "streaming": part.streaming}
            if isinstance(part, TextPart)
            else dict(part)
            for part in self.parts
        ]

    def _text(self, part: TextPart) -> str:
        return "".join(self.pieces[part.start : part.end]) if part.final is None else part.final

    def _close(self) -> None:
        for part in self.parts:
            if isinstance(part, TextPart):
                part.streaming = False
