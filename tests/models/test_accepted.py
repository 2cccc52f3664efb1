"""The types of OpenAI's own package take the requests that the gateway makes of a conversation."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.needed import lacking
from support.client_messages import converted
from turnwire.core.requests import DialectOptions, PromptRequest
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets  # it starts a process

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = ROOT / ".venv/models/bin/python"
WIRES: Final = ("openai-chat", "openai-responses")
ID_MAX: Final = {"openai-chat": 40, "openai-responses": 64}
"""Longest id of a call that OpenAI's servers take, in characters. The types do not say it."""
LONG_ID: Final = "call_" + "x" * 100
PNG: Final = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()


def text(text: str) -> Any:
    return {"type": "text", "text": text}


def tool(state: str, call_id: str, **more: Any) -> Any:
    fields = {"toolCallId": call_id, "input": {"city": "Rome"}, "state": state}
    return {"type": "tool-get weather", **fields, **more}


def conversation() -> list[Any]:
    """Ten turns: tools with each outcome, files, reasoning, an answer that was stopped."""
    file = {"type": "file", "mediaType": "image/png", "url": PNG, "filename": "a.png"}
    page = {"type": "file", "mediaType": "image/png", "url": "https://files.example/a"}
    plain = {"type": "file", "mediaType": "text/plain", "url": "data:text/plain;base64,QUJD"}
    answers = [
        [text("Hello.")],
        [{"type": "reasoning", "text": "Hm."}, text("Yes."), text("Really.")],
        [text("I look."), tool("output-available", "c1", output={"t": 21}), text("Sunny.")],
        [
            tool("output-error", "c2", errorText="offline"),
            tool("output-available", "c3", output="x"),
        ],
        [tool("output-denied", "c4")],
        [tool("input-streaming", "c5", input='{"ci')],
        [text("Once upon")],
        [tool("input-available", "c6"), tool("output-available", "c6", output=[1, None])],
        [file, text("A picture."), tool("output-available", LONG_ID, output=1)],
        [
            {"type": "data-chart", "data": 1},
            {"type": "source-url", "url": "https://a"},
            text("So."),
        ],
    ]
    messages = []
    for number, parts in enumerate(answers):
        files = [[file], [page], [plain], [file, page]][number % 4] if number % 2 else []
        messages += [
            {"id": f"u{number}", "role": "user", "parts": [text("And now?"), *files]},
            {"id": f"a{number}", "role": "assistant", "parts": parts},
        ]
    return [*messages, {"id": "u", "role": "user", "parts": [text("Thanks."), file]}]


def body(wire: str) -> Any:
    dialect = DIALECTS[wire]
    request = PromptRequest(
        text="Thanks.",
        prompt_id="p1",
        conversation=converted(conversation(), dialect.write_message),
        options=DialectOptions(model="small-1"),
    )
    return json.loads(dialect.prompt(request).connect_request().body)


def complaints(*asked: tuple[str, Any]) -> list[str]:
    """What the types say against these requests."""
    if not PYTHON.exists():
        lacking("the `openai` package has no environment (`make tools` makes it)")
    lines = [json.dumps({"wire": wire, "body": body}) for wire, body in asked]
    script = Path(__file__).parent / "accepted.py"
    done = subprocess.run(
        [PYTHON, script], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_they_take_ten_turns_with_tools_files_and_a_stopped_answer() -> None:
    bodies = [(wire, body(wire)) for wire in WIRES]

    assert [len(each.get("messages", each.get("input"))) for _, each in bodies] == [30, 34]
    assert complaints(*bodies) == []


@pytest.mark.parametrize("wire", WIRES)
def test_no_id_of_a_call_is_longer_than_they_take_and_each_has_its_result(wire: str) -> None:
    asked = body(wire)
    calls = [
        call["id"] for each in asked.get("messages", ()) for call in each.get("tool_calls", ())
    ]
    results = [each["tool_call_id"] for each in asked.get("messages", ()) if "tool_call_id" in each]
    for item in asked.get("input", ()):
        into = {"function_call": calls, "function_call_output": results}.get(item["type"])
        if into is not None:
            into.append(item["call_id"])

    assert len(calls) == 8
    assert sorted(calls) == sorted(results)
    assert max(map(len, calls)) == ID_MAX[wire]


def test_they_would_not_take_anything() -> None:
    chat, responses = (body(wire) for wire in WIRES)
    del chat["messages"][5]["role"]
    responses["input"][4]["type"] = "hologram"

    found = complaints((WIRES[0], chat), (WIRES[1], responses))

    assert {line.split()[0] for line in found} == set(WIRES)
