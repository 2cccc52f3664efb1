"""The golden recordings, run once more with the flight recorder listening in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from turnwire.core.agent import Dialect
from turnwire.core.recording import replay as replaying
from turnwire.core.recording.recorder import Recording, find_header, header
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDINGS = sorted(GOLDEN.glob("*/*.jsonl"))
PLENTY = 10**9


def dialect(path: Path) -> Dialect:
    return next(made for named, made in DIALECTS.items() if path.parent.name.startswith(named))


def run(path: Path, most_bytes: int = PLENTY) -> tuple[bytes, Recording]:
    """The stream of a golden recording, and what the flight recorder has of it."""
    return recorded(path.read_bytes().splitlines(), dialect(path), most_bytes)


def recorded(
    lines: Sequence[bytes], of: Dialect, most_bytes: int = PLENTY
) -> tuple[bytes, Recording]:
    lines = [line.strip() for line in lines]
    limits = Limits(idle_s=of.idle_s)
    asked: PromptRequest | ResumeRequest
    if (given := find_header(lines)) is not None:
        limits, asked = given.limits, given.prompt_request()
        conversation = of.prompt(asked)
    elif b"#! resume" in lines:
        asked = ResumeRequest(user_id="u1", init_s=limits.hold_s)
        conversation = of.resume(asked)
    else:
        asked = PromptRequest(text=replaying._prompt_text(lines), prompt_id="p1", user_id="u1")
        conversation = of.prompt(asked)
    recording = Recording(header(asked, dialect=of.name, limits=limits), most_bytes)
    turn = Turn(conversation, limits, UIMessageStream(), observers=[recording])
    now = 100.0
    written = [turn.handle(Opened(), now).to_client]
    for line in lines:
        acts, now = replaying._apply(line, turn, now)
        written += [act.to_client for act in acts]
    while turn.outcome is None:
        written.append(turn.handle(AgentLeft(), now).to_client)
    return b"".join(written), recording


def shape(stream: bytes) -> list[Any]:
    """Of each record its lines' lengths, its type and how long its texts are."""
    shown = []
    for record in stream.decode().split("\n\n"):
        for line in record.split("\n"):
            chunk = json.loads(line[6:]) if line.startswith("data: {") else {}
            fields = {key: chunk[key] for key in ("type", "reason") if key in chunk}
            fields |= {
                key: len(chunk[key]) for key in ("delta", "toolName", "errorText") if key in chunk
            }
            shown.append((line.partition(":")[0], *fields.items()))
    return shown
