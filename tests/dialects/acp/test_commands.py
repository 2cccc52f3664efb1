"""What the gateway sends: JSON-RPC, and no access to anything."""

import json

from msgspec import Raw

from turnwire import __version__
from turnwire.dialects.acp import commands


def test_no_files_and_no_terminal_are_declared() -> None:
    sent = json.loads(commands.initialize(1))

    assert (sent["jsonrpc"], sent["id"], sent["method"]) == ("2.0", 1, "initialize")
    assert sent["params"] == {
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": False, "writeTextFile": False},
            "terminal": False,
        },
        "clientInfo": {"name": "turnwire", "version": __version__},
    }


def test_sessions() -> None:
    made = json.loads(commands.new_session(2, "/work"))
    loaded = json.loads(commands.load_session(2, "s1", "/work"))
    resumed = json.loads(commands.resume_session(2, "s1", "/work"))

    assert made["params"] == {"cwd": "/work", "mcpServers": []}
    assert loaded["params"] == resumed["params"] == made["params"] | {"sessionId": "s1"}
    assert [each["method"] for each in (made, loaded, resumed)] == [
        *("session/new", "session/load", "session/resume")
    ]


def test_a_cancel_is_a_notification() -> None:
    sent = json.loads(commands.cancel("s1"))

    assert "id" not in sent
    assert (sent["method"], sent["params"]) == ("session/cancel", {"sessionId": "s1"})


def test_answers_to_requests() -> None:
    assert json.loads(commands.selected(Raw(b'"a"'), "once"))["result"] == {
        "outcome": {"outcome": "selected", "optionId": "once"}
    }
    assert json.loads(commands.selected(Raw(b"7"), None))["result"]["outcome"] == {
        "outcome": "cancelled"
    }
    refused = json.loads(commands.refused(Raw(b"7")))
    assert (refused["id"], refused["error"]["code"]) == (7, commands.NO_SUCH_METHOD)
