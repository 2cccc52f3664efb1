"""What the agent plays: a status, the pieces of a body, and how it ends."""

import asyncio
import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from turnwire_lab.agents.ag_ui.http import Framing, Responder

EVENTS: Final = "text/event-stream"


class Ending(enum.Enum):
    """What comes after the last piece of a body."""

    WHOLE = "whole"
    """The end, as the framing marks it."""
    CUT = "cut"
    """The connection closes; a framing that marks its end has not done so."""
    RESET = "reset"
    """The connection is reset."""
    HANG = "hang"
    """Nothing, until the client hangs up."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A response. A number in `body` is a pause in seconds before the next piece.

    `length` is what Content-Length says, if it is not the length of the pieces.
    `head_after_s` is how long the head waits. `keeps` is whether the connection takes another
    request; the agent does not say it if it does not.
    """

    body: Sequence[bytes | float] = ()
    status: int = 200
    content_type: str = EVENTS
    headers: Mapping[str, str] = field(default_factory=dict)
    framing: Framing = Framing.CHUNKED
    length: int | None = None
    ending: Ending = Ending.WHOLE
    head_after_s: float = 0.0
    keeps: bool = True

    @classmethod
    def recorded(cls, path: Path, framing: Framing = Framing.CHUNKED) -> Self:
        """A body as it was recorded, in one piece."""
        return cls(body=[path.read_bytes()], framing=framing)

    def sliced(self, size: int, *, pause_s: float = 0.0) -> Self:
        """The same body in pieces of `size` bytes, with pauses between them."""
        whole = self.content
        pieces: list[bytes | float] = []
        for at in range(0, len(whole), size):
            pieces += [whole[at : at + size], pause_s]
        return replace(self, body=pieces[:-1])

    def cut(self, at: int, ending: Ending = Ending.CUT) -> Self:
        """The same, until that byte of the body. Content-Length goes on to tell of all of it."""
        kept: list[bytes | float] = []
        left = at
        for piece in self.body:
            if isinstance(piece, bytes):
                kept.append(piece[:left])
                left -= len(piece)
            else:
                kept.append(piece)
            if left <= 0:
                break
        return replace(self, body=kept, length=len(self.content), ending=ending)

    @property
    def content(self) -> bytes:
        """The pieces of the body, joined."""
        return b"".join(_bytes_of(self.body))

    async def play(self, responder: Responder) -> None:
        """Send the response; the connection is closed by the caller."""
        await asyncio.sleep(self.head_after_s)
        length = len(self.content) if self.length is None else self.length
        headers = {"content-type": self.content_type, **self.headers}
        await responder.head(self.status, headers, self.framing, length)
        for piece in self.body:
            if isinstance(piece, bytes):
                if piece:
                    await responder.send(piece)
            else:
                await asyncio.sleep(piece)
        match self.ending:
            case Ending.WHOLE:
                await responder.end()
            case Ending.HANG:
                await asyncio.get_running_loop().create_future()
            case Ending.CUT | Ending.RESET:
                pass


def _bytes_of(body: Iterable[bytes | float]) -> list[bytes]:
    return [piece for piece in body if isinstance(piece, bytes)]
