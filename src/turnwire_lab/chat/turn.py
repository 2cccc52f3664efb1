"""One turn: read along and shown, stopped by Ctrl-C, taken up again if its connection breaks."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Final

from turnwire_lab.chat.asking import Asker
from turnwire_lab.chat.ending import Ending, ending_of
from turnwire_lab.chat.lines import Lines
from turnwire_lab.chat.screen import Screen
from turnwire_lab.chat.seen import Seen
from turnwire_lab.client import chunks
from turnwire_lab.client.client import Client
from turnwire_lab.client.errors import ClientError, Refused, Truncated, Unreachable
from turnwire_lab.client.question import Question
from turnwire_lab.client.stream import Stream

BACK_S: Final = 5.0
"""How long a gateway may be away when a connection broke."""
LOOK_S: Final = 0.25


class Turn:
    """Runs one turn and returns how it ended. `stop` may be called meanwhile, more than once."""

    def __init__(self, client: Client, screen: Screen, lines: Lines) -> None:
        self._client = client
        self._screen = screen
        self._seen = Seen()
        self._asker = Asker(client, screen, lines)
        self._canceled = False
        self._reading: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None

    async def run(self, asked: AbstractAsyncContextManager[Stream]) -> tuple[Ending, str]:
        self._reading = asyncio.create_task(self._follow(asked))
        await asyncio.wait([self._reading])
        if self._stopping is not None:
            self._stopping.cancel()
            await asyncio.wait([self._stopping])
        if self._reading.cancelled():
            return Ending.STOPPED, ""
        match self._reading.exception():
            case None if not self._canceled:
                return Ending.FINISHED, ""
            case None if self._stopping is not None:
                return Ending.STOPPED, ""
            case None:
                return Ending.ABORTED, "the turn was canceled"
            case ClientError() as error:
                return ending_of(error)
            case error:
                raise error

    def stop(self) -> None:
        """Have the agent stop the turn, which ends the stream; hang up where that cannot be."""
        turn_id = self._seen.turn_id
        if self._reading is None:
            return
        if turn_id is None or self._stopping is not None:
            # Without its id another turn might be the one that is stopped.
            self._reading.cancel()
        else:
            self._screen.wait("stopping")
            self._stopping = asyncio.create_task(self._stop(turn_id, self._reading))

    async def _stop(self, turn_id: str, reading: asyncio.Task[None]) -> None:
        try:
            await self._client.stop(turn_id)
        except ClientError as error:
            self._screen.say(f"It could not be stopped ({error}); hung up instead", style="yellow")
            reading.cancel()

    async def _follow(self, asked: AbstractAsyncContextManager[Stream]) -> None:
        try:
            try:
                async with asked as stream:
                    await self._read(stream)
            except Truncated as lost:
                await self._take_up(lost)
        finally:
            await self._asker.close()

    async def _take_up(self, lost: Truncated) -> None:
        """Go on where it broke off, once; `lost` where that cannot be."""
        self._screen.wait("connecting again")
        until = asyncio.get_running_loop().time() + BACK_S
        while True:
            try:
                async with self._client.resume() as stream:
                    if stream is None:
                        raise lost
                    self._seen.start_over()
                    await self._read(stream, lost)
                    return
            except Unreachable:
                if asyncio.get_running_loop().time() > until:
                    raise lost from None
                await asyncio.sleep(LOOK_S)
            except Refused as refused:
                raise lost from refused

    async def _read(self, stream: Stream, lost: Truncated | None = None) -> None:
        async for chunk in stream:
            match chunk:
                case chunks.Start(str(turn_id)) if lost and self._seen.turn_id not in {
                    None,
                    turn_id,
                }:
                    raise lost  # ours is over, and this is the next one
                case chunks.Abort():
                    self._canceled = True
                case _:
                    pass  # to be shown, or not
            if (news := self._seen.news(chunk)) is not None:
                self._screen.show(news)
            if isinstance(chunk, Question):
                self._asker.hear(chunk)
