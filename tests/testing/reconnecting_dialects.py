"""The example of a turn over several connections, its suite, and the same with one fault each."""

import sys
from typing import TYPE_CHECKING, Any, Final

import turnwire.dialect as td
from testing.minimal_suite import FOLDER

if TYPE_CHECKING:
    import several_connections as example
    from several_connections_test import TestSeveralConnections as ExampleSuite
else:
    sys.path.insert(0, str(FOLDER))
    try:
        import several_connections as example
        from several_connections_test import TestSeveralConnections as ExampleSuite
    finally:
        sys.path.remove(str(FOLDER))

TEST: Final = "test_a_connection_may_be_lost_after_each_frame"


class TakesAllAgain(example.Turn):
    """It asks for all frames, and takes those that it had for new ones."""

    def connection_lost(self, now: float) -> td.Decoded | None:
        kept = super().connection_lost(now)
        self._seen = -1
        return kept


class NeverDials(example.Turn):
    def tick(self, now: float) -> td.Decoded:
        if now >= self.deadline:
            self.deadline = now + 1
        return td.ALIVE


class GivesUp(example.Turn):
    """It ends when a dial fails."""

    def dial_failed(self, _now: float) -> td.Decoded | None:
        return None


FAULTS: Final[dict[str, tuple[type[Any], str]]] = {
    "takes what is told again for new": (TakesAllAgain, "the message is another one"),
    "never dials": (NeverDials, "the turn opens no other connection"),
    "gives up when a dial fails": (GivesUp, "the turn opens no other connection"),
}


class ReconnectingSuite(ExampleSuite):
    def __init__(self, turn: type[Any]) -> None:
        class Faulty(example.SeveralConnections):
            def prompt(self, request: td.PromptRequest, _member: td.Member | None = None) -> Any:
                return turn(request)

        self.dialect = Faulty()


__all__ = ["FAULTS", "TEST", "ExampleSuite", "ReconnectingSuite", "example"]
