"""A line between a client and the gateway that breaks, and the client that takes it up again."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from conformance.clients import FOLDER, NoClientsError, node
from turnwire_lab.faultproxy import FaultProxy, Way

CLIENT: Final = "workflow-2.0.43"


class Asked(msgspec.Struct, frozen=True):
    """One request of the transport."""

    method: str
    url: str
    status: int
    type: str | None = None
    run: str | None = None


class Played(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    messages: list[msgspec.Raw]
    status: str
    error: str | None
    requests: list[Asked]
    timed_out: bool


async def play(
    api: str, text: str, headers: Mapping[str, str], body: Mapping[str, Any] | None = None
) -> Played:
    """Ask once over the transport.

    Raises:
        NoClientsError: it is not installed.

    """
    if not (FOLDER / CLIENT / "node_modules" / ".stamp").exists():
        raise NoClientsError(f"{CLIENT} is not installed; run `make node`")
    job = {"api": api, "text": text, "headers": headers, "body": body or {}, "limitMs": 25_000}
    process = await asyncio.create_subprocess_exec(
        *(node(), str(FOLDER / "workflow.mjs")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await process.communicate(json.dumps(job).encode())
    assert process.returncode == 0, errors.decode()
    return msgspec.json.decode(out, type=Played)


class BreakingLine(FaultProxy):
    """Every connection breaks after so many bytes of the answer.

    The first connections break, as many as there are numbers; all later ones last.
    """

    def __init__(self, port: int, breaks: Iterable[int], *, holds: bool = False) -> None:
        super().__init__(port)
        self.opened = asyncio.Event()
        """Cleared by a break that holds: later connections wait for it."""
        self.opened.set()
        self._holds = holds
        self._breaks = iter(breaks)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _ways(self) -> tuple[Way, Way]:
        await self.opened.wait()
        return Way(), Way(cut_after=next(self._breaks, None))

    def _broke(self) -> None:
        super()._broke()
        if self._holds:
            self.opened.clear()
