"""The queue of one session: a row for each prompt that waits or is worked on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.session_agent.state.channel import NOWHERE, Channel


@dataclass(slots=True, eq=False)
class Row:
    """One prompt. Its id is the agent's and is also the id of the user's entry (§5.2)."""

    id: str
    content: str
    at: int
    """Whole seconds, as the product's table has them."""
    channel: Channel = NOWHERE
    user_id: str | None = None
    line: int | None = None
    """The socket that asked."""
    files: list[Json] = field(default_factory=list)
    """Attachments as parts of the user's entry."""
    kind: Literal["user", "system"] = "user"
    state: Literal["queued", "processing"] = "queued"
    steering: bool = False
    """A and V: goes before other prompts, and is never evicted (§5.3)."""
    echoed: bool = False
    """Whether all clients have got the user's entry."""
    attempts: int = 0
    """How often a runner was given it."""

    def pending(self) -> Json:
        """As `queue.state` and `queue.withdrawn` have it."""
        fields: Json = {"messageId": self.id, "content": self.content}
        if self.files:
            fields["attachments"] = [
                {"type": "file", "mime": part["mimeType"], "filename": part.get("filename")}
                for part in self.files
            ]
        if self.channel.thread is not None:
            fields["threadId"] = self.channel.thread
        return fields

    def entry(self, author: dict[str, Any], *, nulls: bool, threads: bool) -> Json:
        """The user's entry. Only what came out of a queue spells absence as null (§4.2)."""
        named: Json = {
            **author,
            "parts": self.files or None,
            "channelType": self.channel.type,
            "channelId": self.channel.id,
        }
        if threads:
            named["threadId"] = self.channel.thread
        if not nulls:
            named = {name: value for name, value in named.items() if value is not None}
        entry = {"id": self.id, "role": "user", "content": self.content}
        return entry | named | {"createdAt": self.at}


class Rows:
    def __init__(self, *, ties_backwards: bool) -> None:
        self._rows: list[Row] = []
        self._ties_backwards = ties_backwards

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: Row) -> bool:
        return row in self._rows

    @property
    def queued(self) -> list[Row]:
        """Who waits, in the order of their turn."""
        rows = [row for row in self._rows if row.state == "queued"]
        if self._ties_backwards:
            rows.reverse()
        return sorted(rows, key=lambda row: (not row.steering, row.at))

    @property
    def processing(self) -> list[Row]:
        return [row for row in self._rows if row.state == "processing"]

    @property
    def head(self) -> Row | None:
        """The prompt of a user that goes next, if one waits."""
        return next((row for row in self.queued if row.kind == "user"), None)

    def add(self, row: Row) -> None:
        if row not in self._rows:
            self._rows.append(row)

    def remove(self, row: Row) -> None:
        if row in self._rows:
            self._rows.remove(row)

    def requeue(self) -> None:
        """What no runner works on any more waits again, in its old place."""
        for row in self.processing:
            row.state = "queued"
