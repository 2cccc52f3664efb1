"""One turn with httpx: text as it comes, tools and status on lines of their own."""

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import httpx

SESSION = sys.argv[1] if len(sys.argv) > 1 else "python"
URL = f"{os.environ['URL']}/api/sessions/{SESSION}"
HEADERS = {"authorization": f"Bearer {os.environ['TOKEN']}"}
# Longer than the 15 s between two keepalives: silence beyond that is a broken line.
PATIENCE = httpx.Timeout(45)


def chunks(response: httpx.Response) -> Iterator[dict[str, Any]]:
    """The chunks of a stream; an error if it ends without `finish`."""
    for line in response.iter_lines():
        if line.startswith("data: {"):
            chunk = json.loads(line.removeprefix("data: "))
            yield chunk
            if chunk["type"] == "finish":
                return
    raise ConnectionError("cut: ask GET …/chat/any/stream for the turn that runs")


body = {"message": {"role": "user", "content": "what is 12*7?"}}
with httpx.stream("POST", f"{URL}/chat", headers=HEADERS, json=body, timeout=PATIENCE) as response:
    if response.is_error:
        # Short and safe to show: {"error", "code", "requestId"}.
        sys.exit(response.read().decode())
    for chunk in chunks(response):
        match chunk["type"]:
            case "text-delta":
                print(chunk["delta"], end="", flush=True)
            case "tool-input-available":
                print(f"\n[{chunk['toolName']} {json.dumps(chunk['input'])}]")
            case "tool-output-available":
                print(f"[-> {json.dumps(chunk['output'])}]")
            case "data-agent-status":
                print(f"({chunk['data']['status']})", file=sys.stderr)
            case "error":
                sys.exit(chunk["errorText"])
print()
