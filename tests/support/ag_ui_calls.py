"""Calls of a message of AG-UI, begun and repeated."""

from turnwire.core.events import Event
from turnwire.dialects.ag_ui.content.calls import Calls


def begun(*deltas: str) -> Calls:
    calls = Calls()
    calls.start("c1", "x")
    for delta in deltas:
        calls.args("c1", delta)
    return calls


def repeated(calls: Calls, *deltas: str, name: str = "x") -> list[Event]:
    """What a later run tells that begins, and ends, a call with the same id."""
    told = calls.start("c1", name)
    for delta in deltas:
        told += calls.args("c1", delta)
    return told + calls.end("c1")
