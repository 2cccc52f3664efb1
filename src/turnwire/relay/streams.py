"""The streams that are open now: their counts, their caps, and the order to drain.

The only state that requests of one process share. Owned by the composition
root; bounded by the caps.
"""

from collections import Counter
from contextlib import AbstractContextManager
from typing import Protocol, Self

from turnwire.errors import TooManyStreams, Unavailable


class Drains(Protocol):
    def drain(self) -> None:
        """The gateway stops. Never raises: the others are to be told too."""
        ...


class _Place:
    """A place among the open streams. No generator: that is a third of a kilobyte a stream."""

    __slots__ = ("_streams", "_user_id")

    def __init__(self, streams: "Streams", user_id: str) -> None:
        self._streams = streams
        self._user_id = user_id

    def __enter__(self) -> Self:
        self._streams.count(self._user_id, 1)
        return self

    def __exit__(self, *_: object) -> None:
        self._streams.count(self._user_id, -1)


class _Running:
    """A stream among those that are told."""

    __slots__ = ("_open", "_stream")

    def __init__(self, running: set[Drains], stream: Drains) -> None:
        self._open = running
        self._stream = stream

    def __enter__(self) -> Self:
        self._open.add(self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.discard(self._stream)


class Streams:
    """`most` streams in all and `most_per_user` of one user; 0 is no limit."""

    def __init__(self, *, most: int, most_per_user: int) -> None:
        self._most = most
        self._most_per_user = most_per_user
        self._of_user: Counter[str] = Counter()
        self._open: set[Drains] = set()
        self._places = 0
        self.draining = False

    def __len__(self) -> int:
        return self._places

    @property
    def open(self) -> int:
        """How many run, and would be told."""
        return len(self._open)

    def place(self, user_id: str) -> AbstractContextManager[object]:
        """Take a place among the open streams.

        Raises:
            Unavailable: the process has as many as it may have.
            TooManyStreams: this user has.

        """
        if self._most and self._places >= self._most:
            raise Unavailable("stream limit of the process")
        if self._most_per_user and self._of_user[user_id] >= self._most_per_user:
            raise TooManyStreams("stream limit of the user")
        return _Place(self, user_id)

    def running(self, stream: Drains) -> AbstractContextManager[object]:
        """Have a stream told when the gateway drains.

        Raises:
            Unavailable: it does already: what was not asked yet is not asked.

        """
        if self.draining:
            raise Unavailable("draining")
        return _Running(self._open, stream)

    def count(self, user_id: str, more: int) -> None:
        """Count a user's place in, or out."""
        self._places += more
        self._of_user[user_id] += more
        if not self._of_user[user_id]:
            del self._of_user[user_id]

    def drain(self) -> None:
        """Tell every open stream that the gateway stops."""
        self.draining = True
        for stream in list(self._open):
            stream.drain()
