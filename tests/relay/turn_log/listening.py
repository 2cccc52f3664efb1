"""What a stream is to a turn log: a listener that keeps what it got, and a control."""

import asyncio
from collections.abc import Iterator, Sequence

from turnwire.core.events import Event
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log.entries import Entry, Head, pack, read
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.port import Connection
from turnwire.relay.turn_log.port import TurnWriter

HEAD = pack(Head("p1", "u1"))


class Reader:
    """A listener that reads what comes."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.long_frames = 0
        self.connection: Connection | None = None
        self.left: DisconnectReason | None = None

    def agent_opened(self, connection: Connection) -> None:
        self.connection = connection

    def agent_refused(
        self, why: DialFailure, status: int | None, _retry_after_s: float | None = None
    ) -> None:
        raise AssertionError((why, status))

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        for frame in frames:
            self.entries += read(frame)

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        self.long_frames += 1
        yield
        self.entries += read(frame)

    def agent_frame_begun(self) -> None: ...

    def agent_left(self, why: DisconnectReason, code: int | None) -> None:
        assert code is None
        self.left = why


class Control:
    """A stream that does what it is asked to."""

    def __init__(self, result: StopResult | Rejection = Rejection.SILENT) -> None:
        self.result = result
        self.is_ending = False
        self.readers: list[int] = []
        self.stopped: list[str | None] = []
        self.answers: list[tuple[Sequence[QuestionReply], str]] = []
        self.is_over = asyncio.Event()
        self.is_over.set()

    async def ended(self) -> None:
        await self.is_over.wait()

    def stop(self, turn_id: str | None) -> StopResult | Rejection:
        self.stopped.append(turn_id)
        return self.result

    def answer(self, replies: Sequence[QuestionReply], user_id: str) -> Rejection | None:
        self.answers.append((replies, user_id))
        return Rejection.CLOSED

    def read_by(self, readers: int) -> None:
        self.readers.append(readers)


def write(writer: TurnWriter, *events: Event | str) -> None:
    for event in events:
        if isinstance(event, str):
            writer.append_texts([event])
        else:
            writer.append(pack(event), 1)
