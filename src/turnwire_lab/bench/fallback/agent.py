"""The agent in Python. Takes the argument of `native/agent.c`, and speaks the `v2` wire alone."""

import asyncio
import contextlib
import random
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from turnwire_lab.bench.load import Plan, read_plan
from turnwire_lab.bench.programs import HOST

_CHANNEL: Final = '"channelType":"web","channelId":"default"'
_HEAD: Final = 20


class Agent:
    """All turns of this process."""

    def __init__(self) -> None:
        self.sockets = self.open = self.held = self.deltas = 0
        self.turns = self.lost = self.aborts = 0
        self._go = asyncio.Event()

    def stats(self, _: Request) -> Response:
        return JSONResponse({n: v for n, v in vars(self).items() if not n.startswith("_")})

    async def go(self, _: Request) -> Response:
        """Let turns that are held go on."""
        self._go.set()
        self._go = asyncio.Event()
        return JSONResponse({})

    async def told(self, plan: Plan, tell: Callable[[int, str], str]) -> AsyncIterator[str]:
        """Each delta in its time, as `tell` puts it."""
        began = time.monotonic()
        for number in range(plan.deltas):
            if plan.rate > 0 and not (plan.hold and not number):
                await asyncio.sleep(began + number / plan.rate - time.monotonic())
            elif number % plan.batch == 0:
                await asyncio.sleep(0)
            self.deltas += 1
            yield tell(number, _delta(number, plan.size))
            if plan.hold and not number:
                self.held += 1
                await self._go.wait()
                self.held -= 1
                began = time.monotonic() + random.random() / max(plan.rate, 1)

    async def session(self, socket: WebSocket) -> None:
        """One prompt and its turn."""
        await socket.accept()
        self.sockets += 1
        turn: asyncio.Task[None] | None = None
        try:
            while True:
                frame: dict[str, Any] = msgspec.json.decode(await socket.receive_text())
                if frame["type"] == "abort":
                    self.aborts += 1
                    if turn is not None:
                        turn.cancel()
                elif (plan := read_plan(frame.get("content", ""))) is not None:
                    turn = asyncio.create_task(self._turn(socket, plan, frame.get("promptId")))
        except WebSocketDisconnect:
            self.lost += turn is not None and not turn.done()
        finally:
            self.sockets -= 1
            if turn is not None:
                turn.cancel()

    async def _turn(self, socket: WebSocket, plan: Plan, prompt_id: str | None) -> None:
        with self._opened() as turn_id, contextlib.suppress(WebSocketDisconnect, RuntimeError):
            prompt = f',"promptId":"{prompt_id}",{_CHANNEL}' if prompt_id else ""
            await socket.send_text(f'{{"type":"message.create","turnId":"{turn_id}"{prompt}}}')
            part = f'{{"type":"message.part.text-delta","turnId":"{turn_id}","delta":"'
            calls = _calls(plan)
            async for frame in self.told(plan, lambda _, text: f'{part}{text}"}}'):
                await socket.send_text(frame)
                if plan.told > 1:
                    text = frame.removeprefix(part).removesuffix('"}')
                    await socket.send_text(
                        f'{{"type":"chunk","content":"{text}","messageId":"{turn_id}",{_CHANNEL}}}'
                    )
                for call in next(calls):
                    await socket.send_text(_tool(turn_id, call))
            await socket.send_text(
                f'{{"type":"message.finalize","turnId":"{turn_id}","reason":"end_turn"}}'
            )
            self.turns += 1

    async def ready_made(self, request: Request) -> Response:
        """Finished records, for a plain proxy."""
        plan = read_plan(
            msgspec.json.decode(await request.body())["messages"][0]["parts"][0]["text"]
        )
        assert plan is not None

        async def records() -> AsyncIterator[str]:
            with self._opened() as turn_id:
                yield _record("message-start", f'"type":"start","messageId":"{turn_id}"')
                yield _record("text-start", f'"type":"text-start","id":"{turn_id}"')
                front = f'"type":"text-delta","id":"{turn_id}","delta":"'
                async for each in self.told(
                    plan, lambda _, text: _record("text-delta", f'{front}{text}"')
                ):
                    yield each
                yield _record("text-end", f'"type":"text-end","id":"{turn_id}"')
                yield _record("finish-step", '"type":"finish-step"')
                yield _record("message-finish", '"type":"finish"') + "data: [DONE]\n\n"
                self.turns += 1

        return StreamingResponse(records(), media_type="text/event-stream")

    @contextlib.contextmanager
    def _opened(self) -> Iterator[str]:
        self.open += 1
        try:
            yield f"turn-{self.turns:x}-{self.open:x}-{random.getrandbits(32):08x}"
        finally:
            self.open -= 1


def _delta(number: int, size: int) -> str:
    head = f"T{time.monotonic_ns():016x}{number & 0xFFF:03x}"
    return head + "a" * (size - _HEAD)


def _record(event: str, chunk: str) -> str:
    return f"event: {event}\ndata: {{{chunk}}}\n\n"


def _calls(plan: Plan) -> Iterator[list[str]]:
    """By delta, what is said of tools behind it; the calls are spread over the turn."""
    every = plan.deltas // (plan.tools + 1) + 1
    for told in range(1, plan.deltas + 1):
        is_call = plan.tools and told % every == 0
        yield [f"c{told // every}\n{state}" for state in _STATES] if is_call else []


_STATES: Final = (
    '"pending"',
    '"running","args":{"expression":"2+2"}',
    '"completed","args":{"expression":"2+2"},"result":{"value":4}',
)


def _tool(turn_id: str, call: str) -> str:
    call_id, state = call.split("\n")
    return (
        f'{{"type":"message.part.tool-update","turnId":"{turn_id}","callId":"{call_id}",'
        f'"toolName":"calculator","status":{state}}}'
    )


def new_app() -> Starlette:
    """The agent's routes."""
    agent = Agent()
    return Starlette(
        routes=[
            Route("/stats", agent.stats),
            Route("/go", agent.go, methods=["POST"]),
            Route("/sse", agent.ready_made, methods=["POST"]),
            WebSocketRoute("/{path:path}", agent.session),
        ]
    )


def main() -> None:
    """Serve until told to stop."""
    # uvicorn raises the signal once more when it is done, by which the process would die.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    uvicorn.run(
        "turnwire_lab.bench.fallback.agent:new_app",
        factory=True,
        host=HOST,
        port=int(sys.argv[1]),
        log_level="error",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
    )


if __name__ == "__main__":
    main()
