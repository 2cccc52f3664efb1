"""The conversation: where prompts come from, what Ctrl-C means between turns, how it all ends."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractAsyncContextManager
from typing import Final

from rich.console import Console

from turnwire_lab.chat.ending import Ending, ending_of
from turnwire_lab.chat.lines import Lines
from turnwire_lab.chat.screen import Screen
from turnwire_lab.chat.stop import CtrlC
from turnwire_lab.chat.turn import Turn
from turnwire_lab.client.client import Client
from turnwire_lab.client.errors import ClientError
from turnwire_lab.client.stream import Stream

COMMANDS: Final = "/history shows what was said, /again asks once more, /stop stops what runs."


def chat(*, url: str, session: str, token: str | None, once: str | None) -> int:
    """Talk until there is nothing more to say; 1 if a turn did not finish well."""
    return asyncio.run(_chat(url=url, session=session, token=token, once=once))


async def _chat(*, url: str, session: str, token: str | None, once: str | None) -> int:
    screen = Screen(Console(highlight=False))
    async with Client(url, session, token) as client:
        talk = Talk(client, screen, Lines(sys.stdin), CtrlC())
        if once is not None:
            return await talk.all(_only(once))
        if not talk.lines.typed:
            return await talk.all(talk.piped())
        screen.say(f"Session {session} at {url}", style="dim")
        screen.say("Ctrl-C stops a turn; Ctrl-C or Ctrl-D here leaves.", style="dim")
        screen.say(COMMANDS, style="dim")
        async for prompt in talk.typed():
            await talk.one(prompt)
    return 0


class Talk:
    """One conversation in one session. The agent keeps its history; this keeps only the address."""

    def __init__(self, client: Client, screen: Screen, lines: Lines, ctrl_c: CtrlC) -> None:
        self.lines = lines
        self._client = client
        self._screen = screen
        self._ctrl_c = ctrl_c

    async def all(self, prompts: AsyncIterator[str]) -> int:
        """Every prompt in turn, also after one that failed, but not after Ctrl-C."""
        status = 0
        async for prompt in prompts:
            ending = await self.one(prompt)
            if ending is not Ending.FINISHED:
                status = 1
            if ending is Ending.STOPPED:
                break
        return status

    async def one(self, prompt: str) -> Ending:
        """A prompt, or a command of ours."""
        match prompt:
            case "/history":
                return await self._command(self._history())
            case "/stop":
                return await self._command(self._stop())
            case "/again":
                return await self._turn(self._client.regenerate())
            case _:
                return await self._turn(self._client.chat(prompt))

    async def piped(self) -> AsyncIterator[str]:
        while (prompt := await self.lines.next()) is not None:
            if prompt:
                yield prompt

    async def typed(self) -> AsyncIterator[str]:
        while True:
            self._screen.prompt("you")
            reading = asyncio.create_task(self.lines.next())
            with self._ctrl_c.means(reading.cancel):
                await asyncio.wait([reading])
            prompt = None if reading.cancelled() else reading.result()
            if prompt is None:
                self._screen.console.print()
                return
            if prompt:
                yield prompt

    async def _turn(self, asked: AbstractAsyncContextManager[Stream]) -> Ending:
        self._screen.wait("waiting")
        turn = Turn(self._client, self._screen, self.lines)
        with self._ctrl_c.means(turn.stop):
            ending, why = await turn.run(asked)
        self._screen.ended(ending, why)
        return ending

    async def _history(self) -> None:
        messages = await self._client.messages()
        for message in messages:
            self._screen.show_message(message)
        if not messages:
            self._screen.say("(nothing was said yet)", style="dim")

    async def _stop(self) -> None:
        receipt = await self._client.stop()
        self._screen.say("Stopped" if receipt.stopped else "Nothing runs.", style="yellow")

    async def _command(self, doing: Awaitable[None]) -> Ending:
        try:
            await doing
        except ClientError as error:
            ending, why = ending_of(error)
            self._screen.ended(ending, why)
            return ending
        return Ending.FINISHED


async def _only(prompt: str) -> AsyncIterator[str]:
    yield prompt
