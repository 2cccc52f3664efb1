"""What an attack is: a row of the matrix."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Final, Literal

from gateway.frames import raw
from hostile.line import Line
from hostile.world import World

Wire = Literal["v2", "session-agent"]
V2: Final = "v2"
SESSION_AGENT: Final = "session-agent"
BOTH: Final[Sequence[Wire]] = (V2, SESSION_AGENT)

KIB: Final = 1024
MIB: Final = 1024 * KIB
SOON_S: Final = 2.0
"""What no well-meaning agent says ends its stream within that."""
FLOOD: Final = 10e6
"""Bytes a second."""
FAST: Final = 100e6
AT_ONCE: Final = float("inf")
"""As fast as it is read."""

Door = Literal["chat", "history", "resume", "answer"]
Blocks = Callable[[], Iterator[bytes]]
"""What a hostile agent writes, in blocks of many frames or of one large one."""
Script = Callable[[Line], Awaitable[None]]
"""What the agent of a hostile client's sessions does."""


@dataclass(frozen=True, kw_only=True)
class AgentAttack:
    """One stream of a hostile agent, opened again a second after it ended."""

    name: str
    wire: Wire
    blocks: Blocks
    ends_within_s: float | None = None
    """From the end of its first block; None: it need not end, only keep to its share."""
    bytes_per_s: float = FLOOD
    is_hello: bool = False
    """Said before anything else, in place of the wire's own hello; no turn begins."""
    door: Door = "chat"
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ClientAttack:
    """What one hostile client does, for as long as it may."""

    name: str
    run: Callable[[World], Awaitable[None]]
    agent: Script
    wire: Wire = V2
    settings: Mapping[str, object] = field(default_factory=dict)
    tokens: Literal["jwt", "opaque"] = "jwt"
    """How the gateway knows its users; `opaque` has a control plane beside it."""


Attack = AgentAttack | ClientAttack


def flood(frame: bytes, size: int = 64 * KIB) -> Iterator[bytes]:
    """The same bytes without end, in blocks."""
    block = frame * max(1, size // len(frame))
    while True:
        yield block


def same(make: Callable[[], bytes]) -> Blocks:
    """A flood of one frame, which is made but once."""
    made = cache(make)
    return lambda: flood(made())


MARK: Final = 987_654_321
"""Stands in a frame where its number goes."""


def numbered(frame: bytes, size: int = 64 * KIB) -> Iterator[bytes]:
    """A frame without end, in blocks, each time with another number of as many digits."""
    pieces = frame.split(b"%d" % MARK)
    numbers = count(100_000_000)
    while True:
        block = [(b"%d" % next(numbers)).join(pieces) for _ in range(1 + size // len(frame))]
        yield b"".join(block)


def in_turns(*floods: Iterator[bytes]) -> Iterator[bytes]:
    """A block of each, again and again."""
    while True:
        for flood_ in floods:
            yield next(flood_)


def text(payload: bytes) -> bytes:
    """A whole text frame."""
    return raw(payload)
