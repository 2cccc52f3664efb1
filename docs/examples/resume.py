"""A line that breaks in the middle of a turn, and the turn as it is told again from its start."""

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
# The turn outlives its connection. What is said here, TURNWIRE_ON_DISCONNECT says for all; where it
# says something stricter, TURNWIRE_ON_DISCONNECT_ALLOWED has to have this.
policy = {"onDisconnect": "continue"}
with HTTP.stream("POST", f"{URL}/chat", params=policy, json=body) as response:
    deltas = (chunk["delta"] for chunk in chunks(response) if chunk["type"] == "text-delta")
    print("heard:", "".join(next(deltas) for _ in range(10)))
# Left, as a lost network would.

told, finished = "", False
with HTTP.stream("GET", f"{URL}/chat/any/stream") as response:
    if response.status_code == httpx.codes.NO_CONTENT:
        print("over already: GET …/messages has all of it")
    for chunk in chunks(response):
        if chunk["type"] == "text-delta":
            told += chunk["delta"]
        finished = chunk["type"] == "finish"
print("told again:", told[:40], "…", told[-20:].strip())

history = HTTP.get(f"{URL}/messages").raise_for_status().json()
print("finished:", finished, "and in the history:", [message["role"] for message in history])
