"""The suite that turnwire has for dialects, with the frames of this wire."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from open_harness_dialect import OpenHarness, OpenHarnessAlone
from turnwire.testing import (
    ERROR,
    INPUT,
    OUTPUT,
    SIDE_BY_SIDE,
    TOOL_NAME,
    DialectSuite,
    Exchange,
    Script,
)

CALL: Final = {"toolName": TOOL_NAME, "toolInput": dict(INPUT)}


def event(kind: str, run_id: str, **fields: Any) -> bytes:
    of_run = {"runId": run_id, "nodeId": "writer"}
    return json.dumps({"type": "event", "event": {"type": kind, **of_run, **fields}}).encode()


class TestOpenHarness(DialectSuite):
    dialect = OpenHarness()

    def scripts(self) -> Mapping[str, Script]:
        """The calls of this wire have no ids: the dialect counts them."""
        return {
            name: msgspec.structs.replace(
                script,
                calls={
                    f"p1:{number}": state
                    for number, state in enumerate(script.calls.values(), start=1)
                },
            )
            for name, script in super().scripts().items()
        }

    def unknown_frame(self) -> bytes:
        return event("signal", "p1", text="thistle")

    def frames(self, script: Script, prompt_id: str) -> Sequence[bytes] | None:
        if script.name == "question":
            return None  # a pause has no text
        told = [event("flow:start", prompt_id, flowName="report")]
        if script.reasoning:
            told += [
                event("agent:thinking:delta", prompt_id, content=script.reasoning),
                event("agent:thinking", prompt_id, content=script.reasoning),
            ]
        texts = list(script.texts)
        if script.name == "two_texts":
            told += self._block(prompt_id, texts[:1])
            del texts[:1]
        for state in script.calls.values():
            outcome = {"toolOutput": OUTPUT} if state == "output-available" else {"error": ERROR}
            told.append(event("agent:tool", prompt_id, **CALL, **outcome))
        told += self._block(prompt_id, texts)
        if script.name == "error":
            told += [
                event("agent:error", prompt_id, errorType="model", message=ERROR),
                event("flow:complete", prompt_id, status="failed"),
            ]
        elif script.name == "canceled":
            told.append(event("flow:aborted", prompt_id))
        else:
            told.append(event("flow:complete", prompt_id, status="complete"))
        return told

    def exchange(self, script: Script, prompt_id: str) -> Exchange | None:
        if script.name not in {"answered", "expired"}:
            return None  # no call waits for a yes
        told = [event("flow:start", prompt_id), *self._block(prompt_id, script.texts[:1])]
        goes_on = self._block(prompt_id, script.texts[1:])
        if script.name == "expired":  # somebody else made the run go on
            goes_on.insert(0, event("flow:resumed", prompt_id))
        return Exchange(
            asks=[*told, event("agent:paused", prompt_id, promptId="q1")],
            goes_on=[*goes_on, event("flow:complete", prompt_id, status="complete")],
        )

    def shared_frames(self, first: str, second: str) -> Sequence[bytes] | None:
        """Return the events of two runs, in turns: everybody receives all of them."""
        runs = [
            [
                event("flow:start", prompt_id),
                *self._block(prompt_id, texts),
                event("flow:complete", prompt_id, status="complete"),
            ]
            for prompt_id, texts in zip((first, second), SIDE_BY_SIDE, strict=True)
        ]
        return [frame for pair in zip(*runs, strict=True) for frame in pair]

    def _block(self, run_id: str, deltas: Sequence[str]) -> list[bytes]:
        """A text in deltas, and then as a whole."""
        frames = [event("agent:text:delta", run_id, content=delta) for delta in deltas]
        return [*frames, event("agent:text", run_id, content="".join(deltas))] if frames else []


class TestOpenHarnessAlone(TestOpenHarness):
    dialect = OpenHarnessAlone()
