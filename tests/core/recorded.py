"""The golden recordings, run once more with the flight recorder listening in."""

from collections.abc import Sequence
from pathlib import Path

from turnwire.core import replay as replaying
from turnwire.core.dialect import Ask, Dialect, Look
from turnwire.core.limits import Limits
from turnwire.core.overheard import Overheard
from turnwire.core.recording import Recording, header
from turnwire.core.redact import Redactor
from turnwire.core.vocabulary import Vocabulary
from turnwire.dialects import DIALECTS

GOLDEN = Path(__file__).parents[1] / "golden"
RECORDINGS = sorted(GOLDEN.glob("*/*.jsonl"))
PLENTY = 10**9


def dialect(path: Path) -> Dialect:
    return next(made for named, made in DIALECTS.items() if path.parent.name.startswith(named))


def redactor(words: Vocabulary) -> Redactor:
    return Redactor(kept=words.kept, ids=words.ids, phrases=words.phrases)


def run(path: Path, most_bytes: int = PLENTY) -> tuple[bytes, Recording]:
    """The stream of a golden recording, and what the flight recorder has of it."""
    return heard(path.read_bytes().splitlines(), dialect(path), most_bytes)


def heard(lines: Sequence[bytes], of: Dialect, most_bytes: int = PLENTY) -> tuple[bytes, Recording]:
    lines = [line.strip() for line in lines]
    limits = Limits(idle_s=of.idle_s)
    asked: Ask | Look
    if b"#! resume" in lines:
        asked = Look(user_id="u1", init_s=limits.hold_s)
        conversation = of.resume(asked)
    else:
        asked = Ask(text=replaying._asked(lines), prompt_id="p1", user_id="u1")
        conversation = of.prompt(asked)
    turn = Overheard(conversation, limits)
    recording = Recording(header(asked, dialect=of.name, limits=limits), most_bytes)
    turn.ears = [recording]
    now = 100.0
    written = [turn.opened(now).write]
    for line in lines:
        if line.startswith(b"#!"):
            acts, now = replaying._happening(line[2:].decode().split(), turn, now)
            written += [act.write for act in acts]
        elif line and not line.startswith(b"#"):
            written.append(turn.frames([line], now).write)
    written.append(turn.agent_left(now).write)
    return b"".join(written), recording
