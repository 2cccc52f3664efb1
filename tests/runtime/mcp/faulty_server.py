"""An MCP server over its pipes that does what its tools are called, wrong things too. No library.

    faulty_server.py JOURNAL {"option": …}

Each message that it reads is a line of the journal.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any, Final

OPTIONS: Final[dict[str, Any]] = json.loads(sys.argv[2])
TOOLS: Final = (
    "echo",
    "hang",
    "die",
    "change",
    "long",
    "refuse",
    "nonsense",
    "env",
    "fail",
    "sleep",
)
TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}}
CHANGED: Final = {"type": "object", "properties": {"text": {"type": "integer"}}}


class Server:
    """What it says that it has."""

    def __init__(self) -> None:
        self.schema: dict[str, Any] = TEXT

    def tools(self) -> list[dict[str, Any]]:
        named = [{"name": name, "inputSchema": self.schema} for name in TOOLS]
        large = {"type": "object", "title": "x" * OPTIONS.get("large", 0)}
        return [*named, *OPTIONS.get("more", []), {"name": "large", "inputSchema": large}]

    def answer(self, asked: dict[str, Any]) -> None:
        match asked.get("method"):
            case "initialize":
                capabilities = {"tools": {"listChanged": True}} if OPTIONS.get("able", True) else {}
                version = asked["params"]["protocolVersion"]
                info = {"name": "faulty", "version": "1"}
                given = {"protocolVersion": version, "serverInfo": info}
                result(asked, {**given, "capabilities": capabilities})
            case "tools/list":
                self.list(asked)
            case "tools/call":
                self.call(asked, asked["params"]["name"])
            case method if "id" in asked and method:
                error(asked, -32601, "no such method")

    def list(self, asked: dict[str, Any]) -> None:
        if OPTIONS.get("endless"):
            tools = [{"name": f"t{n}", "inputSchema": TEXT} for n in range(10)]
            result(asked, {"tools": tools, "nextCursor": "again"})
        elif not OPTIONS.get("unlisted"):
            result(asked, {"tools": self.tools()})

    def call(self, asked: dict[str, Any], name: str) -> None:
        arguments = asked["params"].get("arguments", {})
        match name:
            case "echo":
                texts(asked, json.dumps(arguments))
            case "die":
                os._exit(3)
            case "change":
                self.schema = CHANGED
                tell({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
                texts(asked, "changed")
            case "long":
                texts(asked, "x" * int(arguments.get("text", 1000)))
            case "refuse":
                error(asked, -32603, "canary-of-the-server")
            case "nonsense":
                result(asked, {"content": 5})
            case "sleep":
                signal.pause()  # and reads no more
            case "env":
                texts(asked, json.dumps(dict(os.environ)))
            case "fail":
                result(asked, {"content": [{"type": "text", "text": "no"}], "isError": True})
            case _:
                return  # nobody answers


def tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def result(asked: dict[str, Any], value: dict[str, Any]) -> None:
    tell({"jsonrpc": "2.0", "id": asked["id"], "result": value})


def error(asked: dict[str, Any], code: int, message: str) -> None:
    tell({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": code, "message": message}})


def texts(asked: dict[str, Any], text: str) -> None:
    result(asked, {"content": [{"type": "text", "text": text}]})


def main() -> None:
    server, journal = Server(), Path(sys.argv[1])
    sys.stdout.write("Good morning, this is no JSON.\n")
    if OPTIONS.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with journal.open("a") as lines:
        lines.write(json.dumps({"pid": os.getpid()}) + "\n")
        for line in sys.stdin:
            lines.write(line)
            lines.flush()
            if not OPTIONS.get("deaf"):
                server.answer(json.loads(line))
    while OPTIONS.get("stubborn"):
        signal.pause()


main()
