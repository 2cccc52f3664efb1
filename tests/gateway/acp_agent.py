"""What a scripted agent of the wire `acp` says."""

from typing import Any

from gateway.agent import Line
from gateway.waiting import until

SESSION = "session-1"


def response(number: int, **result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def text(delta: str) -> dict[str, Any]:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": delta}}
    return {
        "jsonrpc": "2.0",
        "method": "session/update",
        "params": {"sessionId": SESSION, "update": update},
    }


def of_method(line: Line, method: str) -> list[dict[str, Any]]:
    return [each for each in line.heard if each.get("method") == method]


async def begin(line: Line) -> None:
    """Open a session, or the one of before, and take the prompt."""
    await until(lambda: line.closed or of_method(line, "initialize"))
    await line.say(response(1, protocolVersion=1, agentCapabilities={"loadSession": True}))
    await until(lambda: line.closed or len(line.heard) > 1)
    if of_method(line, "session/load"):
        await line.say(text("what was before"), response(2))
    else:
        await line.say(response(2, sessionId=SESSION))
    await until(lambda: line.closed or of_method(line, "session/prompt"))
    await line.say(text("Hello"))
