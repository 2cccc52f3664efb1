"""A second agent of the v2 wire: `AGENT_TOKEN=… python second_agent.py`.

It has tools, keeps the conversation, and its turns outlive their sockets. docs/second-agent.md goes
through it.
"""

import asyncio
import hmac
import json
import os
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote
from uuid import uuid4

from websockets.asyncio.server import ServerConnection, broadcast, serve
from websockets.http11 import Request, Response

WANTED = f"Bearer {os.environ['AGENT_TOKEN']}".encode()
TOOLS: dict[str, Callable[..., Any]] = {
    "divide": lambda a, b: a / b,
    "delete_file": lambda path: f"{path} is gone.",
}
NEEDS_APPROVAL = {"delete_file"}
STORY_PAUSE_S = float(os.environ.get("STORY_PAUSE_S", "0.1"))


class Session:
    """One conversation. It is lost with the process: keep yours in a database."""

    def __init__(self) -> None:
        self.sockets: set[ServerConnection] = set()
        self.messages: list[dict[str, Any]] = []  # prompts and turns, as `init` lists them
        self.tasks: dict[str, asyncio.Task[None]] = {}  # of each prompt that waits or runs
        self.answers: dict[str, asyncio.Future[Any]] = {}  # to each open question
        self.turn: dict[str, Any] = {}  # the one of `messages` that runs
        self.idle = asyncio.Lock()

    def join(self, socket: ServerConnection) -> None:
        """Nothing is awaited here: each delta is either in `init`, or comes after it."""
        data = {"runningTurnId": self.turn["id"]} if self.turn else {}
        init = {"type": "init", "session": {"messages": self.messages}, "data": data}
        broadcast([socket], json.dumps(init))
        self.sockets.add(socket)

    def send(self, kind: str, /, **fields: Any) -> None:
        broadcast(self.sockets, json.dumps({"type": kind, **fields}))

    def prompt(self, frame: dict[str, Any], user: str) -> None:
        names = ("promptId", "clientMessageId", "channelType", "channelId")
        parts = [{"type": "text", "text": frame["content"]}]
        asked = {"id": uuid4().hex, "role": "user", "userId": user, "parts": parts, "queued": True}
        self.messages.append({name: frame[name] for name in names if name in frame} | asked)
        task = asyncio.create_task(self.run(self.messages[-1]))
        self.tasks[frame["promptId"]] = task
        task.add_done_callback(lambda _: self.tasks.pop(frame["promptId"]))

    def abort(self, frame: dict[str, Any]) -> None:
        runs = self.turn and self.turn["id"] == frame.get("turnId")
        if task := self.tasks.get(self.turn["promptId"] if runs else frame.get("promptId", "")):
            task.cancel()

    async def run(self, prompt: dict[str, Any]) -> None:
        try:
            async with self.idle:  # turns run one after the other
                await self.answer(prompt)
        except asyncio.CancelledError:  # it was stopped before its turn
            self.messages.remove(prompt)
            self.send("error", promptId=prompt["promptId"], error="The prompt was taken back")

    async def answer(self, prompt: dict[str, Any]) -> None:
        names = {name: prompt[name] for name in ("promptId", "channelType", "channelId")}
        self.turn = {"id": uuid4().hex, "role": "assistant", "parts": [], **names}
        self.messages.insert(self.messages.index(prompt) + 1, self.turn)
        del prompt["queued"]
        self.send("message.create", turnId=self.turn["id"], **names)
        ended = {"reason": "end_turn"}
        try:
            await think(self, prompt["parts"][0]["text"])
        except asyncio.CancelledError:
            ended = {"reason": "canceled"}
        except Exception:  # noqa: BLE001 (log it: the user reads only this text)
            ended = {"reason": "error", "error": "The agent failed"}
        self.turn["parts"].append({"type": "finish", "reason": ended["reason"]})
        self.send("message.finalize", turnId=self.turn["id"], **ended)
        self.turn = {}

    def text(self, delta: str) -> None:
        parts = self.turn["parts"]
        if not parts or parts[-1]["type"] != "text":
            parts.append({"type": "text", "text": ""})
        parts[-1]["text"] += delta
        self.send("message.part.text-delta", turnId=self.turn["id"], delta=delta)

    async def call(self, tool: str, **args: Any) -> Any:
        call = {"callId": uuid4().hex, "toolName": tool, "args": args}
        part = {"type": "tool-call", **call, "status": "running"}
        self.turn["parts"].append(part)
        self.send("message.part.tool-update", turnId=self.turn["id"], **call, status="running")
        ended = {"status": "error", "error": "Stopped"}
        try:
            if tool in NEEDS_APPROVAL and not await self.approved(call):
                ended["error"] = "Denied"
            else:
                await asyncio.sleep(1)  # tools take their time, and the user may stop one
                ended = {"status": "completed", "result": TOOLS[tool](**args)}
        except Exception:  # noqa: BLE001 (log it: the user reads only this text)
            ended["error"] = f"{tool} failed"
        finally:
            part |= ended
            self.send("message.part.tool-update", turnId=self.turn["id"], **call, **ended)
        return ended.get("result")

    async def approved(self, call: dict[str, Any]) -> bool:
        names = {"questionId": uuid4().hex, "turnId": self.turn["id"]}
        question = {"kind": "approval", "text": "May it?", "options": ["approve", "deny"], **call}
        part = {"type": "question", **names, **question}
        self.turn["parts"].append(part)
        self.send("question", **names, **question)
        given = self.answers[names["questionId"]] = asyncio.get_running_loop().create_future()
        try:
            part["answer"] = answer = await given
        except asyncio.CancelledError:
            part["expired"] = True
            self.send("question.expired", **names)
            raise
        finally:
            del self.answers[names["questionId"]]
        self.send("question.resolved", **names, answer=answer)
        verdict = answer.get("approved") if isinstance(answer, dict) else answer
        return verdict is True or verdict == "approve"


async def think(session: Session, text: str) -> None:
    """Stand in for the loop around a model: words of the prompt choose what happens."""
    if numbers := re.search(r"(\d+)/(\d+)", text):
        result = await session.call("divide", a=int(numbers[1]), b=int(numbers[2]))
        session.text("That cannot be divided." if result is None else f"It is {result:g}.")
    elif "delete" in text:
        session.text(await session.call("delete_file", path="notes.txt") or "It stays.")
    elif "story" in text:
        for line in range(1, 41):
            session.text(f"Line {line} of the story. ")
            await asyncio.sleep(STORY_PAUSE_S)
    else:
        session.text(f"You said: {text}")


SESSIONS: defaultdict[str, Session] = defaultdict(Session)


async def talk(socket: ServerConnection) -> None:
    assert socket.request
    session = SESSIONS[socket.request.path]
    user = unquote(socket.request.headers.get("x-turnwire-user", ""))
    session.join(socket)
    try:
        async for text in socket:
            frame = json.loads(text)
            if frame["type"] == "prompt":
                session.prompt(frame, user)
                await asyncio.sleep(0)  # its task begins before an abort of it is read
            elif frame["type"] == "abort":
                session.abort(frame)
            elif frame["type"] == "answer":
                given = session.answers.get(frame["questionId"])
                if given is not None and not given.done():  # the first answer counts
                    given.set_result(frame["answer"])
    finally:
        session.sockets.discard(socket)


def admit(socket: ServerConnection, request: Request) -> Response | None:
    given = request.headers.get("authorization", "").encode()
    return None if hmac.compare_digest(given, WANTED) else socket.respond(401, "no\n")


async def main() -> None:
    port = int(os.environ.get("PORT", "8765"))
    async with serve(talk, "127.0.0.1", port, process_request=admit, max_size=2**25) as server:
        await server.serve_forever()


asyncio.run(main())
