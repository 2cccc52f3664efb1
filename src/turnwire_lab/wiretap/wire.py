"""What passed, in order: kept for a while, and sent to watchers.

Everything is stamped by one clock in one process, so that the time between a frame and the chunks
it became is a difference of two numbers.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

import msgspec

from turnwire_lab.wiretap import json_rpc
from turnwire_lab.wiretap.matching import Link, Matcher
from turnwire_lab.wiretap.records import KEEPALIVE

KEPT: Final = 3000
"""Entries kept for new watchers."""
WAITING: Final = 1000
"""Entries that may wait for one who watches; older ones are skipped."""
AT_FIRST: Final = 400
"""How many of those a new watcher gets."""
BODY: Final = 4000
"""Characters of a frame or chunk that are shown."""
RUNS: Final = 200
"""Requests whose frames may still be matched."""

QUIET: Final = "quiet-"
"""Requests with this prefix are not shown: a page polls with them."""

Lane = Literal["request", "command", "frame", "chunk", "note"]


class Entry(msgspec.Struct, frozen=True):
    """One thing that passed."""

    n: int
    at: float
    """Milliseconds since this wire began."""
    run: str
    """The request it belongs to; empty for what concerns all."""
    session: str
    lane: Lane
    kind: str
    size: int
    body: str


class Batch(msgspec.Struct, frozen=True):
    """What a new watcher gets at once."""

    entries: list[Entry]
    links: list[Link]
    skipped: int


class Watch:
    """One who watches: what waits for them."""

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self._links: list[Link] = []
        self._skipped = 0
        self._something = asyncio.Event()

    def add(self, entry: Entry) -> None:
        self._entries.append(entry)
        if len(self._entries) > WAITING:
            self._entries.popleft()
            self._skipped += 1
        self._something.set()

    def link(self, links: list[Link]) -> None:
        self._links += links
        del self._links[:-WAITING]

    async def next(self) -> Batch:
        """What came since the last time, as soon as there is something."""
        await self._something.wait()
        self._something.clear()
        batch = Batch(list(self._entries), self._links, self._skipped)
        self._entries.clear()
        self._links = []
        self._skipped = 0
        return batch


class Wire:
    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began = clock()
        self._number = itertools.count(1)
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._links: deque[Link] = deque(maxlen=KEPT)
        self._matchers: dict[str, Matcher] = {}
        self._watching: set[Watch] = set()

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Watch until the block is left; what is kept comes first."""
        watch = Watch()
        recent = list(self._entries)[-AT_FIRST:]
        for entry in recent:
            watch.add(entry)
        watch.link([link for link in self._links if recent and link[0] >= recent[0].n])
        self._watching.add(watch)
        try:
            yield watch
        finally:
            self._watching.discard(watch)

    def request(self, run: str, session: str, kind: str, body: bytes = b"") -> None:
        self._write(run, session, "request", kind, body)

    def command(self, run: str, session: str, frame: bytes, kind: str | None = None) -> None:
        """A frame from the gateway to the agent; `kind` if the frame does not say it."""
        self._write(run, session, "command", kind or kind_of(frame), frame)

    def frame(self, run: str, session: str, frame: bytes) -> None:
        """A frame from the agent to the gateway."""
        fields = fields_of(frame)
        kind = str(fields.get("type", "?"))
        entry = self._write(run, session, "frame", kind, frame)
        if entry is not None:
            self._matcher(run).frame(entry.n, fields)

    def chunk(self, run: str, session: str, data: bytes) -> None:
        """A record from the gateway to the client: its JSON."""
        fields = fields_of(data)
        kind = str(fields.get("type", data.decode(errors="replace")))
        entry = self._write(run, session, "chunk", kind, data)
        if (
            data != KEEPALIVE
            and entry is not None
            and (links := self._matcher(run).chunk(entry.n, fields))
        ):
            self._links.extend(links)
            for watch in self._watching:
                watch.link(links)

    def note(self, session: str, text: str, run: str = "") -> None:
        """What the demo itself did to the line."""
        self._write(run, session, "note", text, b"")

    def _write(self, run: str, session: str, lane: Lane, kind: str, body: bytes) -> Entry | None:
        if run.startswith(QUIET):
            return None
        at = round((self._clock() - self._began) * 1000, 3)
        text = body[: 4 * BODY].decode(errors="replace")[:BODY]
        entry = Entry(next(self._number), at, run, session, lane, kind, len(body), text)
        self._entries.append(entry)
        for watch in self._watching:
            watch.add(entry)
        return entry

    def _matcher(self, run: str) -> Matcher:
        if (matcher := self._matchers.get(run)) is None:
            while len(self._matchers) >= RUNS:
                del self._matchers[next(iter(self._matchers))]
            matcher = self._matchers[run] = Matcher()
        return matcher


def fields_of(data: bytes) -> dict[str, object]:
    """The fields of a JSON object, those of JSON-RPC with a `type`; none for anything else."""
    try:
        fields = msgspec.json.decode(data, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return {}
    return json_rpc.typed(fields) if "jsonrpc" in fields else fields


def kind_of(frame: bytes) -> str:
    return str(fields_of(frame).get("type", "?"))
