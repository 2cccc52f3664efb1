"""The gateway, under its own server, on the test's loop."""

import asyncio
import gc
import socket
import ssl
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry

from gateway.tokens import KEY
from gateway.waiting import PATIENCE_S, closed, until
from turnwire.config.environ import from_environ
from turnwire.config.settings import Settings, variable
from turnwire.config.tls import agent_tls
from turnwire.metrics import Telemetry
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.memory_budget import Budget
from turnwire.web.app import create_app, new_registry
from turnwire.web.health import Health
from turnwire.web.observe.tracing import Tracing
from turnwire.web.server.server import listen, new_server

NOWHERE = "ws://127.0.0.1:1/{session_id}"


def settings(agent_url: str = NOWHERE, **given: object) -> Settings:
    """Settings as a shell would give them; short times, so that a failing test fails soon."""
    values = {
        "enabled": "true",
        "agent_url": agent_url,
        "jwt_key": KEY,
        "dial_s": 4,
        "lag_s": 0,  # a busy machine is no reason to be refused
        "stall_s": 5,
        "drain_s": 5,
        "on_disconnect_allowed": "abort,grace,continue",
        **given,
    }
    return from_environ({variable(name): str(value) for name, value in values.items()})


class Gateway:
    """`async with Gateway(agent.url(), idle_s=0.2) as gateway:` listens on `gateway.url`.

    At its end no stream may be left, and unless `stop` was called it is taken
    down at once.
    """

    def __init__(
        self,
        agent_url: str = NOWHERE,
        *,
        tls: ssl.SSLContext | None = None,
        given: Mapping[str, object] | None = None,
        tracing: Tracing | None = None,
        **more: object,
    ) -> None:
        self.settings = settings(agent_url, **(given or {}), **more)
        self.health = Health()
        self.streams = new_registry(self.settings)
        self.telemetry = Telemetry(CollectorRegistry())
        self.dialler = Dialler(
            user_timeout_s=self.settings.stall_s,
            tls=tls or agent_tls(self.settings),
            budget=Budget(self.settings.held_bytes, self.settings.held_bytes_per_user),
        )
        self.app = create_app(
            self.settings,
            health=self.health,
            streams=self.streams,
            telemetry=self.telemetry,
            dialler=self.dialler,
            tracing=tracing,
        )
        self.server = new_server(
            self.app,
            self.settings,
            health=self.health,
            streams=self.streams,
            rounds=self.dialler.rounds,
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ended(self, outcome: str) -> float:
        """How many streams ended so."""
        return self.counted("turnwire_streams_total", outcome=outcome)

    def counted(self, name: str, **labels: str) -> float:
        return self.telemetry.registry.get_sample_value(name, labels) or 0.0

    async def has_ended(self, outcome: str, times: int = 1) -> None:
        await until(lambda: self.ended(outcome) == times)

    def narrow(self, size: int = 16_384) -> None:
        """Let the kernel hold little for the clients that connect from now on.

        Else it holds megabytes, which a busy machine takes its time to fill.
        """
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def stop(self) -> None:
        """Tell it to stop, as SIGTERM does."""
        self.server.handle_exit(15, None)

    async def stopped(self) -> None:
        await asyncio.wait_for(asyncio.shield(self._serving), PATIENCE_S)

    async def __aenter__(self) -> Self:
        self._sock = listen("127.0.0.1", 0)
        self.port: int = self._sock.getsockname()[1]
        # Else the server would begin with a look through all that the test process has: 40 ms.
        gc.freeze()
        self._serving = asyncio.create_task(self.server._serve([self._sock]))
        await until(lambda: self.server.started)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                await until(lambda: len(self.streams) == 0)
                await until(lambda: not self.server.server_state.tasks)
                assert self.dialler.budget.held_bytes == 0, "what was held is given back"
        finally:
            self._serving.cancel()
            await self.server.lifespan.shutdown()
            for server in self.server.servers:
                server.close()
            for connection in list(self.server.server_state.connections):
                assert connection.transport is not None
                connection.transport.abort()
            self._sock.close()
            await asyncio.wait([self._serving, *self.server.server_state.tasks], timeout=5)
            await closed(self.port)
            gc.unfreeze()  # what was frozen is ours
