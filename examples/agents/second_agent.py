"""The second agent of the v2 wire; docs/second-agent.md goes through it."""

import asyncio
import hmac
import json
import os
import re
from collections import OrderedDict, defaultdict
from typing import Any
from urllib.parse import unquote
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection, broadcast, serve

TOOLS: dict[str, Any] = {"divide": lambda a, b: a / b}
Json = dict[str, Any]


class Session:
    """One conversation. Its turns outlive their sockets, but not this process."""

    def __init__(self) -> None:
        self.sockets: WeakSet[ServerConnection] = WeakSet()
        self.messages: list[Json] = []  # prompts and their turns, as `init` lists them
        self.waiting: OrderedDict[str, Json] = OrderedDict()  # prompts whose turn has not begun
        self.turn: Json = {}  # the one that runs: it has the id of its prompt

    def join(self, socket: ServerConnection) -> None:
        messages = [*self.messages, *self.waiting.values()]
        data = {"runningTurnId": self.turn.get("id"), "promptsQueued": len(self.waiting)}
        init = {"type": "init", "session": {"messages": messages}, "data": data}
        broadcast([socket], json.dumps(init))
        self.sockets.add(socket)  # nothing is awaited: each delta is in `init`, or comes after it

    def send(self, kind: str, /, **fields: Any) -> None:
        broadcast(self.sockets, json.dumps(fields | {"type": kind}))

    def receive(self, frame: Json, user: str) -> None:
        named = frame.get("turnId") or frame.get("promptId", "")
        if frame["type"] == "prompt":
            names = ("promptId", "clientMessageId", "channelType", "channelId")
            parts = [{"type": "text", "text": frame["content"]}]
            prompt = {"id": f"{named}:prompt", "role": "user", "userId": user, "parts": parts}
            self.waiting[named] = prompt | {name: frame.get(name) for name in names}
            self.begin()
        elif frame["type"] == "abort" and self.waiting.pop(named, None):
            self.send("error", promptId=named, error="The prompt was taken back")
        elif frame["type"] == "abort" and self.turn.get("id") == named:
            self.task.cancel()

    def begin(self) -> None:
        if self.waiting and not self.turn:  # turns run one after another
            turn_id, prompt = self.waiting.popitem(last=False)
            names = {name: prompt[name] for name in ("promptId", "channelType", "channelId")}
            self.turn = {"id": turn_id, "role": "assistant", "parts": [], **names}
            self.messages += [prompt, self.turn]
            self.send("message.create", turnId=turn_id, **names)
            self.task = asyncio.create_task(self.think(prompt["parts"][0]["text"]))
            self.task.add_done_callback(self.end)

    def end(self, task: asyncio.Task[None]) -> None:
        ended = {"reason": "canceled" if task.cancelled() else "end_turn"}
        if not task.cancelled() and task.exception():  # log it: the user reads only this text
            ended = {"reason": "error", "error": "The agent failed"}
        self.turn["parts"].append({"type": "finish", "reason": ended["reason"]})
        self.send("message.finalize", turnId=self.turn["id"], **ended)
        self.turn = {}
        self.begin()

    def text(self, delta: str) -> None:
        parts = self.turn["parts"]
        if not parts or parts[-1]["type"] != "text":
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += delta
        self.send("message.part.text-delta", turnId=self.turn["id"], delta=delta)

    async def call(self, tool: str, **args: Any) -> Any:
        names = {"callId": f"{self.turn['id']}:{len(self.turn['parts'])}", "toolName": tool}
        call = {"type": "tool-call", **names, "args": args, "status": "running"}
        self.turn["parts"].append(call)
        self.send("message.part.tool-update", turnId=self.turn["id"], **call)
        ended = {"status": "error", "error": "Stopped"}
        try:
            ended = await self.perform(call)
        except Exception:  # noqa: BLE001 (log it: the user reads only this text)
            ended["error"] = f"{tool} failed"
        finally:
            self.send("message.part.tool-update", turnId=self.turn["id"], **call | ended)
            call |= ended
        return ended.get("result")

    async def perform(self, call: Json) -> Json:
        await asyncio.sleep(1)  # tools take their time, and the user may stop one
        return {"status": "completed", "result": TOOLS[call["toolName"]](**call["args"])}

    async def think(self, text: str) -> None:
        """Stand in for the loop around a model: words of the prompt choose what happens."""
        if numbers := re.search(r"(\d+)/(\d+)", text):
            result = await self.call("divide", a=int(numbers[1]), b=int(numbers[2]))
            self.text("That cannot be divided." if result is None else f"It is {result:g}.")
        elif "story" in text:
            for line in range(1, 41):
                self.text(f"Line {line} of the story. ")
                await asyncio.sleep(float(os.environ.get("STORY_PAUSE_S", "0.1")))
        else:
            self.text(f"You said: {text}")


async def main(kind: type[Session]) -> None:
    sessions: defaultdict[str, Session] = defaultdict(kind)
    wanted = f"Bearer {os.environ['AGENT_TOKEN']}".encode()

    def admit(socket: ServerConnection, request: Any) -> Any:
        given = request.headers.get("authorization", "").encode()
        return None if hmac.compare_digest(given, wanted) else socket.respond(401, "no\n")

    async def talk(socket: Any) -> None:
        session = sessions[socket.request.path]
        user = unquote(socket.request.headers.get("x-turnwire-user", ""))
        session.join(socket)
        async for text in socket:
            session.receive(json.loads(text), user)

    port = int(os.environ.get("PORT", "8765"))
    async with serve(talk, "127.0.0.1", port, process_request=admit, max_size=2**25) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Session))
