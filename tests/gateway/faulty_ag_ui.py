"""Agents of the `ag-ui` wire that work, but for one fault each."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from turnwire_lab.agents.ag_ui.answer import Answer
from turnwire_lab.agents.ag_ui.events import encode
from turnwire_lab.agents.ag_ui.http import Framing, Request, Responder
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits
from turnwire_lab.agents.common.frames import Json

DELTA = "TEXT_MESSAGE_CONTENT"
END = "RUN_FINISHED"


class SoundAgent(AgUiAgent):
    """An agent without a fault. Each subclass has one."""

    def __init__(self) -> None:
        super().__init__(Habits(pace_s=0.001, slow_s=0.008))
        self.running = 0
        self.mark: Path | None = None
        """A file that is there while a run runs."""

    async def _run(self, asked: Json, responder: Responder) -> None:
        with self.counted():
            await super()._run(asked, _Changing(responder, self))  # type: ignore[arg-type]

    @contextmanager
    def counted(self) -> Iterator[None]:
        self.running += 1
        if self.mark is not None:
            self.mark.touch()
        try:
            yield
        finally:
            self.running -= 1
            if self.mark is not None and not self.running:
                self.mark.unlink()

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        """What is sent in place of an event; bytes go out as they are."""
        yield event


class _Changing:
    """A responder that sends what the agent makes of each event."""

    def __init__(self, responder: Responder, agent: SoundAgent) -> None:
        self._responder = responder
        self._agent = agent

    async def send(self, data: bytes) -> None:
        for record in data.split(b"\n\n"):
            if record:
                for sent in self._agent.changed(json.loads(record.removeprefix(b"data: "))):
                    await self._responder.send(sent if isinstance(sent, bytes) else _written(sent))


def _written(event: Json) -> bytes:
    fields: dict[str, Any] = {name: value for name, value in event.items() if name != "type"}
    return encode(event["type"], **fields)


class NeverEnds(SoundAgent):
    """The body ends without a verdict."""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] != END:
            yield event


class Hangs(NeverEnds):
    """Neither a verdict nor the end of the body."""

    async def _run(self, asked: Json, responder: Responder) -> None:
        await super()._run(asked, responder)
        await asyncio.get_running_loop().create_future()


class Fails(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] == END:
            yield {"type": "RUN_ERROR", "message": "no model"}
        else:
            yield event


class TalksAfterTheEnd(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        yield event
        if event["type"] == END:
            yield {"type": DELTA, "messageId": "m9", "delta": "one more thing"}


class HoldsTextBack(SoundAgent):
    held = ""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] == DELTA:
            self.held += event["delta"]
            return
        if event["type"] == "TEXT_MESSAGE_END":
            yield {"type": DELTA, "messageId": event["messageId"], "delta": self.held}
            self.held = ""
        yield event


class TellsTwice(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        yield event
        if event["type"] == DELTA and "no hurry" in event["delta"]:
            yield event


class CutsBytes(SoundAgent):
    """An event ends within a character."""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] == DELTA and "\xfc" in event["delta"]:
            head, _, _ = _written(event).partition("\xfc".encode())
            yield head + b"\xc3" + b'"}\n\n'
        else:
            yield event


class SplitsCharacters(SoundAgent):
    """A habit: an emoji comes as its halves, one in each of two deltas."""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        text = event.get("delta", "")
        if event["type"] == DELTA and "\U0001f469" in text:
            before, _, after = text.partition("\U0001f469")
            for delta in (before + "\ud83d", "\udc69" + after):
                body = json.dumps({**event, "delta": delta})
                yield b"data: " + body.encode() + b"\n\n"
        else:
            yield event


class LosesHalves(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        text = event.get("delta", "")
        if event["type"] == DELTA and "\U0001f469" in text:
            body = json.dumps({**event, "delta": text.replace("\U0001f469", "\ud83d")})
            yield b"data: " + body.encode() + b"\n\n"
        else:
            yield event


class CallsNothing(SoundAgent):
    """Its tools run, and no event tells it."""

    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if not event["type"].startswith("TOOL_CALL"):
            yield event


class LosesResults(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] != "TOOL_CALL_RESULT":
            yield event


class CutsBigResults(SoundAgent):
    def changed(self, event: Json) -> Iterator[Json | bytes]:
        if event["type"] == "TOOL_CALL_RESULT":
            event["content"] = event["content"][:1_000_000]
        yield event


class Refuses(SoundAgent):
    """A habit: a prompt beside another one is refused, with a status that says so."""

    def _refusal(self, request: Request) -> Answer | None:
        if self.running:
            return Answer(body=[b"{}"], status=409, framing=Framing.LENGTH)
        return super()._refusal(request)


class KillsTheFirst(SoundAgent):
    """The run that began last is the only one that goes on."""

    last: asyncio.Task[Any] | None = None

    async def _play(self, request: Request, answer: Answer | None, responder: Responder) -> None:
        if self.last is not None:
            self.last.cancel()
        self.last = asyncio.current_task()
        await super()._play(request, answer, responder)


class StaysOpen(SoundAgent):
    """A habit: the response goes on after the end of its turn."""

    async def _run(self, asked: Json, responder: Responder) -> None:
        await super()._run(asked, responder)
        await asyncio.sleep(0.5)


class _Deaf:
    """A responder that does not notice that nobody reads."""

    is_alone = False

    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def send(self, data: bytes) -> None:
        try:
            if not self.is_alone:
                await self._responder.send(data)
        except OSError:
            self.is_alone = True


class GoesOn(SoundAgent):
    """A run that nobody reads goes on, and takes a second more."""

    ALONE_S = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._going: set[asyncio.Task[None]] = set()

    async def _run(self, asked: Json, responder: Responder) -> None:
        going = asyncio.create_task(self._go_on(asked, responder))
        self._going.add(going)
        going.add_done_callback(self._going.discard)
        await asyncio.shield(going)

    async def _go_on(self, asked: Json, responder: Responder) -> None:
        deaf = _Deaf(responder)
        with self.counted():
            await super()._run(asked, deaf)  # type: ignore[arg-type]
            if deaf.is_alone:
                await asyncio.sleep(self.ALONE_S)

    def drop_connections(self) -> None:
        super().drop_connections()
        for task in self._going:
            task.cancel()


class GoesOnAndRefuses(GoesOn, Refuses):
    """Meanwhile it refuses each prompt."""


class GoesOnAndQueues(GoesOn):
    """A habit: the next prompt waits for the run that nobody reads."""

    def __init__(self) -> None:
        super().__init__()
        self._turn = asyncio.Lock()

    async def _go_on(self, asked: Json, responder: Responder) -> None:
        async with self._turn:
            await super()._go_on(asked, responder)
