"""An MCP server by HTTP whose answers are bytes: each as a test wants it."""

import json
from dataclasses import dataclass, field
from typing import Any

from runtime.llm.scripted_server import Asked, Connection, ScriptedServer, head, response

TEXT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
ECHO = {"name": "echo", "inputSchema": TEXT}


@dataclass
class ScriptedHttp:
    """Answers by the method that it is asked, and by `instead` where that has one."""

    instead: dict[str, bytes] = field(default_factory=dict)
    token: str = ""
    """What is in the header of a client that may come in; empty: anybody may."""
    text: str = "done"
    """The result of its tool."""
    streams: bool = False
    """It answers a call by an event."""

    def __post_init__(self) -> None:
        self.server = ScriptedServer([self._answer])

    def asked(self, method: str) -> list[Asked]:
        return [each for each in self.server.asked if _method(each) == method]

    async def _answer(self, connection: Connection) -> bool:
        asked = self.server.asked[-1]
        await connection.send(self._reply(asked))
        return False

    def _reply(self, asked: Asked) -> bytes:
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return response(401)
        method = _method(asked)
        if method in self.instead:
            return self.instead[method]
        match method:
            case "initialize":
                given = json.loads(asked.body)["params"]["protocolVersion"]
                capabilities = {"tools": {"listChanged": True}}
                info = {"name": "scripted", "version": "1"}
                session = {"mcp-session-id": "s1"}
                return self.result(
                    {"protocolVersion": given, "capabilities": capabilities, "serverInfo": info},
                    **session,
                )
            case "tools/list":
                return self.result({"tools": [ECHO]})
            case "tools/call":
                return self.result({"content": [{"type": "text", "text": self.text}]})
            case "":
                return response(405)
            case _ if "id" in json.loads(asked.body):
                return self._json({"error": {"code": -32601, "message": "no such method"}})
        return head(202, {"content-length": "0", "connection": "close"})

    def result(self, value: dict[str, Any], **headers: str) -> bytes:
        return self._json({"result": value}, **headers)

    def _json(self, message: dict[str, Any], **headers: str) -> bytes:
        asked = json.loads(self.server.asked[-1].body)
        whole = {"jsonrpc": "2.0", "id": asked["id"], **message}
        if self.streams and asked["method"] == "tools/call":
            event = f"data: {json.dumps(whole)}\n\n".encode()
            return response(200, event, content_type="text/event-stream")
        return response(200, whole, content_type="application/json", **headers)


def _method(asked: Asked) -> str:
    return str(json.loads(asked.body).get("method", "")) if asked.body else ""
