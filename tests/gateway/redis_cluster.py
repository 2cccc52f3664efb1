"""Several Redis servers as one: a real cluster, and a primary that Sentinels watch."""

import asyncio
import functools
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from gateway.redis_server import RedisServer, ask, server
from gateway.waiting import PATIENCE_S
from turnwire_lab.process import free_port

PRIMARIES: Final = 3
SENTINELS: Final = 3
SLOTS: Final = 16_384
NOTICED_MS: Final = "1000"
"""After this time without an answer a node counts as dead."""


class RedisCluster:
    """Three primaries, each with a replica: `async with RedisCluster(tmp_path) as cluster:`."""

    def __init__(self, folder: Path) -> None:
        self.nodes: list[RedisServer] = []
        self._folder = folder
        self._stack = AsyncExitStack()

    @property
    def url(self) -> str:
        """The first three nodes: a client asks them for the others."""
        return f"redis+cluster://{_hosts(self.nodes[:PRIMARIES])}"

    async def primary_of(self, key: str) -> RedisServer:
        """The node that keeps this key."""
        node = self.nodes[-1]
        slot = int(await node.ask("CLUSTER", "KEYSLOT", key))
        for line in (await node.ask("CLUSTER", "NODES")).splitlines():
            words = line.split()
            spans = [word.partition("-") for word in words[8:]]
            if any(int(first) <= slot <= int(last or first) for first, _, last in spans):
                port = int(words[1].partition("@")[0].rpartition(":")[2])
                return next(each for each in self.nodes if each.port == port)
        raise AssertionError(f"no node keeps {key}")

    async def __aenter__(self) -> Self:
        for number in range(2 * PRIMARIES):
            folder = self._folder / f"node-{number}"
            folder.mkdir()
            options = ("--cluster-enabled", "yes", "--cluster-node-timeout", NOTICED_MS)
            # A replica that never had all of its primary does not take its place.
            at_once = ("--repl-diskless-sync-delay", "0", *_bus_port())
            node = RedisServer(folder, *options, *at_once)
            self.nodes.append(await self._stack.enter_async_context(node))
        hosts = [f"127.0.0.1:{node.port}" for node in self.nodes]
        command = ("--cluster", "create", *hosts, "--cluster-replicas", "1", "--cluster-yes")
        created = await ask(self.nodes[0].port, *command)
        assert "All 16384 slots covered" in created, created
        for node in self.nodes:
            await _comes(partial(_prints, node, "cluster_state:ok", "CLUSTER", "INFO"))
            await _comes(partial(_prints, node, "cluster_known_nodes:6", "CLUSTER", "INFO"))
        for node in self.nodes[PRIMARIES:]:  # `create` makes these the replicas
            await _comes(partial(_prints, node, "master_link_status:up", "INFO"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()


class SmallCluster:
    """Three primaries without replicas, in two seconds. One that dies leaves the others at work."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.nodes: list[RedisServer] = []
        self._buses: list[str] = []
        self._folder = folder
        self._options = options
        self._stack = AsyncExitStack()

    @property
    def url(self) -> str:
        return f"redis+cluster://{_hosts(self.nodes)}"

    async def __aenter__(self) -> Self:
        for number in range(PRIMARIES):
            folder = self._folder / f"node-{number}"
            folder.mkdir()
            options = ("--cluster-enabled", "yes", "--cluster-require-full-coverage", "no")
            node = RedisServer(folder, *options, *(bus := _bus_port()), *self._options)
            self._buses.append(bus[-1] if bus else str(node.port + _BUS_ABOVE))
            self.nodes.append(await self._stack.enter_async_context(node))
        each = SLOTS // PRIMARIES + 1
        for number, node in enumerate(self.nodes):
            last = min(SLOTS, (number + 1) * each) - 1
            await node.ask("CLUSTER", "SET-CONFIG-EPOCH", str(number + 1))
            await node.ask("CLUSTER", "ADDSLOTS", *map(str, range(number * each, last + 1)))
            where = ("127.0.0.1", str(node.port), self._buses[number])
            for other in self.nodes[:number]:
                await other.ask("CLUSTER", "MEET", *where)
        for node in self.nodes:
            for fact in (f"cluster_slots_ok:{SLOTS}", "cluster_state:ok"):
                await _comes(partial(_prints, node, fact, "CLUSTER", "INFO"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()


class WatchedRedis:
    """A primary and its replica with three Sentinels: `async with WatchedRedis(tmp_path)`."""

    def __init__(self, folder: Path, *options: str) -> None:
        """`options` are those of primary and replica."""
        self._folder = folder
        self._options = options
        self._stack = AsyncExitStack()
        self._sentinels: list[RedisServer] = []

    @property
    def url(self) -> str:
        return f"redis+sentinel://{_hosts(self._sentinels)}/turnwire"

    async def __aenter__(self) -> Self:
        self.primary = await self._stack.enter_async_context(self._server("primary"))
        source = ("--replicaof", f"127.0.0.1 {self.primary.port}", "--repl-diskless-sync-delay")
        self.replica = await self._stack.enter_async_context(self._server("replica", *source, "0"))
        await _comes(partial(_prints, self.replica, "master_link_status:up", "INFO"))
        for number in range(SENTINELS):
            server = self._server(f"sentinel-{number}", sentinel=self._configuration())
            self._sentinels.append(await self._stack.enter_async_context(server))
        for sentinel in self._sentinels:
            await _comes(partial(_prints, sentinel, "slaves=1,sentinels=3", "INFO"))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def _server(self, name: str, *options: str, sentinel: str = "") -> RedisServer:
        folder = self._folder / name
        folder.mkdir()
        if not sentinel:
            return RedisServer(folder, *options, *self._options)
        file = folder / "sentinel.conf"
        file.write_text(sentinel)
        return RedisServer(folder, "--sentinel", configuration=str(file))

    def _configuration(self) -> str:
        return (
            f"sentinel monitor turnwire 127.0.0.1 {self.primary.port} 2\n"
            f"sentinel down-after-milliseconds turnwire {NOTICED_MS}\n"
            "sentinel failover-timeout turnwire 3000\n"
        )


def _hosts(servers: list[RedisServer]) -> str:
    return ",".join(f"127.0.0.1:{server.port}" for server in servers)


async def _prints(server: RedisServer, text: str, *command: str) -> bool:
    return text in await server.ask(*command)


async def _comes(fact: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await fact():  # noqa: ASYNC110 (what is asked has no event)
            await asyncio.sleep(0.02)


_BUS_ABOVE: Final = 10_000


@functools.cache
def _bus_port_has_a_setting() -> bool:
    """Redis has it from version 7 on. Before, the nodes' own port is so far above the clients'."""
    told = subprocess.run([server(), "--version"], capture_output=True, check=True).stdout
    return b"v=6." not in told


def _bus_port() -> tuple[str, ...]:
    return ("--cluster-port", str(free_port())) if _bus_port_has_a_setting() else ()
