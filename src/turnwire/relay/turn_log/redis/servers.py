"""The servers of the turn log: runs scripts on them, within a time, and never raises.

No caller waits longer than `ANSWER_S`. A server that does not answer is not asked again before
`probe` finds it, so that one prompt waits for it, and not each.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

import msgspec
from msgspec import Struct
from redis.exceptions import NoScriptError, ResponseError

from turnwire.core.turn_log.entries import frame
from turnwire.relay.turn_log.redis.address import Address
from turnwire.relay.turn_log.redis.clients import Command, Packed, new_client, packed
from turnwire.relay.turn_log.redis.patience import patience
from turnwire.relay.turn_log.redis.scripts import PARTS, Script

_QUIET_S: Final = 2.0
"""Seconds without a hint after which the connection for hints is tested."""

_SHORT: Final = 8
"""Calls for more chats pause between the steps of their work: for a hundred, each takes 0.05 ms."""

_CHATS: Final = 4_096
"""Of so many chats the keys are kept, packed."""

_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(list[list[int]]).decode


Argument: TypeAlias = str | bytes | int

DATA: Final = b"\xc2"
"""Stands among the values of a call for one of its data: `false`, packed."""


class Call(Struct, frozen=True):
    """A script for one chat or several.

    `values` are its arguments in MessagePack, one behind another, which begin with the chat and an
    id for each chat; `count` is how many there are. Each of `data` belongs to a place where they
    have `DATA`.
    """

    script: Script
    chats: Sequence[str]
    values: bytes
    count: int
    data: Sequence[bytes] = ()
    size: int = 0
    """In bytes, about."""
    sent: "Sent | None" = None
    """The keys and the data as they are sent, if the caller has them so. Then `data` is empty."""
    expected: bytes = b""
    """The reply, in MessagePack, of which the caller wants to know no more than that it came."""


class Sent(Struct, frozen=True):
    """The keys and the data of a call as they are sent, and how many data there are."""

    keys: bytes | bytearray
    data: bytes | bytearray
    count: int


def call_of(script: Script, chat: str, *arguments: Argument) -> Call:
    """Return a call for one chat, with these arguments after the chat."""
    values = in_messagepack((chat, *arguments))
    data = tuple(each for each in arguments if isinstance(each, bytes))
    return Call(script, (chat,), values, 1 + len(arguments), data)


def in_messagepack(arguments: Iterable[Argument]) -> bytes:
    """Return arguments as a call has them."""
    return b"".join([DATA if isinstance(each, bytes) else _pack(each) for each in arguments])


class Failed(Struct, frozen=True):
    """A call without a reply: nobody knows whether it ran."""

    reason: str
    """A word for metrics and logs: the type of an exception, never its text."""


Reply: TypeAlias = list[list[Any]] | Failed
"""The reply to a call: one list for each chat. Empty: the reply is the expected one."""


def _ignore(_: str) -> None:
    """Do nothing."""


class Servers:
    """What stands behind an address. `on_failure` gets the reason of each failure."""

    def __init__(self, address: Address, on_failure: Callable[[str], object] = _ignore) -> None:
        self._client = new_client(address)
        self._on_failure = on_failure
        self._down: set[str] = set()

    @property
    def takes_many(self) -> bool:
        """Whether one call may have several chats."""
        return self._client.takes_many

    def is_down(self, chat: str) -> bool:
        """Whether the server of this chat did not answer of late."""
        return bool(self._down) and self._node(chat) in self._down

    async def run(self, calls: Sequence[Call]) -> list[Reply]:
        """Run calls, as one pipeline a server. Returns their replies in order."""
        if self._client.takes_many and calls:  # there is one server
            return [Failed("down")] * len(calls) if self._down else await self._run("", calls)
        nodes: dict[str, list[int]] = {}
        for index, call in enumerate(calls):
            nodes.setdefault(self._node(call.chats[0]), []).append(index)
        replies: list[Reply] = [Failed("down")] * len(calls)
        groups = [
            (node, indexes, [calls[index] for index in indexes])
            for node, indexes in nodes.items()
            if node not in self._down
        ]
        answers = await asyncio.gather(*(self._run(node, group) for node, _, group in groups))
        for (_, indexes, _), group_replies in zip(groups, answers, strict=True):
            for index, reply in zip(indexes, group_replies, strict=True):
                replies[index] = reply
        return replies

    async def _run(self, node: str, calls: Sequence[Call]) -> list[Reply]:
        is_long = sum(len(call.chats) for call in calls) > _SHORT
        commands: list[Command | Packed] = []
        try:
            for call in calls:
                if is_long:  # before the time counts: a round of a busy loop is long
                    await asyncio.sleep(0)
                commands.append(self._command("EVALSHA", call))
            if is_long:
                await asyncio.sleep(0)
            async with patience():
                found = await self._client.run(commands)
                unknown = [
                    index for index, each in enumerate(found) if isinstance(each, NoScriptError)
                ]
                if unknown:
                    again = [self._command("EVAL", calls[index]) for index in unknown]
                    for index, each in zip(unknown, await self._client.run(again), strict=True):
                        found[index] = each
        except Exception as exc:  # noqa: BLE001 (the loop and a bad reply raise others too)
            self._down.add(node)
            return [self._fail(exc)] * len(calls)
        return [self._reply(call, each) for call, each in zip(calls, found, strict=True)]

    def _reply(self, call: Call, found: object) -> Reply:
        if isinstance(found, bytes):
            if call.expected and found == call.expected:
                return []
            with suppress(msgspec.DecodeError):
                found = _unpack(found)
        if isinstance(found, list) and len(found) == len(call.chats):
            return cast("list[list[Any]]", found)
        error = found if isinstance(found, Exception) else ValueError()
        if not isinstance(error, ResponseError):
            self._down.add(self._node(call.chats[0]))
        return self._fail(error)

    def failed(self, reason: str) -> None:
        """Note a failure that only the caller can see."""
        self._on_failure(reason)

    def _fail(self, error: Exception) -> Failed:
        reason = type(error).__name__
        self._on_failure(reason)
        return Failed(reason)

    async def probe(self) -> None:
        """Find out whether servers answer again that did not."""
        if not self._down:
            return
        try:
            async with patience():
                await self._client.refresh()
            for node in list(self._down):
                async with patience():
                    await self._client.ping(node)
                self._down.discard(node)
        except Exception as exc:  # noqa: BLE001 (the loop and a bad reply raise others too)
            self._fail(exc)

    async def hints(self, channel: str) -> AsyncIterator[str]:
        """Yield what is published on a channel; first an empty text, when it is subscribed.

        Ends when the connection is lost.
        """
        try:
            async with patience():
                subscriber = await self._client.subscriber()
            async with subscriber, subscriber.pubsub(ignore_subscribe_messages=True) as pubsub:
                async with patience():
                    await pubsub.subscribe(channel)
                yield ""
                is_tested = False
                while True:
                    message = await pubsub.get_message(timeout=_QUIET_S)
                    if message is not None:
                        is_tested = False
                        if message["type"] == "message":
                            yield bytes(message["data"]).decode(errors="replace")
                    elif is_tested:
                        return
                    else:
                        is_tested = True
                        async with patience():
                            await pubsub.ping()
        except Exception as exc:  # noqa: BLE001 (the loop and a bad reply raise others too)
            self._fail(exc)

    async def aclose(self) -> None:
        await self._client.aclose()

    def _command(self, name: str, call: Call) -> Command | Packed:
        script = call.script
        text = script.digest if name == "EVALSHA" else script.text
        count = script.parts * len(call.chats)
        values = frame(call.values, call.count)  # a frame is an array of values
        if not self._client.takes_many:
            keys = [_key(chat, part) for chat in call.chats for part in PARTS[: script.parts]]
            return (name, text, count, *keys, values, *call.data)
        sent = call.sent
        words = [b"*%d\r\n" % (4 + count + (sent.count if sent else len(call.data)))]
        words += map(packed, (name.encode(), text.encode(), b"%d" % count))
        if sent:
            return Packed(b"".join((*words, sent.keys, packed(values), sent.data)))
        words += [packed_keys(chat, script.parts) for chat in call.chats]
        for each in (values, *call.data):
            words += (b"$%d\r\n" % len(each), each, b"\r\n")  # as `packed`, but copied once
        return Packed(b"".join(words))

    def _node(self, chat: str) -> str:
        return self._client.node(_key(chat, PARTS[0]))


def _key(chat: str, part: str) -> str:
    """The key of a part of a chat. The braces keep all parts on one node of a cluster."""
    return f"turnwire:{{{chat}}}:{part}"


@lru_cache(_CHATS)
def packed_keys(chat: str, parts: int) -> bytes:
    """Return the keys of so many parts of a chat, as they are sent."""
    return b"".join([packed(_key(chat, part).encode()) for part in PARTS[:parts]])
