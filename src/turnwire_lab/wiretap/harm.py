"""What can go wrong on purpose: once for the next prompt of a session, or at once."""

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
    "agent-killed",
]
FAULTS: Final[tuple[Fault, ...]] = tuple(each for each in get_args(Fault) if each != "agent-killed")
"""Those that every agent can meet."""
KILLED: Final[Fault] = "agent-killed"
"""Of an agent whose process the demo may kill. It happens at once, whatever runs."""

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

    def __init__(
        self, restart: Callable[[], None], kill: Callable[[str], None] | None = None
    ) -> None:
        self.restart = restart
        self._kill = kill
        self._next: dict[str, Fault] = {}
        self._waiting: dict[str, asyncio.Event] = {}

    def plan(self, session: str, fault: Fault) -> None:
        """Let it happen to the next prompt of the session; to the agent's process, at once."""
        if fault != KILLED:
            self._next[session] = fault
        elif self._kill is not None:
            self._kill(session)

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
