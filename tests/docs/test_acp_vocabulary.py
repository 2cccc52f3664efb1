"""Each message and each field of the protocol's own schema is read, or listed as lost."""

from typing import Any, Final

import pytest

from docs.lost_rows import claims, invented, is_counted, silent, unlisted
from support import acp_messages as f
from support.acp_turn import Played, begun
from support.vocabulary import fields_by_tag, fields_of, types, vocabulary
from turnwire.core.recording.drift import Drift
from turnwire.dialects.acp import abilities, frames
from turnwire.dialects.acp.schema import SCHEMA
from turnwire_lab.docs.lost import ALL, listed
from turnwire_lab.docs.lost.acp import ROWS

LOST: Final = listed(ROWS)
WIRE: Final = "acp"
TYPES: Final = types(WIRE)
ABILITIES: Final = "initialize.result.agentCapabilities"
BLOCK: Final = fields_of(frames.Block) | fields_of(frames.Media)
READ: Final[dict[str, Any]] = {
    **fields_by_tag(frames.Update.__args__),
    "session/update": fields_of(frames.UpdateParams),
    frames.PERMISSION: fields_of(frames.PermissionParams),
    f"{frames.PERMISSION}.toolCall": fields_of(frames.PermissionCall),
    f"{frames.PERMISSION}.options": fields_of(frames.Option),
    frames.WITHDRAW: fields_of(frames.Withdrawn),
    "error": fields_of(frames.RpcError),
    "initialize.result": fields_of(frames.Initialized),
    ABILITIES: fields_of(abilities._Agent),
    f"{ABILITIES}.promptCapabilities": fields_of(abilities._Prompt),
    f"{ABILITIES}.sessionCapabilities": fields_of(abilities._Session),
    "session/new.result": fields_of(frames.SessionMade),
    "session/load.result": (),
    "session/resume.result": (),
    "session/prompt.result": fields_of(frames.PromptDone),
    **dict.fromkeys(("content.text", "content.image", "content.audio"), BLOCK),
    "content.resource_link": BLOCK,
    # What a call shows is handed on whole, whatever it is.
    **{kind: TYPES[kind] for kind in TYPES if kind.startswith("tool_call.content.")},
}
"""What is read of each message."""
UPDATES: Final = sorted(kind for kind in TYPES if kind in frames.UPDATES)
VALUE: Final = "told-7f3a"
"""What stands in a field that is lost."""


def test_the_version_that_is_read_is_there() -> None:
    assert len(vocabulary(WIRE)) == 1
    assert len(UPDATES) == 13


def test_each_message_and_each_field_is_read_or_listed_as_lost() -> None:
    assert unlisted(TYPES, READ, LOST) == []


def test_nothing_is_listed_that_the_protocol_has_not() -> None:
    assert invented(TYPES, LOST) == []


def test_no_message_of_the_protocol_is_drift_but_for_requests_that_are_refused() -> None:
    methods = [kind for kind in TYPES if "/" in kind and "." not in kind]
    found = Drift(SCHEMA).inspect(
        [
            *(f.update(kind, **dict.fromkeys(TYPES[kind], VALUE)) for kind in UPDATES),
            *(f.message(id=1, method=method, params={}) for method in methods),
            *(f.done(usage={}), f.failure(10), *f.OPENED),
        ]
    )

    assert {each.type for each in found} == {kind for kind in methods if (kind, ALL) in LOST}


def test_what_a_call_shows_is_handed_on_whole() -> None:
    for kind in ("diff", "terminal"):
        fields = dict.fromkeys(TYPES[f"tool_call.content.{kind}"], VALUE)
        shown = {"type": kind, **fields}
        turn = begun(f.call(), f.state("completed", content=[shown]), f.done())

        assert turn.of_call()[-1]["output"] == [shown]


WHOLE: Final[dict[str, Any]] = {
    "content.text": {"type": "text", "text": "a"},
    "content.image": {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    "content.audio": {"type": "audio", "data": "AAAA", "mimeType": "audio/mp3"},
    "content.resource": {"type": "resource"},
    "content.resource_link": {"type": "resource_link", "name": "a", "uri": "https://example.com"},
}
"""What a block must have."""


def played(kind: str, fields: dict[str, Any]) -> Played:
    """A turn that has one message or block of this kind with these fields beside its own."""
    if kind in WHOLE:
        return begun(f.block(**{**fields, **WHOLE[kind]}), f.done())
    if kind in UPDATES:
        return begun(f.update(kind, **fields), f.done())
    if kind == "error":
        return begun(f.message(id=f.PROMPT, error={"code": -1, "message": "no", **fields}))
    if kind == f"{frames.PERMISSION}.toolCall":
        return begun(f.permission(**fields), f.done())
    if not kind.endswith(".result") and not kind.startswith("initialize"):
        return begun(f.message(id=7, method=kind, params=fields), f.done())
    return _opened(kind, fields)


def _opened(kind: str, fields: dict[str, Any]) -> Played:
    """The same, where the message is one of those that open a session."""
    able: Any = {"resume": {}} if kind == "session/resume.result" else {}
    result: Any = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": able}}
    result["agentCapabilities"]["loadSession"] = kind == "session/load.result"
    method, *path = kind.split(".")
    if method == "initialize":
        inner = result
        for name in path[1:]:
            inner = inner[name]
        inner.update(fields)
    made = {"sessionId": f.SESSION} | ({} if method == "initialize" else fields)
    messages = (f.response(1, **result), f.response(2, **made), f.text("a"), f.done())
    return Played(*messages, known="session-1" if method.endswith(("load", "resume")) else None)


@pytest.mark.parametrize("lost", sorted(claims(LOST)), ids=" ".join)
def test_what_is_listed_as_counted_is_counted(lost: tuple[str, str]) -> None:
    kind, field = lost
    turn = played(kind, dict.fromkeys(TYPES[kind] if field == ALL else (), VALUE))

    assert is_counted(turn.protocol.frame_stats, kind, LOST[lost])
    assert VALUE not in turn.written.decode()


@pytest.mark.parametrize("lost", sorted(silent(LOST)), ids=" ".join)
def test_clients_get_nothing_of_what_is_listed_as_lost(lost: tuple[str, str]) -> None:
    kind, field = lost
    turn = played(kind, {field: VALUE})

    stats = turn.protocol.frame_stats
    assert (stats.malformed, stats.left_out, stats.unrecognised) == (0, {}, {})
    assert VALUE not in turn.written.decode()
    assert turn.chunks[-1]["type"] == "finish"


def test_a_request_that_is_refused_gets_an_answer() -> None:
    refused = [kind for kind, field in claims(LOST) if "/" in kind and field == ALL]

    assert {played(kind, {}).sent[-1]["error"]["code"] for kind in refused} == {-32601}
