"""What prompts do in the tests."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pi_server import Run

GOLDEN: Final = Path(__file__).parent / "golden"


def replay(name: str) -> Callable[[Run], None]:
    """A script that says what pi said, but for its responses."""
    lines = (GOLDEN / f"{name}.jsonl").read_bytes().splitlines()
    events = [line for line in lines if json.loads(line)["type"] != "response"]

    def script(run: Run) -> None:
        run.process.has_settled = True
        for line in events:
            run.process.send(line)

    return script


def simple(run: Run) -> None:
    """Answer with one text."""
    run.begin(run.prompt)
    run.message("Read.")


def failing(run: Run, *, will_retry: bool, attempt: int) -> None:
    """An attempt that shows a text, and fails."""
    run.message("This will be", reason="error", error="terminated")
    run.attempt_ends(will_retry=will_retry)
    if will_retry:
        run.event("auto_retry_start", attempt=attempt, maxAttempts=3, delayMs=1)
        run.event("agent_start")
        run.event("turn_start")


def in_a_text(run: Run) -> None:
    run.begin(run.prompt)
    run.message("word ", reason=None)
    run.aborted()
    run.end({"type": "text", "text": "word "}, reason="aborted", error="Request was aborted")


def in_a_tool(run: Run) -> None:
    """The abort looks like a failure: of the tool, and then of another message."""
    run.begin(run.prompt)
    run.message("word ", calls=[("c1", "bash", {"command": "sleep 600"})])
    run.run("c1", "bash", {"command": "sleep 600"})
    run.aborted()
    run.outcome("c1", "bash", "Command aborted", is_error=True)
    run.event("turn_start")
    run.start(reason="error")
    run.end(reason="error", error="This operation was aborted")


def with_a_queue(run: Run) -> None:
    """An extension queued a message, which would run behind the abort."""
    run.process.queue.append({"id": "other", "message": "and then?"})
    run.process.tell_queue()
    in_a_text(run)
