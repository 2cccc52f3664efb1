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


def complaints(bodies: Iterable[tuple[ShapeName, Any]]) -> list[str]:
    """What the libraries say, a line each that begins with the number of its body.

    They take seconds to import: one process for all.
    """
    asked = [json.dumps({"shape": shape, "body": body}) + "\n" for shape, body in bodies]
    command = [PYTHON, Path(__file__).with_name("validate.py")]
    done = subprocess.run(command, input="".join(asked), capture_output=True, text=True, check=True)
    *told, count = done.stdout.splitlines()
    assert count == f"{len(asked)} read"
    return told


def encoded(shape: ShapeName, seed: int) -> Any:
    model = Model(provider="p", name="m", shape=shape, base_url="")
    return json.loads(SHAPES[shape].encode(model, request(seed)).body)


@pytest.mark.timeout(600)
def test_none_of_many_random_requests_is_refused() -> None:
    bodies = ((shape, encoded(shape, seed)) for shape in SHAPES for seed in range(EXAMPLES))

    assert complaints(bodies) == []


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
        {"max_tokenz": 1},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "txt": "y"}]}]},
    ],
    "google": [
        {"contents": [{"role": "user", "parts": [{"txt": "x"}]}]},
        {"contents": [{"parts": [{"functionCall": {"name": "t", "arguments": {}}}]}]},
    ],
}


def test_a_witness_sees_what_is_wrong() -> None:
    bodies = [(shape, encoded(shape, 1) | wrong) for shape in SHAPES for wrong in WRONG[shape]]

    assert {int(line.split()[0]) for line in complaints(bodies)} == set(range(len(bodies)))
