"""A connection that breaks in the middle of a turn. The gateway then sends the turn again."""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import httpx

SESSION = sys.argv[1] if len(sys.argv) > 1 else "python-resume"
URL = f"{os.environ['URL']}/api/sessions/{SESSION}"
HTTP = httpx.Client(headers={"authorization": f"Bearer {os.environ['TOKEN']}"}, timeout=45)


def chunks(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: {"):
            yield json.loads(line.removeprefix("data: "))


body = {"message": {"role": "user", "content": "tell me a long story", "id": "u1"}}
# The turn shall go on without its client. TURNWIRE_ON_DISCONNECT sets this for all prompts. If it is
# set to a stricter policy, TURNWIRE_ON_DISCONNECT_ALLOWED must allow this one.
policy = {"onDisconnect": "continue"}
with HTTP.stream("POST", f"{URL}/chat", params=policy, json=body) as response:
    deltas = (chunk["delta"] for chunk in chunks(response) if chunk["type"] == "text-delta")
    print("before the break:", "".join(next(deltas) for _ in range(10)))
# The connection is closed here, as if the network were lost.

text, finished = "", False
with HTTP.stream("GET", f"{URL}/chat/any/stream") as response:
    if response.status_code == httpx.codes.NO_CONTENT:
        print("The turn is over: GET …/messages has all of it.")
    for chunk in chunks(response):
        if chunk["type"] == "text-delta":
            text += chunk["delta"]
        finished = chunk["type"] == "finish"
print("again, from its start:", text[:40], "…", text[-20:].strip())

history = HTTP.get(f"{URL}/messages").raise_for_status().json()
print("finished:", finished, "and in the history:", [message["role"] for message in history])
