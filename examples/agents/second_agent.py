"""The second agent of the v2 wire, in 80 lines of code; docs/second-agent.md goes through them."""

import asyncio, collections, hmac, json, os, re, traceback, urllib.parse, weakref

from websockets.asyncio.server import broadcast, serve

TOOLS = {"divide": lambda a, b: asyncio.sleep(1, a / b)}  # tools take their time
STORY = [f"Line {number} of the story. " for number in range(1, 41)]
encode = json.JSONEncoder(allow_nan=False).encode  # NaN is no JSON


class Session:
    """One conversation. Its turns outlive their sockets, but not this process."""

    def __init__(self):
        # Open sockets; prompts, each with its turn behind it; tasks of turns to come, by their ids.
        self.sockets, self.messages, self.tasks = weakref.WeakSet(), [], {}

    async def think(self, turn, prompt):
        """Stand in for the loop around a model: words of the prompt choose what happens."""
        if numbers := re.search(r"(\d+)/(\d+)", prompt):
            result = await self.call(turn, "divide", a=int(numbers[1]), b=int(numbers[2]))
            return self.text(turn, "It cannot be done." if result is None else f"It is {result:g}.")
        for delta in STORY if "story" in prompt else [f"You said: {prompt}"]:
            self.text(turn, delta)
            await asyncio.sleep(float(os.environ.get("STORY_PAUSE_S", "0.1")))

    async def perform(self, turn, call):
        return {"status": "completed", "result": await TOOLS[call["toolName"]](**call["args"])}

    async def call(self, turn, tool, /, **args):
        call = {"type": "tool-call", "toolName": tool, "status": "running"}
        call |= {"callId": f"{turn['id']}:{len(turn['parts'])}", "args": json.loads(encode(args))}
        self.send("message.part.tool-update", turn, **call)
        turn["parts"] += [call, {"type": "text", "text": ""}]
        ended = {"status": "error", "error": f"{tool} has no result"}
        try:
            ended = {**json.loads(encode(await self.perform(turn, call | {"args": args})))}
        except Exception:  # noqa: BLE001 (a tool may raise anything, and its turn goes on)
            traceback.print_exc()  # the log says why: the user reads only that there is no result
        finally:  # also if the turn is stopped
            call |= ended
            self.send("message.part.tool-update", turn, **call)
        return json.loads(encode(call)).get("result")  # not what `messages` has: it may be changed

    def text(self, turn, delta):
        self.send("message.part.text-delta", turn, delta=delta)
        turn["parts"][-1]["text"] += delta  # the last part of a turn that runs is text

    def send(self, kind, turn, /, **fields):
        broadcast(self.sockets, encode(fields | {"type": kind, "turnId": turn["id"]}))

    async def talk(self, socket):
        user = urllib.parse.unquote(socket.request.headers.get("x-turnwire-user", ""))
        session, data = {"messages": self.messages}, {"runningTurnId": next(iter(self.tasks), None)}
        broadcast([socket], encode({"type": "init", "session": session, "data": data}))
        self.sockets.add(socket)  # nothing is awaited: each delta is in `init`, or comes after it
        async for text in socket:
            self.receive(json.loads(text), user)

    def receive(self, frame, user):
        ids = {k: frame.get(k) for k in ("promptId", "clientMessageId", "channelType", "channelId")}
        named = frame.get("turnId") or ids["promptId"]
        if frame["type"] == "prompt":
            prompt = ids | {"id": f"{named}:prompt", "role": "user", "userId": user}
            prompt |= {"parts": [{"type": "text", "text": frame["content"]}], "queued": True}
            self.messages.append(prompt)
            turn = ids | {"id": named, "role": "assistant", "parts": [{"type": "text", "text": ""}]}
            task = self.tasks[named] = asyncio.create_task(self.run(prompt, turn))
            task.add_done_callback(lambda task: self.end(turn, task))
        elif frame["type"] == "abort" and named in self.tasks:
            asyncio.get_running_loop().call_soon(self.tasks[named].cancel)  # `run` has begun then

    async def run(self, prompt, turn):
        try:
            while (first := next(iter(self.tasks))) != turn["id"]:  # turns run one after another
                await asyncio.wait([self.tasks[first]])
        finally:  # a turn that is stopped while it waits begins, and is over
            prompt["queued"] = False
            self.messages.insert(self.messages.index(prompt) + 1, turn)
            self.send("message.create", turn, promptId=turn["id"])
        await self.think(turn, prompt["parts"][0]["text"])

    def end(self, turn, task):
        reason = "canceled" if task.cancelled() else "error" if task.exception() else "end_turn"
        self.send("message.finalize", turn, reason=reason)
        turn["parts"].append({"type": "finish", "reason": reason})
        del self.tasks[turn["id"]]
        return task.cancelled() or task.result()  # raises what `think` raised: asyncio logs it


async def main(sessions):
    wanted, port = f"Bearer {os.environ['AGENT_TOKEN']}", int(os.environ.get("PORT", "8765"))

    def admit(socket, request):
        given = request.headers.get("authorization", "").encode()
        return None if hmac.compare_digest(given, wanted.encode()) else socket.respond(401, "no\n")

    options = {"process_request": admit, "max_size": 2**25, "ping_timeout": 120}
    server = await serve(lambda s: sessions[s.request.path].talk(s), "127.0.0.1", port, **options)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(collections.defaultdict(Session)))
