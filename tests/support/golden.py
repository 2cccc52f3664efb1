"""The golden transcripts, and the bodies of servers: where they are, and whose."""

import json
from pathlib import Path
from typing import Any

from turnwire.core.agent import Dialect
from turnwire.dialects import DIALECTS

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDINGS = sorted(GOLDEN.glob("*/*.jsonl"))


def about(body: Path) -> dict[str, Any]:
    """What stands beside a body: the request that it answers, if that was recorded."""
    beside = body.with_suffix(".json")
    if beside.exists():
        return dict(json.loads(beside.read_text()))
    return {"status": 200, "request": {"runId": "p1"}}


BODIES = [path for path in sorted(GOLDEN.glob("*/*.body")) if about(path)["status"] == 200]
"""What servers sent over HTTP."""
STREAMS = sorted(GOLDEN.glob("*/*.sse"))


def dialect(recording: Path) -> Dialect:
    """A folder is named after its dialect, and after a revision of its wire if it has several."""
    return next(made for named, made in DIALECTS.items() if recording.parent.name.startswith(named))
