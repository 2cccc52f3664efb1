"""What can go wrong on purpose, once for the next prompt of a session."""

import asyncio
from collections.abc import Callable
from typing import Final, Literal, get_args

Fault = Literal[
    "agent-dies",
    "agent-hangs",
    "agent-floods",
    "agent-babbles",
    "slow-client",
    "gateway-restarts",
]
FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)

AFTER: Final = 12
"""Frames of text that pass unharmed: by then an answer is in the middle."""
FLOOD: Final = 5_000
"""Frames without a prompt."""
FLOOD_FRAME: Final = b'{"type":"telemetry","data":{"load":0.42,"words":"nobody asked for this"}}'
BABBLE: Final = (
    b"this is not JSON",
    b'{"type":',
    b"[1,2,3]",
    b'{"type":"message.part.text-delta","turnId":7,"delta":{"wrong":true}}',
    b'{"type":"message.part.text-delta","turnId":"turn-of-somebody-else","delta":"not yours"}',
    b'{"type":"message.finalize","turnId":"turn-of-somebody-else","reason":"end_turn"}',
    b'{"type":"a.type.nobody.knows","data":null}',
)


class Harm:
    """Which fault is to happen to whom, and what must be done for it elsewhere."""

    def __init__(self, restart: Callable[[], None]) -> None:
        self.restart = restart
        self._next: dict[str, Fault] = {}
        self._waiting: dict[str, asyncio.Event] = {}

    def plan(self, session: str, fault: Fault) -> None:
        self._next[session] = fault

    def take(self, session: str, *, of_client: bool) -> Fault | None:
        """The fault that was planned, if it is this side's to play; then it is spent."""
        fault = self._next.get(session)
        if fault is None or (fault == "slow-client") != of_client:
            return None
        return self._next.pop(session)

    async def until_over(self, run: str) -> None:
        """Wait until the gateway leaves the agent."""
        over = self._waiting.setdefault(run, asyncio.Event())
        try:
            await over.wait()
        finally:
            del self._waiting[run]

    def over(self, run: str) -> None:
        if (waiting := self._waiting.get(run)) is not None:
            waiting.set()
