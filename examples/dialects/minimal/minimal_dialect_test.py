"""Tests the dialect: the frames of an agent that does what each script says."""

import json
from collections.abc import Sequence
from typing import Any

from minimal_dialect import Minimal

from turnwire.testing import ERROR, INPUT, OUTPUT, TOOL_NAME, DialectSuite, Script


def frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def call(call_id: str, **fields: Any) -> bytes:
    return frame("tool", id=call_id, name=TOOL_NAME, input=INPUT, **fields)


class TestMinimal(DialectSuite):
    dialect = Minimal()

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        del prompt_id  # frames of this wire do not name the prompt
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
