"""Dialects with a bug: a frame that holds `BUG` makes them raise, and ends nothing by itself.

Neither does the end of the connection: so a turn that nothing else ends would last.
"""

from typing import Any, Final

from support.http_dialect import HttpDialect
from turnwire.core.agent import Decoded
from turnwire.dialects.v2 import V2

BUG: Final = b"raise"


class BugError(Exception):
    """Nobody expects it."""


class Raising:
    """Another protocol, but for its bug."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol, name)

    def receive_frame(self, raw: bytes, now: float) -> Any:
        if BUG in raw:
            raise BugError
        return self._protocol.receive_frame(raw, now)

    def connection_lost(self, _now: float) -> Decoded:
        return Decoded()


class RaisingOverHttp(HttpDialect):
    def prompt(self, *asked: Any) -> Any:
        return Raising(super().prompt(*asked))


class RaisingOverWebSocket(V2):
    def prompt(self, *asked: Any) -> Any:
        return Raising(super().prompt(*asked))
