"""The v2 wire of the second agent; docs/second-agent.md goes through it."""

import asyncio
import json
import traceback
from typing import Any
from weakref import WeakSet

from websockets.asyncio.server import ServerConnection, broadcast

Json = dict[str, Any]


class Session:
    """One conversation. Its turns outlive their sockets, but not this process."""

    def __init__(self) -> None:
        self.sockets: WeakSet[ServerConnection] = WeakSet()
        self.messages: list[Json] = []  # prompts and their turns, as `init` lists them
        self.waiting: dict[str, Json] = {}  # prompts whose turn has not begun
        self.turn: Json = {}  # the one that runs: it has the id of its prompt

    async def talk(self, socket: ServerConnection, user: str) -> None:
        messages = [*self.messages, *self.waiting.values()]
        data = {"runningTurnId": self.turn.get("id"), "promptsQueued": len(self.waiting)}
        init = {"type": "init", "session": {"messages": messages}, "data": data}
        broadcast([socket], json.dumps(init))
        self.sockets.add(socket)  # nothing is awaited: each delta is in `init`, or comes after it
        async for text in socket:
            self.receive(json.loads(text), user)

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
            turn_id, prompt = next(iter(self.waiting.items()))
            del self.waiting[turn_id]
            self.turn = prompt | {"id": turn_id, "role": "assistant", "parts": []}
            self.messages += [prompt, self.turn]
            self.send("message.create", turnId=turn_id, promptId=turn_id)
            self.task = asyncio.create_task(self.think(prompt["parts"][0]["text"]))
            self.task.add_done_callback(self.end)

    async def think(self, prompt: str) -> None:
        raise NotImplementedError  # this is yours

    def end(self, task: asyncio.Task[None]) -> None:
        reason = "canceled" if task.cancelled() else "error" if task.exception() else "end_turn"
        if reason == "error":
            traceback.print_exception(task.exception())
        self.show("message.finalize", {"type": "finish", "reason": reason})
        self.turn = {}
        self.begin()

    def text(self, delta: str) -> None:
        parts = self.turn["parts"]
        if not parts or parts[-1]["type"] != "text":
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += delta
        self.send("message.part.text-delta", turnId=self.turn["id"], delta=delta)

    def show(self, kind: str, part: Json, **news: Any) -> None:
        self.send(kind, **(part | news | {"turnId": self.turn["id"]}))
        part |= news
        if part not in self.turn["parts"]:
            self.turn["parts"].append(part)

    def send(self, kind: str, /, **fields: Any) -> None:
        broadcast(self.sockets, json.dumps(fields | {"type": kind}))
