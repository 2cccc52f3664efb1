"""The streams that are open now: their counts, their caps, and the order to drain.

The only state that requests of one process share. Owned by the composition
root; bounded by the caps.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from turnwire.errors import TooManyStreams, Unavailable


class Drains(Protocol):
    def drain(self) -> None: ...


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

    @contextmanager
    def place(self, user_id: str) -> Iterator[None]:
        """Take a place among the open streams.

        Raises:
            Unavailable: the process has as many as it may have.
            TooManyStreams: this user has.

        """
        if self._most and self._places >= self._most:
            raise Unavailable("stream limit of the process")
        if self._most_per_user and self._of_user[user_id] >= self._most_per_user:
            raise TooManyStreams("stream limit of the user")
        self._places += 1
        self._of_user[user_id] += 1
        try:
            yield
        finally:
            self._places -= 1
            self._of_user[user_id] -= 1
            if not self._of_user[user_id]:
                del self._of_user[user_id]

    @contextmanager
    def running(self, stream: Drains) -> Iterator[None]:
        """Have a stream told when the gateway drains.

        Raises:
            Unavailable: it does already: what was not asked yet is not asked.

        """
        if self.draining:
            raise Unavailable("draining")
        self._open.add(stream)
        try:
            yield
        finally:
            self._open.discard(stream)

    def drain(self) -> None:
        """Tell every open stream that the gateway stops."""
        self.draining = True
        for stream in list(self._open):
            stream.drain()
