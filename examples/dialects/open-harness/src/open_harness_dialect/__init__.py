"""The January wire of Open Harness: `agent:*`, `node:*` and `flow:*` events on one WebSocket.

The server sends the events of all runs to everybody who is connected, and its `abort` stops
whatever runs. So there are two dialects: for a server that others may use too, and for one that
this gateway has for one session alone.
"""

import turnwire.dialect as td
from open_harness_dialect.frames import SCHEMA
from open_harness_dialect.turn import Turn

__all__ = ["OpenHarness", "OpenHarnessAlone"]


class OpenHarness(td.PromptsOnly):
    """A server that others may use: nothing on this wire would stop our run alone."""

    name = "open-harness"
    surface = "1"
    transport = "websocket"
    features = frozenset({td.Feature.REASONING, td.Feature.QUESTIONS, td.Feature.USAGE})
    schema = SCHEMA
    may_abort = False

    def prompt(
        self, request: td.PromptRequest, member: td.Member | None = None, /
    ) -> td.AgentProtocol:
        """Return the protocol of one run."""
        return Turn(request, member, may_abort=self.may_abort)


class OpenHarnessAlone(OpenHarness):
    """A server for one session of this gateway: an abort is sent while no other run is open."""

    name = "open-harness-alone"
    may_abort = True
