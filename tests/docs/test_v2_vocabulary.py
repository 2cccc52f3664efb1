"""Each frame and each field that docs/v2.md and the schema name is read, or listed as lost."""

import json
import re
from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from docs.wire_page import table, table_headed
from support import v2_frames as f
from support.vocabulary import fields_by_tag, fields_of
from turnwire.core.agent import AgentProtocol
from turnwire.core.recording.drift import Drift
from turnwire.core.requests import DEFAULT_CHANNEL, PromptRequest, ResumeRequest
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.frames import KNOWN, SKIPPED, InitData
from turnwire.dialects.v2.init import Entry, Part
from turnwire.dialects.v2.schema import SCHEMA
from turnwire_lab.docs.lost import ANY, listed
from turnwire_lab.docs.lost.v2 import ROWS

LOST: Final = listed(ROWS)
ENTRY: Final = "init.session.messages"
PARTS: Final = "init.session.messages.parts"
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def fields(cell: str) -> set[str]:
    """The fields that a cell of the page names, without what stands in brackets."""
    cell = re.sub(r"\[[^]]*\]\([^)]*\)", "", cell)
    return set(re.findall(r"`(\w+)\??`", re.sub(r"\([^()]*\)", "", cell)))


def of_page() -> dict[str, set[str]]:
    """The frames of the page, and what stands in its `init`, with their fields."""
    found: dict[str, set[str]] = {ENTRY: set()}
    for kinds, *cells in table("## Agent to gateway")[1:]:
        for kind in re.findall(r"`([\w.-]+)`", kinds):
            found[kind] = fields("".join(cells))
            for name, inner in re.findall(r"`(\w+)\{([^}]*)\}", "".join(cells)):
                found[kind].add(name)
                found[f"{kind}.{name}"] = set(re.findall(r"\w+", inner))
    for kinds, *_ in table_headed("Field of an entry")[1:]:
        found[ENTRY] |= fields(kinds)
    for kinds, *cells in table_headed("Part")[1:]:
        for kind in re.findall(r"`([\w-]+)`", kinds):
            found[f"part.{kind}"] = fields("".join(cells)) - {"true"}
    return found


def of_schema() -> dict[str, set[str]]:
    """What the schema knows beyond that: frames that are skipped, fields that are not decoded."""
    found: dict[str, set[str]] = {kind: set() for kind in SKIPPED}
    for path, names in SCHEMA.unread.items():
        if path != PARTS:
            found.setdefault(path, set()).update(names - {"*"})
    found["init.session"] |= fields_of(SCHEMA.inside["init.session"])
    return found


TYPES: Final = {
    kind: of_page().get(kind, set()) | of_schema().get(kind, set())
    for kind in {**of_page(), **of_schema()}
}
READ: Final[dict[str, Any]] = {
    **{kind: names for kind, names in fields_by_tag(KNOWN).items() if kind not in SKIPPED},
    "init.data": fields_of(InitData),
    "init.session": {"messages"},
    ENTRY: fields_of(Entry),
    **{f"part.{kind}": fields_of(Part) for kind in SCHEMA.types[PARTS]},
    # The fields of a question are handed on whole.
    "question": TYPES["question"],
    "part.question": TYPES["part.question"],
}
"""What is read of each."""


def test_the_page_has_all_that_is_read() -> None:
    page = of_page()

    assert {kind for kind in page if kind.startswith("part.")} == {
        f"part.{kind}" for kind in SCHEMA.types[PARTS]
    }
    assert page.keys() >= fields_by_tag(KNOWN).keys() - set(SKIPPED)
    assert page["message.part.file"] == {"turnId", "url", "mime", "filename"}
    assert page["init.data"] == {"runnerBusy", "runningTurnId", "promptsQueued"}


def test_each_frame_and_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(TYPES, READ, LOST) == []


def test_nothing_is_listed_that_the_wire_has_not() -> None:
    assert invented(TYPES, LOST) == []


def test_no_frame_of_the_page_is_drift() -> None:
    frames = [
        f.frame(kind, **dict.fromkeys(names, VALUE))
        for kind, names in TYPES.items()
        if kind in fields_by_tag(KNOWN)
    ]

    assert len(frames) == len(KNOWN)
    assert Drift(SCHEMA).inspect(frames) == []


CALL: Final = {"callId": "c1", "toolName": "bash", "status": "running", "result": VALUE}
PAGE: Final = "https://a.example/"
WHOLE: Final[dict[str, Any]] = {
    "message.part.text-delta": {"delta": "a"},
    "message.part.reasoning-delta": {"delta": "a"},
    "message.part.tool-input-delta": {"callId": "c1", "toolName": "bash", "delta": "{}"},
    "message.part.tool-update": {**CALL, "preliminary": True},
    "message.part.file": {"url": PAGE, "mime": "image/png"},
    "message.part.source": {"url": PAGE, "sourceId": "s1"},
    "message.part.data": {"dataName": "state", "value": 1},
    "message.part.retract": {"since": 0},
    "message.finalize": {"reason": "end_turn"},
    "chunk": {"messageId": f.OURS, "content": "a"},
    "agentStatus": {"status": "thinking"},
    "error": {"message": "no"},
    "question.resolved": {"questionId": "q1"},
    "question.expired": {"questionId": "q1"},
    "part.file": {"url": PAGE, "mime": "image/png"},
}
"""What a frame must have, by its type."""


def played(kind: str, **lost: Any) -> tuple[AgentProtocol, str]:
    """A turn that has one frame of this kind with these fields, and what the client got."""
    whole = {**WHOLE.get(kind, {}), **lost}
    if kind.partition(".")[0] in {"init", "part"}:
        return _resumed(kind, whole)
    whole = {**({"turnId": f.OURS} if kind.startswith("message.") else {}), **whole}
    protocol = V2().prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    return _told(protocol, f.begin(), f.part("Hi"), f.question("q1"), f.frame(kind, **whole))


def _resumed(kind: str, whole: dict[str, Any]) -> tuple[AgentProtocol, str]:
    """The same, where it stands in `init`."""
    parts = [{"type": "text", "text": "Hi"}]
    entry: dict[str, Any] = {"id": f.OURS, "role": "assistant", "parts": parts}
    session: dict[str, Any] = {"messages": [entry]}
    if kind == ENTRY:
        entry.update(whole)
    elif kind == "init.session":
        session.update(whole)
    else:
        parts.append({"type": kind.partition(".")[2], **whole})
    init = f.frame("init", session=session, data={"runningTurnId": f.OURS})
    request = ResumeRequest(channel=DEFAULT_CHANNEL, user_id="u1", init_s=5)
    return _told(V2().resume(request), init)


def _told(protocol: AgentProtocol, *frames: bytes) -> tuple[AgentProtocol, str]:
    turn = Turn(protocol, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    written = b"".join(turn.frames([frame], 0).to_client for frame in frames).decode()
    assert '"delta":"Hi"' in written
    return protocol, written


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    kind, field = lost
    protocol, written = played(kind, **({} if kind in SKIPPED else {field: VALUE}))

    assert is_counted(protocol.frame_stats, kind, LOST[lost])
    assert VALUE not in written


NAMES: Final = [
    (kind, field)
    for kind, names in TYPES.items()
    for field in sorted(names)
    if (ANY, field) in LOST and kind not in {*SKIPPED, ENTRY} and field not in READ[kind]
]
"""Where a field that says whose frame it is may stand, and is not read."""


@pytest.mark.parametrize("lost", [*silent(LOST), *NAMES, ("status", "status")], ids=" ".join)
def test_clients_get_nothing_of_what_is_listed_as_lost(lost: tuple[str, str]) -> None:
    kind, field = lost
    protocol, written = played(kind, **{field: True if field == "preliminary" else VALUE})

    stats = protocol.frame_stats
    assert (stats.malformed, stats.foreign, stats.left_out, stats.unrecognised) == (0, 0, {}, {})
    assert VALUE not in written


def test_a_frame_of_another_turn_is_counted() -> None:
    protocol, written = played("message.part.text-delta", turnId="turn-9", delta=VALUE)

    assert protocol.frame_stats.foreign == 1
    assert VALUE not in written


def test_a_part_that_is_shown_in_a_resumed_turn_is_shown_here() -> None:
    _, written = played("part.file", filename=VALUE)

    assert json.dumps(PAGE) in written
