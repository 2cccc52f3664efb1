"""An agent with one session, whose every line gets every frame."""

import asyncio

from gateway import frames
from gateway.agent import Line


class Broadcaster:
    """One session: prompts queue, one turn runs at a time, every line gets every frame."""

    def __init__(self, *, names_prompts: bool) -> None:
        self._names_prompts = names_prompts
        self._running = asyncio.Lock()
        self._open: list[Line] = []
        self._turns = 0

    async def __call__(self, line: Line) -> None:
        self._open.append(line)
        try:
            prompt = await line.prompt()
            async with self._running:
                self._turns += 1
                turn = f"turn-{self._turns}"
                named = {"promptId": prompt["promptId"]} if self._names_prompts else {}
                channel = {name: prompt[name] for name in ("channelType", "channelId")}
                await self._tell(frames.create(turn=turn, **channel, **named))
                for word in ("You said ", prompt["content"], "."):
                    await self._tell(frames.chunk_text(word, turn), frames.delta(word, turn))
                    await asyncio.sleep(0)  # so that another could get in between
                await self._tell(frames.finalize(turn))
        finally:
            self._open.remove(line)

    async def _tell(self, *told: frames.Json) -> None:
        data = b"".join(frames.raw(frames.text(frame).encode()) for frame in told)
        await asyncio.gather(*(line.raw(data) for line in self._open if line.is_open))
