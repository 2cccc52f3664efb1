"""Random frames by the million through decoder and `Turn`, from seeds: `make fuzz-many`.

    .venv/bin/python tests/attacks/fuzz/many.py [--frames 10000000] [--seed 0]

The fuzzer proper learns from coverage and is slow for it; this one only throws. Half of the
frames are known ones, the others have been bent: a byte changed, cut off, doubled, or a piece of
another frame in the middle. What is no UTF-8 never gets past the WebSocket, and not past here.
"""

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import Final

sys.path.insert(0, str(Path(__file__).parents[2]))

from attacks.fuzz.targets import AG_UI, AGENTS, OPENAI_CHAT, OPENAI_RESPONSES, V2
from support import ag_ui_frames as g
from support import session_agent_frames as s
from support import v2_frames as f
from turnwire.core.agent import AgentProtocol, Dialect
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

_BLOCK: Final = 50_000
"""Frames of one seed."""
_READ: Final = 12
"""Most frames of one read."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    blocks = -(-options.frames // _BLOCK)
    ended: Counter[str] = Counter()
    with ProcessPoolExecutor() as pool:
        for found in pool.map(block, range(options.seed, options.seed + blocks)):
            ended += found
    frames = ended.pop("frames")
    sys.stdout.write(f"{frames} frames, {ended.total()} turns: {dict(ended.most_common())}\n")
    return 0


def block(seed: int) -> Counter[str]:
    """Turns until `_BLOCK` frames were heard; how they ended. Raises what a `Turn` raises."""
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    ended: Counter[str] = Counter()
    while ended["frames"] < _BLOCK:
        conversation, pool = _new(dice)
        turn = Turn(conversation, Limits(), UIMessageStream())
        now = 0.0
        turn.handle(Opened(), now)
        while turn.outcome is None and dice.random() < 0.98:
            read = [_one(dice, pool) for _ in range(dice.randrange(1, _READ))]
            turn.frames(read, now)
            ended["frames"] += len(read)
            now += dice.choice((0.0, 0.1, 20.0))
            turn.handle(Tick(), now)
        while turn.outcome is None:  # one that waits for an answer ends at the second
            turn.handle(AgentLeft(), now)
        ended[turn.outcome.value] += 1
    return ended


_OVER_HTTP: Final = {
    "ag-ui": AG_UI,
    "openai-chat": OPENAI_CHAT,
    "openai-responses": OPENAI_RESPONSES,
}


def _new(dice: Random) -> tuple[AgentProtocol, list[bytes]]:
    look = ResumeRequest(user_id=s.ME, init_s=5)
    dialect: Dialect
    if dice.random() < 0.4:
        asked = PromptRequest(text="hi", prompt_id=g.RUN)
        wire = dice.choice([*_OVER_HTTP])
        return DIALECTS[wire].prompt(asked), list(_OVER_HTTP[wire])
    if dice.random() < 0.5:
        dialect, pool = DIALECTS["v2"], list(V2)
        ask = PromptRequest(text="hi", prompt_id=f.PROMPT)
    else:
        dialect, pool = DIALECTS["session-agent"], AGENTS[dice.choice(s.REVISIONS)]
        ask = PromptRequest(text="two", prompt_id="p1", user_id=s.ME)
    return (dialect.prompt(ask) if dice.random() < 0.8 else dialect.resume(look)), pool


def _one(dice: Random, pool: list[bytes]) -> bytes:
    frame = dice.choice(pool)
    if dice.random() < 0.5 or not frame:
        return frame
    at = dice.randrange(len(frame))
    match dice.randrange(4):
        case 0:
            bent = frame[:at] + bytes((dice.randrange(256),)) + frame[at + 1 :]
        case 1:
            bent = frame[:at]
        case 2:
            bent = frame[:at] + frame[at // 2 :]
        case _:
            other = dice.choice(pool)
            bent = frame[:at] + other[: dice.randrange(len(other) + 1)] + frame[at:]
    return bent.decode(errors="replace").encode()


if __name__ == "__main__":
    sys.exit(main())
