"""The library's clients for the three kinds of address, behind one port. The only user of them.

No client tries again by itself: the caller knows how long a reply is worth waiting for.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeAlias

from msgspec import Struct
from redis.asyncio import Connection, Redis, RedisCluster, Sentinel, SSLConnection
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NotConnectedError
from redis.exceptions import ResponseError, SlotNotCoveredError

from turnwire.relay.turn_log.redis.address import Address, Kind

_GIVE_UP_S: Final = 1.0
"""When a connection gives up, in seconds. Who asks does so before that."""

_LONG_BYTES: Final = 16_384
"""What is longer is sent in a step of the loop of its own: the kernel takes 0.1 ms for 50 KB."""

_SENTINEL_S: Final = 0.1
"""How long one Sentinel may take, so that another can be asked in time."""

_new_sentinels: Any = Sentinel  # the library has no types here

Command: TypeAlias = Sequence[str | bytes | int]


class Packed(Struct, frozen=True):
    """A command as it is sent.

    A pipeline of a hundred turns has six hundred keys. To pack them for each call took a third of
    the time in which the deltas of all streams wait: so they are packed once for each chat.
    """

    data: bytes


def packed(word: bytes) -> bytes:
    """Return an argument of a command as it is sent: a bulk string of the protocol."""
    return b"$%d\r\n%b\r\n" % (len(word), word)


_PING: Final = Packed(b"*1\r\n" + packed(b"PING"))


class Client(Protocol):
    """One client. Its methods raise what the library raises."""

    takes_many: bool
    """Whether one script may have the keys of several chats."""

    def node(self, key: str) -> str:
        """The name of the server that keeps a key. Servers fail one by one."""
        ...

    async def run(self, commands: Sequence[Command | Packed]) -> list[Any]:
        """Run commands in one pipeline. An error reply is an exception in the result.

        Only a client that `takes_many` takes packed ones.
        """
        ...

    async def refresh(self) -> None:
        """Ask who keeps what now."""
        ...

    async def ping(self, node: str) -> None:
        """Return if a server answers, or keeps nothing any more."""
        ...

    async def subscriber(self) -> Redis:
        """A client for the connection that gets hints. The caller closes it."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


def new_client(address: Address) -> Client:
    """Return the client for an address. It connects when it is first used."""
    return _Cluster(address) if address.kind is Kind.CLUSTER else _Server(address)


def _options(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "protocol": 2,
        "socket_timeout": _GIVE_UP_S,
        "socket_connect_timeout": _GIVE_UP_S,
        **{key: value for key, value in options.items() if key != "connection_class"},
        "ssl": options.get("connection_class") is SSLConnection,
        "retry": Retry(NoBackoff(), 0),
    }


class _Server:
    """One server, or the primary that Sentinels name.

    The library's pipeline takes a connection from its pool and gives it back for each call, counts
    both, and makes a task for a time limit: 0.2 ms, of which 0.1 ms without a pause, fifty times a
    second. So this class keeps connections that are free, and writes and reads on them itself.
    """

    takes_many = True

    def __init__(self, address: Address) -> None:
        self._address = address
        self._options = _options(address.options)
        self._sentinels: Any = None
        self._free: list[Connection] = []
        if address.kind is Kind.SENTINEL:
            of_sentinels = {
                **self._options,
                "username": None,
                "password": None,
                "db": 0,
                **address.sentinel_options,
                "socket_timeout": _SENTINEL_S,
                "socket_connect_timeout": _SENTINEL_S,
            }
            self._sentinels = _new_sentinels(address.hosts, sentinel_kwargs=of_sentinels)
        self._redis = self._new(socket_timeout=None)  # `patience` limits what is done with it
        self._pool = self._redis.connection_pool

    def _new(self, **more: Any) -> Redis:
        options = self._options | more
        if self._sentinels is not None:
            new: Redis = self._sentinels.master_for(self._address.primary, **options)
            return new
        host, port = self._address.hosts[0]
        return Redis(host=host, port=port, **options)

    def node(self, key: str) -> str:  # noqa: ARG002 (all keys are on one server)
        return ""

    async def run(self, commands: Sequence[Command | Packed]) -> list[Any]:
        words: list[bytes] = []
        for command in commands:
            assert isinstance(command, Packed)
            words.append(command.data)
        if sum(map(len, words)) > _LONG_BYTES:
            await asyncio.sleep(0)  # not behind the look whether the server closed the connection
        connection = await self._connection()
        try:
            await connection.send_packed_command(words, check_health=False)
            replies = [await _reply(connection) for _ in words]
        except BaseException:  # replies may come that nobody waits for
            await self._drop(connection)
            while self._free:  # they may lead to a primary that is none any more
                await self._drop(self._free.pop())
            raise
        self._free.append(connection)
        return replies

    async def _connection(self) -> Connection:
        while self._free:
            connection = self._free.pop()
            with suppress(NotConnectedError):
                if not await connection.can_read():  # else the server has closed it
                    return connection
            await self._drop(connection)
        new: Connection = await self._pool.get_connection()  # type: ignore[no-untyped-call]
        return new

    async def _drop(self, connection: Connection) -> None:
        await connection.disconnect(nowait=True)
        await self._pool.release(connection)

    async def refresh(self) -> None:
        """Nothing: a new connection asks the Sentinels."""

    async def ping(self, node: str) -> None:  # noqa: ARG002 (there is one)
        (reply,) = await self.run([_PING])  # the pool may have no room for one more connection
        if isinstance(reply, Exception):
            raise reply

    async def subscriber(self) -> Redis:
        return self._new()

    async def aclose(self) -> None:
        await self._redis.aclose()
        if self._sentinels is not None:
            await self._sentinels.aclose()


async def _reply(connection: Connection) -> object:
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


class _Cluster:
    takes_many = False

    def __init__(self, address: Address) -> None:
        self._options = _options(address.options)
        nodes = [ClusterNode(host, port) for host, port in address.hosts]
        self._redis = RedisCluster(startup_nodes=nodes, **self._options)

    def node(self, key: str) -> str:
        try:
            found = self._redis.get_node_from_key(key)
        except SlotNotCoveredError:  # as before the first call
            return ""
        return "" if found is None else found.name

    async def run(self, commands: Sequence[Command | Packed]) -> list[Any]:
        async with self._redis.pipeline() as pipeline:
            for command in commands:
                assert not isinstance(command, Packed)  # the library looks for the keys
                pipeline.execute_command(*command)
            return list(await pipeline.execute(raise_on_error=False))

    async def refresh(self) -> None:
        await self._redis.nodes_manager.initialize()

    async def ping(self, node: str) -> None:
        for primary in self._redis.get_primaries():
            if primary.name == node:
                await self._redis.execute_command("PING", target_nodes=primary)

    async def subscriber(self) -> Redis:
        await self._redis.initialize()
        node = self._redis.get_random_node()  # what one publishes, each passes on
        return Redis(host=node.host, port=int(node.port), **self._options)

    async def aclose(self) -> None:
        await self._redis.aclose()
        # After a failure that does nothing, and `refresh` may have opened some.
        for nodes in ("nodes_cache", "startup_nodes"):
            await self._redis.nodes_manager.aclose(nodes)
