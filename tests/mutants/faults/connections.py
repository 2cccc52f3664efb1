"""Connections that are held, left or read otherwise than they should: the relay, the server."""

import ast
from collections.abc import Sequence
from typing import Any, Final

from mutants.edit import decided, without
from mutants.fault import Fault, Function
from mutants.wrong import nothing_is_done
from turnwire.core.turn.output import Output
from turnwire.relay.client_writer import ClientWriter


def unheard(_client_left: Function) -> Function:
    return lambda *_args: Output()


def the_last_comes_first(enqueue: Function) -> Function:
    def wrong(self: ClientWriter, pieces: Sequence[bytes]) -> Any:
        enqueue(self, pieces)
        assert self._pending is not None
        self._pending.rotate(len(pieces))

    return wrong


_STREAM: Final = "turnwire.relay.turn_stream:Stream"
_CONNECTION: Final = "turnwire.web.server.http_protocol:HttpConnection"

_CLIENT: Final = ("relay/test_client_writer.py", "relay/test_slow_client.py")
_DIAL: Final = ("relay/agent/test_link.py",)
_HTTP: Final = ("attacks/test_request_smuggling.py",)
_SLOW: Final = ("attacks/test_slow_requests.py",)

FAULTS: Final = (
    Fault(
        "a slow client does not pause the agent",
        f"{_STREAM}.client_blocked",
        without(ast.If),
        _CLIENT,
    ),
    Fault(
        "nobody hears that the client left",
        "turnwire.core.turn.turn:Turn._client_left",
        unheard,
        ("relay/test_endings_of_the_client.py",),
    ),
    Fault(
        "a dial has no limit",
        "turnwire.relay.agent.link:AgentLink.dial",
        without(ast.Assign, 2),
        _DIAL,
    ),
    Fault(
        "what is held is written out of order",
        "turnwire.relay.client_writer:ClientWriter._enqueue",
        the_last_comes_first,
        _CLIENT,
    ),
    Fault(
        "a redirect of the agent is any failure",
        "turnwire.relay.agent.websocket_library:dial_failure",
        decided(ast.IfExp, outcome=False),
        ("relay/agent/test_websocket_library.py",),
    ),
    Fault("a head is not looked at", f"{_CONNECTION}._check_head", nothing_is_done, _HTTP),
    Fault(
        "an error is written into an open stream",
        f"{_CONNECTION}.send_400_response",
        decided(ast.If, outcome=False, nth=2),
        _HTTP,
    ),
    Fault(
        "a head has all the time it wants",
        f"{_CONNECTION}.on_message_begin",
        without(ast.If),
        _SLOW,
    ),
    Fault(
        "a refused body has all the time it wants",
        f"{_CONNECTION}.on_response_complete",
        without(ast.If),
        _SLOW,
    ),
)
