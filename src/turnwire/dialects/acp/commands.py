"""The messages that the gateway sends on this wire. Each function returns one, in JSON."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from turnwire import __version__
from turnwire.core.connect import ConnectRequest

CONNECT: Final = ConnectRequest()

VERSION: Final = 1
"""The version of the protocol."""

NO_SUCH_METHOD: Final = -32601


def _request(number: int, method: str, params: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def initialize(number: int) -> bytes:
    """The first message. It declares no access to files or terminals: there are none of a user."""
    abilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    params = {
        "protocolVersion": VERSION,
        "clientCapabilities": abilities,
        "clientInfo": {"name": "turnwire", "version": __version__},
    }
    return _request(number, "initialize", params)


def new_session(number: int, cwd: str) -> bytes:
    return _request(number, "session/new", {"cwd": cwd, "mcpServers": []})


def load_session(number: int, session_id: str, cwd: str) -> bytes:
    """Go on with a session, whose past comes before the response."""
    params = {"sessionId": session_id, "cwd": cwd, "mcpServers": []}
    return _request(number, "session/load", params)


def resume_session(number: int, session_id: str, cwd: str) -> bytes:
    """Go on with a session, without its past."""
    params = {"sessionId": session_id, "cwd": cwd, "mcpServers": []}
    return _request(number, "session/resume", params)


def prompt(number: int, session_id: str, blocks: Sequence[Any]) -> bytes:
    return _request(number, "session/prompt", {"sessionId": session_id, "prompt": blocks})


def cancel(session_id: str) -> bytes:
    """A notification: the response to the prompt is the answer to it."""
    return msgspec.json.encode(
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session_id}}
    )


def selected(request_id: Raw, option_id: str | int | None) -> bytes:
    """The answer to a request for a permission; None: the turn was cancelled."""
    outcome = (
        {"outcome": "cancelled"}
        if option_id is None
        else {"outcome": "selected", "optionId": option_id}
    )
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": {"outcome": outcome}})


def refused(request_id: Raw) -> bytes:
    """The answer to a request for something that was never declared."""
    error = {"code": NO_SUCH_METHOD, "message": "Method not found"}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": error})
