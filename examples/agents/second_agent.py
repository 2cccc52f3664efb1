"""The second agent of the v2 wire; docs/second-agent.md goes through it."""

import asyncio
import hmac
import json
import os
import re
import traceback
from collections import defaultdict
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from websockets.asyncio.server import serve

from second_agent_wire import Json, Session

TOOLS: dict[str, Any] = {"divide": lambda a, b: a / b}


class ThinkingSession(Session):
    async def think(self, prompt: str) -> None:
        """Stand in for the loop around a model: words of the prompt choose what happens."""
        if numbers := re.search(r"(\d+)/(\d+)", prompt):
            result = await self.call("divide", a=int(numbers[1]), b=int(numbers[2]))
            self.text("That cannot be divided." if result is None else f"It is {result:g}.")
        elif "story" in prompt:
            for line in range(1, 41):
                self.text(f"Line {line} of the story. ")
                await asyncio.sleep(float(os.environ.get("STORY_PAUSE_S", "0.1")))
        else:
            self.text(f"You said: {prompt}")

    async def call(self, tool: str, **args: Any) -> Any:
        call = {"type": "tool-call", "callId": uuid4().hex, "toolName": tool, "args": args}
        self.show("message.part.tool-update", call, status="running")
        ended = {"status": "error", "error": "Stopped"}
        try:
            ended = await self.perform(call)
        except Exception:  # noqa: BLE001 (a tool may raise anything, and its turn goes on)
            traceback.print_exc()  # the user reads only the next line
            ended["error"] = f"{tool} failed"
        finally:
            self.show("message.part.tool-update", call, **ended)
        return ended.get("result")

    async def perform(self, call: Json) -> Json:
        await asyncio.sleep(1)  # tools take their time, and the user may stop one
        result = TOOLS[call["toolName"]](**call["args"])
        json.dumps(result)  # what is no JSON fails here, as a tool that failed
        return {"status": "completed", "result": result}


async def main(kind: type[Session]) -> None:
    sessions: defaultdict[str, Session] = defaultdict(kind)
    wanted = f"Bearer {os.environ['AGENT_TOKEN']}".encode()

    def admit(socket: Any, request: Any) -> Any:
        given = request.headers.get("authorization", "").encode()
        return None if hmac.compare_digest(given, wanted) else socket.respond(401, "no\n")

    async def talk(socket: Any) -> None:
        user = unquote(socket.request.headers.get("x-turnwire-user", ""))
        await sessions[socket.request.path].talk(socket, user)

    port = int(os.environ.get("PORT", "8765"))
    async with serve(
        talk, "127.0.0.1", port, process_request=admit, max_size=2**25, ping_timeout=120
    ) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(ThinkingSession))
