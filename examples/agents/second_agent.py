"""The second agent of the v2 wire; docs/second-agent.md goes through it."""

import asyncio
import hmac
import json
import os
import re
import traceback
from urllib.parse import unquote
from weakref import WeakSet

from websockets.asyncio.server import Request, Response, ServerConnection, broadcast, serve

TOOLS = {"divide": lambda a, b: a / b}


class Session:
    """One conversation. Its turns outlive their sockets, but not this process."""

    def __init__(self) -> None:
        self.sockets: WeakSet[ServerConnection] = WeakSet()
        self.messages: list[dict] = []  # prompts and their turns, as `init` lists them
        self.waiting: dict[str, dict] = {}  # prompts whose turn has not begun, by their ids
        self.turn: dict = {}  # the one that runs: it has the id of its prompt

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

    async def perform(self, call: dict) -> dict:
        await asyncio.sleep(1)  # tools take their time, and the user may stop one
        result = TOOLS[call["toolName"]](**call["args"])
        return {"status": "completed", "result": json.loads(json.dumps(result))}

    async def call(self, tool: str, **args: object) -> object:
        call = {"type": "tool-call", "toolName": tool, "args": args, "status": "running"}
        call["callId"] = f"{self.turn['id']}:{len(self.turn['parts'])}"
        self.send("message.part.tool-update", **call)
        self.turn["parts"].append(call)
        ended = {"status": "error", "error": "Stopped"}
        try:
            ended = await self.perform(call)
        except Exception:  # noqa: BLE001 (a tool may raise anything, and its turn goes on)
            traceback.print_exc()  # the user reads only the next line
            ended["error"] = f"{tool} failed"
        finally:
            self.send("message.part.tool-update", **(call | ended))
            call |= ended
        return call.get("result")

    def text(self, delta: str) -> None:
        self.send("message.part.text-delta", delta=delta)
        parts = self.turn["parts"]
        if not parts or parts[-1]["type"] != "text":
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += delta

    def send(self, kind: str, /, **fields: object) -> None:
        broadcast(self.sockets, json.dumps({"turnId": self.turn["id"], **fields, "type": kind}))

    async def talk(self, socket: ServerConnection) -> None:
        user = unquote(socket.request.headers.get("x-turnwire-user", ""))
        session = {"messages": [*self.messages, *self.waiting.values()]}
        data = {"runningTurnId": self.turn.get("id"), "promptsQueued": len(self.waiting)}
        broadcast([socket], json.dumps({"type": "init", "session": session, "data": data}))
        self.sockets.add(socket)  # nothing is awaited: each delta is in `init`, or comes after it
        async for text in socket:
            self.receive(json.loads(text), user)

    def receive(self, frame: dict, user: str) -> None:
        turn_id = frame.get("turnId") or frame.get("promptId", "")
        if frame["type"] == "prompt":
            names = ("promptId", "clientMessageId", "channelType", "channelId")
            parts = [{"type": "text", "text": frame["content"]}]
            prompt = {"id": f"{turn_id}:prompt", "role": "user", "userId": user, "parts": parts}
            self.waiting[turn_id] = prompt | {name: frame.get(name) for name in names}
            self.begin()
        elif frame["type"] == "abort" and self.waiting.pop(turn_id, None):
            self.send("error", turnId=None, promptId=turn_id, error="The prompt was taken back")
        elif frame["type"] == "abort" and self.turn.get("id") == turn_id:
            self.task.cancel()

    def begin(self) -> None:
        if self.waiting and not self.turn:  # turns run one after another
            turn_id = next(iter(self.waiting))
            prompt = self.waiting.pop(turn_id)
            self.turn = prompt | {"id": turn_id, "role": "assistant", "parts": []}
            self.messages += [prompt, self.turn]
            self.send("message.create", promptId=turn_id)
            self.task = asyncio.create_task(self.think(prompt["parts"][0]["text"]))
            self.task.add_done_callback(self.end)

    def end(self, task: asyncio.Task) -> None:
        reason = "canceled" if task.cancelled() else "error" if task.exception() else "end_turn"
        if reason == "error":
            traceback.print_exception(task.exception())
        self.send("message.finalize", reason=reason)
        self.turn["parts"].append({"type": "finish", "reason": reason})
        self.turn = {}
        self.begin()


async def main(session_class: type[Session]) -> None:
    wanted = f"Bearer {os.environ['AGENT_TOKEN']}".encode()
    sessions: dict[str, Session] = {}  # by the path of their sockets

    def admit(socket: ServerConnection, request: Request) -> Response | None:
        given = request.headers.get("authorization", "").encode()
        return None if hmac.compare_digest(given, wanted) else socket.respond(401, "no\n")

    async def handle(socket: ServerConnection) -> None:
        await sessions.setdefault(socket.request.path, session_class()).talk(socket)

    port = int(os.environ.get("PORT", "8765"))
    limits = {"max_size": 2**25, "ping_timeout": 120}  # prompts have files, clients are slow
    async with serve(handle, "127.0.0.1", port, process_request=admit, **limits) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(Session))
