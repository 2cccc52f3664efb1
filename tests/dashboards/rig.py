"""Three gateways, their agents, and whatever else they ask; all real, some of it broken."""

import asyncio
import json
import os
import signal
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.control_plane import ControlPlane, Question, Reply, granted, reply
from gateway.key_sets import key_set
from gateway.served import Served
from gateway.signers import signer
from turnwire.core.bounds import MALFORMED_MAX
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

SIGNER: Final = signer("ES256")
KEY_ID: Final = "k1"

TURN_S: Final = 4
"""A slow turn of the lab's agent takes five seconds."""

STALL_S: Final = 4
"""Of a client that does not read.

The kernel cuts it a quarter later, counted from its first full window. Where a flood fills the
buffers more slowly than that, it is the kernel that ends the stream; and with a second it cannot be
told any more whether the client was there: its end is `client_gone` then.
"""

DRAIN_S: Final = 8
"""So that some scrapes find it stopping."""

WORKERS: Final = 2
PROCESSES: Final = 2 + WORKERS
NAMELESS: Final = "nameless"
"""The session whose agent does not say whose turn it begins."""
NOISY: Final = "noisy"
"""The session whose agent sends frames without a type, and nothing else."""
FLOOD: Final = "flood"
"""How the name of a session begins whose agent says more than buffers hold."""


class Rig:
    """`main` has the lab's agent. `strange` has one whose wire has drifted, a key set, and a
    control plane. `lost` has two workers, and finds no agent and no Redis.
    """

    main: Served
    strange: Served
    lost: "_Several"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.keys_are_there = False
        """Whether the key set can be fetched."""

    @property
    def all(self) -> tuple[Served, Served, Served]:
        return self.main, self.strange, self.lost

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            agent = await stack.enter_async_context(
                ReferenceAgent(Habits(pace_s=0.002, slow_s=0.1))
            )
            drifted = await stack.enter_async_context(_Drifted(answer))
            keys = await stack.enter_async_context(ControlPlane(self._keys()))
            plane = await stack.enter_async_context(ControlPlane(_plane))
            self.main = await stack.enter_async_context(
                Served(
                    agent.url,
                    idle_s=1.5,
                    turn_s=TURN_S,
                    queue_wait_s=1,
                    keepalive_s=0.5,
                    token_expiry="cut",
                    max_streams_per_user=4,
                    signing_keys="a-key-for-approvals-of-32-bytes-at-least",
                    record_dir=self._folder,
                )
            )
            self.strange = await stack.enter_async_context(
                Served(
                    drifted.url(),
                    jwt_key="",
                    jwt_algorithm="ES256",
                    jwt_jwks_url=f"http://127.0.0.1:{keys.port}/jwks",
                    access="http",
                    access_url=plane.url,
                    access_cache_s=0,
                    stall_s=STALL_S,
                    drain_s=DRAIN_S,
                    sessions="apart",
                )
            )
            self.lost = await stack.enter_async_context(
                _Several(rates_url="redis://127.0.0.1:1", turns_per_minute=1000)
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, traceback)

    def _keys(self) -> Reply:
        told = key_set(SIGNER.jwk(KEY_ID))

        async def say(_: Question, writer: asyncio.StreamWriter) -> None:
            writer.write(told if self.keys_are_there else reply(500))

        return say


async def _plane(question: Question, writer: asyncio.StreamWriter) -> None:
    """Says of a session what its name says."""
    said = {"denied": reply(404), "unauthorized": reply(401), "failed": reply(500)}
    asked = question.path.split("/")[3]
    writer.write(said.get(asked, granted()))


class _Several(Served):
    """Workers that share the port."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self._command = (*self._command, "--workers", str(WORKERS))

    def kill_worker(self) -> None:
        """One of them, as the kernel does that lacks memory."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        worker = next(
            pid for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
        )
        os.kill(int(worker), signal.SIGKILL)


class _Drifted(ScriptedAgent):
    """Does not know the session `unknown`."""

    async def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        if "/unknown/" in request.path:
            return connection.respond(HTTPStatus.NOT_FOUND, "no\n")
        return await super()._admit(connection, request)


async def answer(line: Line) -> None:
    """A turn that is what the session's name says."""
    session = line.path.split("/")[3]
    if session == NAMELESS:  # another process may have asked for this turn
        await line.prompt()
        await line.say(frames.create(), frames.finalize())
        return
    await line.begin()
    match session:
        case name if name.startswith(FLOOD):
            for _ in range(400):
                await line.say(frames.delta("x" * 60_000))
        case name if name == NOISY:
            for _ in range(3 * MALFORMED_MAX):
                await line.connection.send("{}")
        case "open":
            await line.say(frames.delta("And then "))
        case _:
            await drift(line)


async def drift(line: Line) -> None:
    """Frames that nobody knows, that are another's, or that make no sense."""
    await line.say({"type": "agentPlan", "turnId": frames.TURN, "steps": 3})
    await line.say(frames.delta("One "), frames.chunk_text("One "), frames.delta("two."))
    await line.say({"type": "message.part.text-delta", "turnId": frames.TURN, "delta": 7})
    await line.say(frames.delta("not ours", "another turn"))
    await line.connection.send(json.dumps(["no frame"]))
    await line.say(frames.finalize())
