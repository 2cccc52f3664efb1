"""Stands for a model, without a key: it calls the tool that the prompt names, and says its result.

That is the tool whose name and description share most words with the prompt. Its arguments are
taken from the prompt, too: its numbers in their order, and for each text its last word.
"""

import json
import re
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMON = {"a", "an", "and", "are", "for", "in", "is", "it", "of", "on", "or", "the", "to", "with"}


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text.lower())) - COMMON


def chosen(tools: list[dict[str, Any]], prompt: str) -> dict[str, Any] | None:
    """Return the tool that the prompt is about, if there is one."""

    def shared(tool: dict[str, Any]) -> int:
        return len(words(prompt) & words(f"{tool['name']} {tool.get('description', '')}"))

    best = max(tools, key=shared, default=None)
    return best if best and shared(best) else None


def argument(schema: dict[str, Any], prompt: str, numbers: Iterator[str]) -> object:
    """Return a value of this schema."""
    schema = schema.get("anyOf", [schema])[0]
    if "enum" in schema:
        named = [each for each in schema["enum"] if str(each).lower() in prompt.lower()]
        return (named or schema["enum"])[0]
    match schema.get("type"):
        case "object":
            fields = schema.get("properties", {}).items()
            required = schema.get("required", [])
            return {name: argument(of, prompt, numbers) for name, of in fields if name in required}
        case "array":
            return [argument(schema.get("items", {}), prompt, numbers)]
        case "integer" | "number":
            return int(next(numbers, "1"))
        case "boolean":
            return True
    return prompt.rsplit(maxsplit=1)[-1].strip(".,;:!?\"'")


def call(tool: dict[str, Any], prompt: str, call_id: str) -> dict[str, object]:
    numbers = iter(re.findall(r"\b\d+\b", prompt))
    arguments = json.dumps(argument(tool["parameters"], prompt, numbers))
    function = {"name": tool["name"], "arguments": arguments}
    return {"index": 0, "id": call_id, "type": "function", "function": function}


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        messages, tools = asked["messages"], asked.get("tools", [])
        last, prompt = messages[-1], str(messages[-1]["content"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if last["role"] == "tool":
            self.say({"content": prompt}, "stop")
        elif tool := chosen([each["function"] for each in tools], prompt):
            calls = [call(tool, prompt, f"c{len(messages)}")]
            self.say({"content": f"I call {tool['name']}.", "tool_calls": calls}, "tool_calls")
        else:
            self.say({"content": "I am a script: no tool has a word of this prompt."}, "stop")

    def log_request(self, *_: object) -> None:
        """Leave the terminal to the stream."""

    def say(self, delta: dict[str, object], reason: str) -> None:
        for choice in ({"delta": delta}, {"delta": {}, "finish_reason": reason}):
            self.wfile.write(f"data: {json.dumps({'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


if __name__ == "__main__":
    port = int(sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", port), Model) as server:
        print(f"plays a model at http://127.0.0.1:{port}/v1", flush=True)
        server.serve_forever()
