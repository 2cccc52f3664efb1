"""Hostile agents whose `init` is 32 MiB, in every shape that is dear to somebody who reads it."""

from collections.abc import Callable, Iterator
from typing import Final

from hostile.attack import (
    AT_ONCE,
    MIB,
    SESSION_AGENT,
    SOON_S,
    V2,
    AgentAttack,
    Blocks,
    Door,
    Wire,
    text,
)
from turnwire.core.bounds import PARTS_MAX, VALUES_MAX

_BYTES: Final = 32 * MIB - 64
_HEAD: Final = b'{"type":"init","data":{"runnerBusy":true},"session":{"id":"s","status":"running",'


def _init(rest: bytes) -> Iterator[bytes]:
    yield text(_HEAD + rest)


def _filled(head: bytes, each: bytes, tail: bytes) -> Iterator[bytes]:
    """`head`, `each` as often as there is room, `tail`."""
    room = _BYTES - len(_HEAD) - len(head) - len(tail)
    whole = each * (room // len(each))
    return _init(head + whole[: -len(b",")] + tail)


def empty_objects() -> Iterator[bytes]:
    return _filled(b'"messages":[', b"{},", b"]}}")


def ones() -> Iterator[bytes]:
    return _filled(b'"messages":[', b"1,", b"]}}")


def small_messages() -> Iterator[bytes]:
    each = b'{"id":"m","role":"assistant","promptId":"p","parts":[{"type":"finish"}]},'
    return _filled(b'"messages":[', each, b"]}}")


def parts_in_one_message() -> Iterator[bytes]:
    head = b'"messages":[{"id":"m","role":"assistant","promptId":"p","parts":['
    return _filled(head, b'{"type":"text","text":"a"},', b"]}]}}")


def ones_in_one_message() -> Iterator[bytes]:
    head = b'"messages":[{"id":"m","role":"assistant","promptId":"p","parts":['
    return _filled(head, b"1,", b"]}]}}")


def long_texts() -> Iterator[bytes]:
    """A thousand answers of 32 KB: what an honest session might have."""
    said = b"And so on, as people say. " * 1_200
    each = (
        b'{"id":"m","role":"assistant","promptId":"p","parts":'
        b'[{"type":"text","text":"%b"},{"type":"finish","reason":"end_turn"}]},' % said
    )
    return _filled(b'"messages":[', each, b"]}}")


def deep() -> Iterator[bytes]:
    depth = (_BYTES - 200) // 2
    return _init(b'"messages":[{"id":"m","parts":' + b"[" * depth + b"]" * depth + b"}]}}")


def running_turn() -> Iterator[bytes]:
    """A turn that runs, of a million short calls."""
    head = b'"messages":[{"id":"t","role":"assistant","promptId":"p","userId":"mallory","parts":['
    each = b'{"type":"tool-call","callId":"c","toolName":"t","status":"completed"},'
    return _filled(head, each, b'{"type":"text","text":"a"}]}]}}')


def _fullest(end: bytes) -> Iterator[bytes]:
    """As many parts as a message may have, in as many messages as may be with that."""
    call = b'{"type":"tool-call","callId":"c%d","toolName":"t","status":"error","error":"no"},'
    calls = b"".join(call % number for number in range(PARTS_MAX - 1))
    message = b'{"id":"t%d","role":"assistant","promptId":"p%d","parts":[%b%b]},'
    count = VALUES_MAX // (PARTS_MAX + 16)
    messages = b"".join(message % (number, number, calls, end) for number in range(count))
    said = b'"messages":[%b],"note":"' % messages[: -len(b",")]
    return _filled(said, b"and so on,", b'"}}')


def just_under() -> Iterator[bytes]:
    return _fullest(b'{"type":"text","text":"a"}')


def just_under_and_over() -> Iterator[bytes]:
    return _fullest(b'{"type":"finish","reason":"end_turn"}')


def no_json() -> Iterator[bytes]:
    """Nearly sound, so that whoever reads leniently reads all of it again."""
    return _filled(b'"messages":[', b'{"id":NaN},', b"]}}")


def keys() -> Iterator[bytes]:
    return _filled(b'"messages":[{"parts":[{"type":"tool-call","args":{', b'"":1,', b'"a":1}}]}]}}')


_SHAPES: Final[tuple[tuple[str, Blocks, bool], ...]] = (
    ("empty objects", empty_objects, True),
    ("ones", ones, True),
    ("many small messages", small_messages, True),
    ("many parts in one message", parts_in_one_message, True),
    ("ones in one message", ones_in_one_message, True),
    ("long texts, as in an honest session", long_texts, False),
    ("16 million brackets", deep, True),
    ("`NaN` all over", no_json, True),
    ("calls of one running turn", running_turn, True),
    ("keys of one object", keys, True),
    ("as many parts as may be, of open turns", just_under, False),
    ("as many parts as may be, of turns that are over", just_under_and_over, False),
)
_ALSO_ASKED: Final[tuple[Callable[[], Iterator[bytes]], ...]] = (
    empty_objects,
    parts_in_one_message,
    long_texts,
    running_turn,
)
_DOORS: Final[dict[Door, str]] = {
    "chat": "",
    "history": ", asked for history",
    "resume": ", resumed",
}

_DOOR_NAMES: Final[tuple[Door, ...]] = ("history", "resume")
"""Beside the chat."""


def _row(shape: tuple[str, Blocks, bool], wire: Wire, door: Door) -> AgentAttack:
    name, blocks, is_explosive = shape
    return AgentAttack(
        name=f"`init` of 32 MiB: {name}{_DOORS[door]}",
        wire=wire,
        blocks=blocks,
        ends_within_s=SOON_S if is_explosive else None,
        bytes_per_s=AT_ONCE,
        is_hello=True,
        door=door,
    )


ROWS: Final = (
    *(_row(shape, V2, "chat") for shape in _SHAPES),
    *(_row(shape, V2, "history") for shape in _SHAPES if shape[1] in _ALSO_ASKED),
    *(_row(shape, V2, "resume") for shape in _SHAPES if shape[1] in _ALSO_ASKED),
    *(_row(shape, SESSION_AGENT, "chat") for shape in _SHAPES if shape[1] in _ALSO_ASKED),
    *(_row(shape, SESSION_AGENT, "resume") for shape in _SHAPES if shape[1] is empty_objects),
    *(
        _row(shape, wire, door)
        for wire in (V2, SESSION_AGENT)
        for door in _DOOR_NAMES
        for shape in _SHAPES
        if shape[1] in {just_under, just_under_and_over}
    ),
)
