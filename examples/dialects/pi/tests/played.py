"""A turn without sockets."""

import json
from typing import Any

import turnwire.dialect as td
from lines import Json, Lines, encode
from pi_dialect import Pi, PiShared
from pi_dialect.turn import Turn


class Played(Lines):
    """A turn that gets each line as it is made. `events` and `sent` are what came of them."""

    def __init__(self, *, is_alone: bool = True, member: Any = None, **request: Any) -> None:
        super().__init__()
        asked = td.PromptRequest(**{"text": "hi", "prompt_id": "p1", "session_id": "s1", **request})
        turn = (Pi if is_alone else PiShared)().prompt(asked, member)
        assert isinstance(turn, Turn)
        self.turn = turn
        self.now = 0.0
        self.events: list[td.Event] = []
        self.sent: list[Json] = []
        self.take(turn.connection_opened(self.now))

    def event(self, kind: str, **fields: Any) -> None:
        self.take(self.turn.receive_frame(encode({"type": kind, **fields}), self.now))

    def take(self, decoded: td.Decoded | str | None) -> None:
        if isinstance(decoded, str):
            self.events.append(td.TextDelta(decoded))
        elif decoded is not None:
            self.events += decoded.events
            self.sent += [json.loads(frame) for frame in decoded.to_agent]

    def tick(self) -> None:
        """Let the time pass until the next deadline."""
        assert self.turn.deadline < td.NEVER
        self.now = self.turn.deadline
        self.take(self.turn.tick(self.now))

    def begun(self) -> "Played":
        """Open the session, and begin the run of our prompt."""
        self.opened()
        self.accepted()
        self.begin("hi")
        return self

    @property
    def verdict(self) -> td.TurnFinished:
        last = self.events[-1]
        assert isinstance(last, td.TurnFinished)
        return last

    @property
    def commands(self) -> list[str]:
        return [each["type"] for each in self.sent]

    def of(self, kind: type) -> list[Any]:
        return [each for each in self.events if isinstance(each, kind)]
