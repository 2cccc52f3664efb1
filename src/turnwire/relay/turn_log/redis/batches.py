"""Joins what is asked for many turns to few calls."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from turnwire.relay.turn_log.redis.scripts import Script
from turnwire.relay.turn_log.redis.servers import Argument, Call, Failed, Servers, split

_AT_ONCE: Final = 128
_CALL_BYTES: Final = 1_048_576
"""Most turns of one call, and its size, but for one turn more."""


class Item(Struct, frozen=True):
    """A script for one turn: see `Call`."""

    script: Script
    chat: str
    values: Sequence[str | int]
    data: Sequence[bytes] = ()
    size: int = 0
    """In bytes, about."""


def item_of(script: Script, chat: str, turn_id: str, *arguments: Argument) -> Item:
    """Return an item with these arguments after the chat and the id."""
    values, data = split(arguments)
    return Item(script, chat, [chat, turn_id, *values], data)


async def run_all(servers: Servers, items: Sequence[Item]) -> list[Sequence[Any] | None]:
    """Run these items in one pipeline. Returns the reply to each; None: there is none."""
    groups = _grouped(items, takes_many=servers.takes_many)
    replies = await servers.run([_call(group) for group in groups])
    found: list[Sequence[Any] | None] = []
    for group, reply in zip(groups, replies, strict=True):
        if not isinstance(reply, Failed):
            found += reply
        elif len(group) == 1 or servers.is_down(group[0].chat):
            found += [None] * len(group)
        else:  # one of them may be to blame
            alone = await servers.run([_call([item]) for item in group])
            found += [None if isinstance(each, Failed) else each[0] for each in alone]
    return found


def _grouped(items: Sequence[Item], *, takes_many: bool) -> list[list[Item]]:
    groups: list[list[Item]] = []
    size = 0
    for item in items:
        last = groups[-1] if groups and takes_many else []
        is_full = size > _CALL_BYTES or len(last) == _AT_ONCE
        if not last or is_full or last[0].script is not item.script:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += item.size
    return groups


def _call(group: Sequence[Item]) -> Call:
    values: list[str | int] = []
    data: list[bytes] = []
    for item in group:
        values += item.values
        data += item.data
    return Call(group[0].script, [item.chat for item in group], values, data)
