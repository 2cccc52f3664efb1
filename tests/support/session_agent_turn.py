"""A turn as an agent of the `session-agent` wire keeps and repeats it, in each revision (page 5.7).

R keeps one text for the whole turn: a text part that begins after a tool has all of it, and the end
writes the final text over every text part. A and V keep what was said between two tools apart.
"""

from typing import Any, Final

from support import session_agent_frames as f

Step = str | tuple[str, str]
"""What an agent does next: it says a text, asks (`ASK`), or moves a call to a status."""
ASK: Final = "?"
ASKING: Final = "c9"
"""The call whose tool asks."""
PROMPT: Final = {"id": "P1", "role": "user", "content": "one", **f.CHANNEL}


class TurnEntry:
    """The entry of one turn in the history."""

    def __init__(self, revision: str) -> None:
        self.revision = revision
        self._content = ""
        self._final: str | None = None
        self._parts: list[f.Fields] = []

    def take(self, step: Step) -> bytes:
        """Go on by a step. Returns the frame that tells it."""
        if step == ASK:
            return f.asked(self.revision)
        if isinstance(step, str):
            self.say(step)
            return f.chunk(step)
        self.tool(*step, args={})
        return self.updated()

    def say(self, piece: str) -> None:
        if not self._parts or self._parts[-1]["type"] != "text":
            so_far = self._content if self.revision == "R" else ""
            self._parts.append(f.text(so_far) | {"streaming": True})
        self._content += piece
        self._parts[-1]["text"] += piece

    def tool(self, call_id: str, status: str, **fields: Any) -> None:
        """Move a call to a status; what is not repeated stays as it was."""
        self._end_texts()
        told = f.tool(status, call_id, "question" if call_id == ASKING else "bash", **fields)
        known = [part for part in self._parts if part.get("callId") == call_id]
        if known:
            known[0].update(told)
        else:
            self._parts.append(told)

    def finish(self, final: str | None) -> None:
        """End the turn; `final` is what was said after the last tool, if the agent tells it."""
        self._end_texts()
        self._final = final
        texts = [part for part in self._parts if part["type"] == "text"]
        if final is not None and not texts:
            self._parts.append(f.text(final))
        elif final is not None and (self.revision == "R" or len(texts) == 1):
            for part in texts:
                part["text"] = final
        self._parts.append(f.finish())

    def updated(self) -> bytes:
        """The frame that tells all of it once more."""
        return f.frame("message.updated", data=self._entry())

    def written(self) -> f.Fields:
        """As R's `init` repeats it."""
        return self._entry() | {"createdAt": 0}

    def _entry(self) -> f.Fields:
        content = self._content if self._final is None else self._final
        entry = {"id": f.TURN, "role": "assistant", "content": content}
        return {**entry, "parts": [dict(part) for part in self._parts], **f.CHANNEL}

    def _end_texts(self) -> None:
        for part in self._parts:
            if part["type"] == "text":
                part["streaming"] = False
