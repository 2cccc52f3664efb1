"""The suite of the dialect of docs/write-a-dialect.md."""

import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnwire.testing import ERROR, INPUT, OUTPUT, TOOL_NAME, DialectSuite, Script

_FILE = Path(__file__).parents[2] / "examples/dialects/minimal/minimal_dialect.py"


def load() -> Any:
    """Return the module of the example."""
    if "minimal_dialect" not in sys.modules:
        spec = importlib.util.spec_from_file_location("minimal_dialect", _FILE)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["minimal_dialect"] = module
        spec.loader.exec_module(module)
    return sys.modules["minimal_dialect"]


def frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def call(call_id: str, **fields: Any) -> bytes:
    return frame("tool", id=call_id, name=TOOL_NAME, input=INPUT, **fields)


class MinimalSuite(DialectSuite):
    dialect = load().Minimal()
    seeds = 10

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        del prompt_id  # this wire does not name the prompt
        texts = [frame("say", text=text) for text in script.texts]
        calls = [call(call_id) for call_id in script.calls]
        outputs = [call(call_id, output=[OUTPUT]) for call_id in reversed(list(script.calls))]
        match script.name:
            case "text" | "breaks" | "nothing" | "tool" | "two_tools":
                return [*calls, *outputs, *texts, frame("done")]
            case "two_texts":
                return [texts[0], *calls, *outputs, *texts[1:], frame("done")]
            case "error":
                return [*texts, frame("done", error=ERROR)]
            case _:
                return None
