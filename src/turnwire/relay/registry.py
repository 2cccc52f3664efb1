"""The open requests of the process: their number, their limits, and the drain notice.

Take a `slot` for each request, and `register` a stream while it runs. The composition root makes
one registry for streams and one for operations. The limits bound their size.
"""

from contextlib import AbstractContextManager
from typing import Protocol, Self

from turnwire.errors import TooManyStreams, Unavailable


class Drainable(Protocol):
    def drain(self) -> None:
        """The gateway stops. Must not raise: the other streams get this notice too."""
        ...


class _Slot:
    """Context manager: counts one request of a user. A generator takes 0.3 KiB a request."""

    __slots__ = ("_registry", "_user_id")

    def __init__(self, registry: "RequestRegistry", user_id: str) -> None:
        self._registry = registry
        self._user_id = user_id

    def __enter__(self) -> Self:
        self._registry.count(self._user_id, 1)
        return self

    def __exit__(self, *_: object) -> None:
        self._registry.count(self._user_id, -1)


class _Registration:
    """Context manager: registers a stream for the drain notice."""

    __slots__ = ("_open", "_stream")

    def __init__(self, streams: set[Drainable], stream: Drainable) -> None:
        self._open = streams
        self._stream = stream

    def __enter__(self) -> Self:
        self._open.add(self._stream)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.discard(self._stream)


class RequestRegistry:
    """Allows `most` requests in all and `most_per_user` of one user; 0 is no limit."""

    def __init__(self, *, most: int, most_per_user: int) -> None:
        self._most = most
        self._most_per_user = most_per_user
        self._slots_of_user: dict[str, int] = {}
        self._open: set[Drainable] = set()
        self._slots = 0
        self.draining = False

    def __len__(self) -> int:
        return self._slots

    @property
    def open(self) -> int:
        """Number of registered streams: those that get the drain notice."""
        return len(self._open)

    def slot(self, user_id: str) -> AbstractContextManager[object]:
        """Take one of the slots for open requests, until the context manager exits.

        Raises:
            Unavailable: all slots of the process are taken.
            TooManyStreams: all slots of this user are taken.

        """
        if self._most and self._slots >= self._most:
            raise Unavailable("stream limit of the process")
        if self._most_per_user and self._slots_of_user.get(user_id, 0) >= self._most_per_user:
            raise TooManyStreams("stream limit of the user")
        return _Slot(self, user_id)

    def check(self) -> None:
        """Check that streams may still be registered.

        Raises:
            Unavailable: the gateway drains already.

        """
        if self.draining:
            raise Unavailable("draining")

    def register(self, stream: Drainable) -> AbstractContextManager[object]:
        """Send the drain notice to this stream, until the context manager exits.

        Raises:
            Unavailable: the gateway drains already. The agent must not get a new prompt then.

        """
        self.check()
        return _Registration(self._open, stream)

    def count(self, user_id: str, change: int) -> None:
        """Add `change` (1 or -1) to the slots of the process and of this user."""
        self._slots += change
        slots = self._slots_of_user.get(user_id, 0) + change
        if slots:
            self._slots_of_user[user_id] = slots
        else:
            del self._slots_of_user[user_id]

    def drain(self) -> None:
        """Send the drain notice to every registered stream, and register no more."""
        self.draining = True
        for stream in list(self._open):
            stream.drain()
