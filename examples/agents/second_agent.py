"""The second agent of the v2 wire, in 87 lines of code; docs/second-agent.md goes through them."""

import asyncio, collections, hmac, json, os, re, traceback, urllib.parse, weakref

from websockets.asyncio.server import broadcast, serve

TOOLS = {"divide": lambda a, b: a / b}
STORY = [f"Line {number} of the story. " for number in range(1, 41)]


class Session:
    """One conversation. Its turns outlive their sockets, but not this process."""

    def __init__(self):
        # Open sockets; prompts, each with its turn behind it; tasks of turns to come, by their ids.
        self.sockets, self.messages, self.tasks = weakref.WeakSet(), [], {}

    async def think(self, turn, prompt):
        """Stand in for the loop around a model: words of the prompt choose what happens."""
        answer = STORY if "story" in prompt else [f"You said: {prompt}"]
        if numbers := re.search(r"(\d+)/(\d+)", prompt):
            result = await self.call(turn, "divide", a=int(numbers[1]), b=int(numbers[2]))
            answer = ["That cannot be divided." if result is None else f"It is {result:g}."]
        for delta in answer:
            self.text(turn, delta)
            await asyncio.sleep(float(os.environ.get("STORY_PAUSE_S", "0.1")))

    async def perform(self, turn, call):
        await asyncio.sleep(1)  # tools take their time, and the user may stop one
        return {"status": "completed", "result": TOOLS[call["toolName"]](**call["args"])}

    async def call(self, turn, tool, /, **args):
        call = {"type": "tool-call", "toolName": tool, "args": args, "status": "running"}
        call["callId"] = f"{turn['id']}:{len(turn['parts'])}"
        self.send("message.part.tool-update", turn, **call)
        turn["parts"].append(call)
        ended = {"status": "error", "error": "Stopped"}
        try:
            ended = json.loads(json.dumps(await self.perform(turn, call), allow_nan=False))
        except Exception:  # noqa: BLE001 (a tool may raise anything, and its turn goes on)
            traceback.print_exc()  # the user reads only the next line
            ended["error"] = f"{tool} failed"
        finally:  # also if the turn is stopped
            call |= ended
            self.send("message.part.tool-update", turn, **call)
        return call.get("result")

    def text(self, turn, delta):
        self.send("message.part.text-delta", turn, delta=delta)
        if not turn["parts"] or turn["parts"][-1]["type"] != "text":
            turn["parts"].append({"type": "text", "text": ""})
        turn["parts"][-1]["text"] += delta

    def send(self, kind, turn, /, **fields):
        broadcast(self.sockets, json.dumps(fields | {"type": kind, "turnId": turn["id"]}))

    async def talk(self, socket):
        user = urllib.parse.unquote(socket.request.headers.get("x-turnwire-user", ""))
        queued = sum(1 if entry["role"] == "user" else -1 for entry in self.messages)
        data = {"runningTurnId": next(iter(self.tasks), None), "promptsQueued": queued}
        init = {"type": "init", "session": {"messages": self.messages}, "data": data}
        broadcast([socket], json.dumps(init))
        self.sockets.add(socket)  # nothing is awaited: each delta is in `init`, or comes after it
        async for text in socket:
            self.receive(json.loads(text), user)

    def receive(self, frame, user):
        ids = {k: frame.get(k) for k in ("promptId", "clientMessageId", "channelType", "channelId")}
        turn_id = frame.get("turnId") or ids["promptId"]
        if frame["type"] == "prompt":
            prompt = ids | {"id": f"{turn_id}:prompt", "role": "user", "userId": user}
            prompt["parts"] = [{"type": "text", "text": frame["content"]}]
            self.messages.append(prompt)
            turn = ids | {"id": turn_id, "role": "assistant", "parts": []}
            task = self.tasks[turn_id] = asyncio.create_task(self.run(prompt, turn))
            task.add_done_callback(lambda task: self.end(turn, task))
        elif frame["type"] == "abort" and turn_id in self.tasks:
            asyncio.get_running_loop().call_soon(self.tasks[turn_id].cancel)  # `run` has begun then

    async def run(self, prompt, turn):
        try:
            while (first := next(iter(self.tasks))) != turn["id"]:  # turns run one after another
                await asyncio.wait([self.tasks[first]])
        finally:  # a turn that is stopped while it waits begins, and is over
            self.messages.insert(self.messages.index(prompt) + 1, turn)
            self.send("message.create", turn, promptId=turn["id"])
        await self.think(turn, prompt["parts"][0]["text"])

    def end(self, turn, task):
        reason = "canceled" if task.cancelled() else "error" if task.exception() else "end_turn"
        self.send("message.finalize", turn, reason=reason)
        turn["parts"].append({"type": "finish", "reason": reason})
        del self.tasks[turn["id"]]
        if reason == "error":
            traceback.print_exception(task.exception())


async def main(sessions):
    wanted = f"Bearer {os.environ['AGENT_TOKEN']}".encode()

    def admit(socket, request):
        given = request.headers.get("authorization", "").encode()
        return None if hmac.compare_digest(given, wanted) else socket.respond(401, "no\n")

    async def handle(socket):
        await sessions[socket.request.path].talk(socket)

    port, limits = int(os.environ.get("PORT", "8765")), {"max_size": 2**25, "ping_timeout": 120}
    await (await serve(handle, "127.0.0.1", port, process_request=admit, **limits)).serve_forever()


if __name__ == "__main__":
    asyncio.run(main(collections.defaultdict(Session)))
