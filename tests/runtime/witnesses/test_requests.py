"""The official libraries of the providers take what we send: random transcripts, four wires."""

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.llm.transcripts import request
from turnwire_agent.llm.model import Model, ShapeName
from turnwire_agent.llm.shapes import SHAPES

ROOT: Final = Path(__file__).parents[3]
PYTHON: Final = ROOT / ".venv/runtime-witnesses/bin/python"
EXAMPLES: Final = int(os.environ.get("RUNTIME_EXAMPLES", "300"))


def complaints(shape: str, bodies: Iterable[Any]) -> list[str]:
    lines = "".join(json.dumps({"shape": shape, "body": body}) + "\n" for body in bodies)
    command = [PYTHON, Path(__file__).with_name("validate.py")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    *said, count = done.stdout.splitlines()
    assert count == f"{lines.count(chr(10))} read"
    return said


def encoded(shape: ShapeName, seed: int) -> Any:
    model = Model(provider="p", name="m", shape=shape, base_url="")
    return json.loads(SHAPES[shape].encode(model, request(seed)).body)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("shape", SHAPES)
def test_none_of_many_random_requests_is_refused(shape: ShapeName) -> None:
    assert complaints(shape, (encoded(shape, seed) for seed in range(EXAMPLES))) == []


WRONG: Final[dict[ShapeName, list[Any]]] = {
    "chat": [
        {"messages": [{"role": "robot", "content": "x"}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"tools": [{"type": "function", "function": {"description": "no name"}}]},
    ],
    "responses": [
        {"input": [{"type": "function_call", "name": "t", "arguments": {}, "call_id": "c"}]},
        {"input": [{"type": "message", "role": "user", "content": [{"type": "text"}]}]},
    ],
    "messages": [
        {"messages": [{"role": "system", "content": 1}]},
        {"messages": [{"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}]}]},
        {"max_tokens": None},
    ],
    "google": [
        {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]},
        {"contents": [{"parts": [{"functionCall": {"name": "t", "arguments": {}}}]}]},
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_witness_sees_what_is_wrong(shape: ShapeName) -> None:
    for wrong in WRONG[shape]:
        assert complaints(shape, [encoded(shape, 1) | wrong]), wrong
