"""Hostile agents that speak `v2`, and say too much of it. Their turn is `turn-1`."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Final

from gateway import frames
from gateway.frames import TURN, Json
from hostile.attack import (
    FAST,
    MARK,
    MIB,
    SOON_S,
    V2,
    AgentAttack,
    Blocks,
    in_turns,
    numbered,
    same,
    text,
)

OTHER: Final = "turn-of-somebody-else"


def encoded(frame: Json) -> bytes:
    return text(frames.text(frame).encode())


def tool(call: str = "c1", name: str = "search", status: str = "running", **more: Any) -> Json:
    named = {"turnId": TURN, "callId": call, "toolName": name, "status": status}
    return {"type": "message.part.tool-update", **named, **more}


def question(name: str = "q1", **more: Any) -> Json:
    return {"type": "question", "questionId": name, "turnId": TURN, "text": "Well?", **more}


# Ids of a mebibyte.

_LONG: Final = "x" * MIB
_ID_FIELDS: Final[Mapping[str, tuple[Json, tuple[str, ...]]]] = {
    "message.create": (
        {"turnId": OTHER},
        ("turnId", "promptId", "userId", "channelType", "channelId"),
    ),
    "message.part.text-delta": ({"turnId": TURN, "delta": "a"}, ("turnId",)),
    "chunk": (
        {"messageId": TURN, "content": "a"},
        ("messageId", "channelType", "channelId"),
    ),
    "message.part.reasoning-delta": ({"turnId": TURN, "delta": "a"}, ("turnId",)),
    "message.part.tool-update": (
        {"turnId": TURN, "callId": "c", "toolName": "t", "status": "running"},
        ("turnId", "callId", "toolName"),
    ),
    "message.part.tool-input-delta": (
        {"turnId": TURN, "callId": "c", "toolName": "t", "delta": "{"},
        ("turnId", "callId", "toolName"),
    ),
    "message.part.data": (
        {"turnId": TURN, "dataName": "d", "dataId": "d", "value": 1},
        ("turnId", "dataName", "dataId"),
    ),
    "message.part.step": ({"turnId": TURN}, ("turnId",)),
    "message.part.retract": ({"turnId": TURN, "since": 0}, ("turnId",)),
    "message.part.source": (
        {"turnId": TURN, "sourceId": "s", "url": "https://a.example/"},
        ("turnId", "sourceId"),
    ),
    "message.part.file": (
        {"turnId": TURN, "url": "https://a.example/", "mime": "image/png"},
        ("turnId", "mime"),
    ),
    "message.finalize": ({"turnId": OTHER, "reason": "end_turn"}, ("turnId",)),
    "complete": ({"turnId": OTHER}, ("turnId", "promptId", "channelType", "channelId")),
    "agentStatus": (
        {"turnId": OTHER, "status": "thinking"},
        ("turnId", "promptId", "channelType", "channelId"),
    ),
    "question": (
        {"turnId": TURN, "questionId": "q", "text": "Well?"},
        ("questionId", "turnId", "promptId", "channelType", "channelId"),
    ),
    "question.resolved": ({"questionId": "q"}, ("questionId", "turnId")),
    "question.expired": ({"questionId": "q"}, ("questionId", "turnId")),
    "error": (
        {"turnId": OTHER, "message": "Oh."},
        ("turnId", "promptId", "channelType", "channelId"),
    ),
    "user.joined": ({"userId": "u"}, ("userId",)),
}


def long_ids(kind: str) -> Iterator[bytes]:
    """Each field in its turn, each id another one."""
    others, fields = _ID_FIELDS[kind]
    named = [{"type": kind, **others, field: f"{MARK}{_LONG}"} for field in fields]
    return in_turns(*(numbered(encoded(frame)) for frame in named))


# What is hard to read.


@same
def with_nan() -> bytes:
    frame = frames.text({**frames.delta("a"), "more": [0]}).encode()
    return text(frame.replace(b"[0]", b"[" + b"NaN," * MIB + b"0]"))


@same
def with_proto() -> bytes:
    return encoded(tool(args={f"k{n}": {"__proto__": 1} for n in range(200_000)}))


@same
def with_constructor() -> bytes:
    one = {"constructor": {"prototype": 1}}
    return encoded(tool(args={f"k{n}": one for n in range(110_000)}))


@same
def with_hidden_keys() -> bytes:
    frame = frames.text(tool(args={f"k{n}": {"PROTO": 1} for n in range(150_000)})).encode()
    return text(frame.replace(b"PROTO", rb"\u005f\u005fproto\u005f\u005f"))


def with_hidden_keys_everywhere() -> Iterator[bytes]:
    """Each call is another one, so that none is a repetition."""
    args = b'{"\\u005f_proto__":1,"a":"' + b"\\u0061" * 10_000 + b'"}'
    for number in count():
        frame = frames.text(tool(f"c{number}", args=0)).encode()
        yield text(frame.replace(b'"args":0', b'"args":' + args))


@same
def nested() -> bytes:
    """Sound JSON, a million deep, in a field that is passed on."""
    frame = frames.text(tool(args=0)).encode()
    deep = b"[" * (2 * MIB) + b"]" * (2 * MIB)
    return text(frame.replace(b'"args":0', b'"args":' + deep))


@same
def surrogates() -> bytes:
    return text(frames.text(frames.delta("a" * (4 * MIB) + "\ud83d")).encode())


# What is endless.


def questions() -> Iterator[bytes]:
    return numbered(encoded(question(f"q{MARK}", text="?" * MIB)))


def tools() -> Iterator[bytes]:
    return numbered(encoded(tool(f"c{MARK}", args={"text": "x" * 20_000})))


def small_tools() -> Iterator[bytes]:
    return numbered(encoded(tool(f"c{MARK}", args={})))


@same
def one_tool() -> bytes:
    return encoded(tool(args={"text": "x" * 20_000}))


@same
def foreign_deltas() -> bytes:
    return encoded(frames.delta("somebody else's ", OTHER))


def foreign_turns() -> Iterator[bytes]:
    return numbered(encoded(frames.create(f"p{MARK}", f"turn-of-others-{MARK}")))


def foreign_channels() -> Iterator[bytes]:
    return numbered(encoded(frames.create(None, f"other-{MARK}", channelId=f"channel-{MARK}")))


def unknown() -> Iterator[bytes]:
    return numbered(encoded({"type": f"unheard-of-{MARK}", "data": {"a": MARK}}))


@same
def skipped() -> bytes:
    return encoded({"type": "models", "models": []})


@same
def own_deltas() -> bytes:
    return encoded(frames.delta("one word more "))


@same
def own_chunks() -> bytes:
    return encoded(frames.chunk_text("one word more "))


@same
def one_letter() -> bytes:
    return encoded(frames.delta("a"))


@same
def own_long_deltas() -> bytes:
    return encoded(frames.delta("x" * 20_000))


@same
def own_reasoning() -> bytes:
    return encoded({**frames.delta("hm "), "type": "message.part.reasoning-delta"})


@same
def errors() -> bytes:
    return encoded({"type": "error", "turnId": OTHER, "message": "Oh."})


@same
def statuses() -> bytes:
    return encoded({"type": "agentStatus", "turnId": TURN, "status": "thinking"})


@same
def lifecycle() -> bytes:
    return encoded({"type": "status", "data": {"status": "running"}})


@same
def inits() -> bytes:
    """One after the other, in mid-turn, of a few KiB each."""
    session = {"messages": [{"id": "m", "role": "assistant", "parts": []}] * 100}
    return encoded({"type": "init", "session": session, "data": {"runnerBusy": True}})


_HELD: Final[tuple[tuple[str, Blocks], ...]] = (
    ("`NaN` in frames of 4 MiB", with_nan),
    ("`__proto__` in frames of 4 MB", with_proto),
    ("`constructor` in frames of 4 MB", with_constructor),
    ("escapes that hide keys, in frames of 4 MB", with_hidden_keys),
    ("escapes that hide keys, in every call of many", with_hidden_keys_everywhere),
    ("arguments two million deep", nested),
    ("half a character behind 4 MiB", surrogates),
    ("questions of 1 MiB without end", questions),
    ("tools without end, with 20 KB each", tools),
    ("tools without end, with nothing", small_tools),
    ("one tool, again and again", one_tool),
    ("deltas of another turn", foreign_deltas),
    ("turns of others without end", foreign_turns),
    ("turns of others in channels without end", foreign_channels),
    ("frames of unknown types", unknown),
    ("frames of a type that is skipped", skipped),
    ("its own deltas", own_deltas),
    ("its own deltas, as `chunk`", own_chunks),
    ("its own deltas, of one letter", one_letter),
    ("its own deltas, of 20 KB", own_long_deltas),
    ("its own reasoning", own_reasoning),
    ("errors of another turn", errors),
    ("statuses of its turn", statuses),
    ("statuses of its session", lifecycle),
    ("`init` again and again", inits),
)

ROWS: Final = (
    *(
        AgentAttack(
            name=f"ids of 1 MiB in `{kind}`",
            wire=V2,
            blocks=partial(long_ids, kind),
            bytes_per_s=FAST,
            ends_within_s=SOON_S,
        )
        for kind in _ID_FIELDS
    ),
    *(AgentAttack(name=name, wire=V2, blocks=blocks) for name, blocks in _HELD),
    AgentAttack(
        name="questions of 1 MiB, as fast as they are read",
        wire=V2,
        blocks=questions,
        bytes_per_s=FAST,
    ),
)
