"""Hostile agents that speak `session-agent`, and say too much of it. Their turn is `turn-1`."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Final

from hostile.attack import (
    FAST,
    MARK,
    MIB,
    SESSION_AGENT,
    SOON_S,
    AgentAttack,
    Blocks,
    in_turns,
    numbered,
    same,
    text,
)
from support import session_agent_frames as frames

OTHER: Final = "turn-of-somebody-else"
Json = dict[str, Any]


# Ids of a mebibyte: each frame is made from an id.

_LONG: Final = "x" * MIB


_IDS: Final[Mapping[str, tuple[Callable[[str], bytes], ...]]] = {
    "message": (
        frames.begin,
        lambda name: frames.begin("turn-2", channelId=name),
        lambda name: frames.user(prompt=name),
        lambda name: frames.user(by=name),
        lambda name: frames.user(channelId=name),
    ),
    "chunk": (
        lambda name: frames.chunk("a", name),
        lambda name: frames.chunk("a", channelId=name),
        lambda name: frames.chunk("a", threadId=name),
    ),
    "message.updated": (
        lambda name: frames.updated(turn=name),
        lambda name: frames.updated(turn=OTHER, channelId=name),
    ),
    "`callId` of `message.updated`": (
        lambda name: frames.updated(frames.tool("running", name)),
        lambda name: frames.updated(frames.tool("running", "c1", name)),
    ),
    "agentStatus": (lambda name: frames.doing("thinking", channelId=name),),
    "status": (
        lambda name: frames.status(promptDequeued=True, messageId=name),
        lambda name: frames.status(questionAnswered=name),
        lambda name: frames.status(questionExpired=name),
        lambda name: frames.status(runnerBusy=False, channelId=name),
    ),
    "question": (
        lambda name: frames.frame("question", questionId=name, text="Well?", **frames.CHANNEL),
    ),
    "interactive_prompt": (
        lambda name: frames.asked("V", name),
        lambda name: frames.frame("interactive_prompt_resolved", promptId=name),
        lambda name: frames.frame("interactive_prompt_expired", promptId=name),
    ),
    "error": (
        lambda name: frames.frame("error", error="Oh.", messageId=name, channelId="c2"),
        lambda name: frames.frame("error", error="Oh.", promptId=name),
    ),
    "queue.state": (
        lambda name: frames.pending(prompt=name),
        lambda name: frames.pending(threadId=name),
    ),
    "queue.withdrawn": (lambda name: frames.frame("queue.withdrawn", data={"messageId": name}),),
    "user.joined": (lambda name: frames.frame("user.joined", userId=name),),
    "audit_log": (lambda name: frames.audit("agent.tool", actorId=name),),
}


def long_ids(kind: str) -> Iterator[bytes]:
    """Each frame in its turn, each id another one."""
    return in_turns(*(numbered(text(make(f"{MARK}{_LONG}"))) for make in _IDS[kind]))


# Snapshots.


@same
def million_parts() -> bytes:
    part = b'{"type":"text","text":"a"},'
    frame = frames.updated(frames.text("a"))
    whole = b'"parts":[' + part * 1_000_000
    return text(frame.replace(b'"parts":[', whole))


@same
def million_ones() -> bytes:
    whole = b'"parts":[' + b"1," * 1_000_000
    return text(frames.updated(frames.text("a")).replace(b'"parts":[', whole))


@same
def million_calls() -> bytes:
    calls = b"".join(
        b'{"type":"tool-call","callId":"c%d","toolName":"t","status":"running"},' % number
        for number in range(400_000)
    )
    frame = frames.updated(frames.text("a"))
    return text(frame.replace(b'"parts":[', b'"parts":[' + calls))


def calls_without_end() -> Iterator[bytes]:
    return numbered(
        text(frames.updated(frames.tool("running", f"c{MARK}", args={"a": "x" * 20_000})))
    )


def changing_calls() -> Iterator[bytes]:
    """A thousand calls that turn from running to completed and back."""
    for number in count():
        state = ("running", "completed")[number % 2]
        calls = (frames.tool(state, f"c{call}", args={}) for call in range(1_000))
        yield text(frames.updated(*calls))


@same
def foreign_snapshots() -> bytes:
    part = b'{"type":"tool-call","callId":"c","toolName":"t","status":"running"},'
    frame = frames.updated(frames.finish(), turn=OTHER)
    return text(frame.replace(b'"parts":[', b'"parts":[' + part * 50_000))


# What is endless.


def questions() -> Iterator[bytes]:
    return numbered(text(frames.asked("V", f"q{MARK}", "?" * MIB)))


def questions_behind_an_answer() -> Iterator[bytes]:
    """The agent took an answer, and tells of nothing but what else it asks."""
    told = (frames.init("V", runnerBusy=True), frames.asked("V"), frames.answered("V"))
    yield b"".join(map(text, told))
    yield from questions()


@same
def with_proto() -> bytes:
    args = {f"k{number}": {"__proto__": 1} for number in range(200_000)}
    return text(frames.updated(frames.tool("running", args=args)))


@same
def with_nan() -> bytes:
    frame = frames.updated(frames.tool("running", args=0))
    return text(frame.replace(b'"args":0', b'"args":[' + b"NaN," * MIB + b"0]"))


@same
def foreign_chunks() -> bytes:
    return text(frames.chunk("somebody else's ", OTHER))


def foreign_turns() -> Iterator[bytes]:
    return numbered(text(frames.begin(f"other-{MARK}", channelId=f"channel-{MARK}")))


def unknown() -> Iterator[bytes]:
    return numbered(text(frames.frame(f"unheard-of-{MARK}", data={"a": MARK})))


@same
def own_chunks() -> bytes:
    return text(frames.chunk("one word more "))


@same
def own_long_chunks() -> bytes:
    return text(frames.chunk("x" * 20_000))


@same
def errors() -> bytes:
    return text(frames.failure("Oh.", channelId="somewhere-else"))


@same
def statuses() -> bytes:
    return text(frames.doing("thinking"))


@same
def lifecycle() -> bytes:
    return text(frames.status(status="running"))


@same
def logs() -> bytes:
    return text(frames.audit("agent.tool"))


_HELD: Final[tuple[tuple[str, Blocks], ...]] = (
    ("snapshots of a million texts", million_parts),
    ("snapshots of a million ones", million_ones),
    ("snapshots of 400,000 calls", million_calls),
    ("snapshots of others, of 50,000 calls", foreign_snapshots),
    ("calls without end, with 20 KB each", calls_without_end),
    ("a thousand calls that change to and fro", changing_calls),
    ("questions of 1 MiB without end", questions),
    ("`__proto__` in snapshots of 4 MB", with_proto),
    ("`NaN` in snapshots of 4 MiB", with_nan),
    ("chunks of another turn", foreign_chunks),
    ("turns of others in channels without end", foreign_turns),
    ("frames of unknown types", unknown),
    ("its own chunks", own_chunks),
    ("its own chunks, of 20 KB", own_long_chunks),
    ("errors of another channel", errors),
    ("statuses of its turn", statuses),
    ("statuses of its session", lifecycle),
    ("log entries", logs),
)

ROWS: Final = (
    *(
        AgentAttack(
            name=f"ids of 1 MiB in {kind if '`' in kind else f'`{kind}`'}",
            wire=SESSION_AGENT,
            blocks=partial(long_ids, kind),
            bytes_per_s=FAST,
            ends_within_s=SOON_S,
        )
        for kind in _IDS
    ),
    *(AgentAttack(name=name, wire=SESSION_AGENT, blocks=blocks) for name, blocks in _HELD),
    AgentAttack(
        name="questions of 1 MiB, behind an answer",
        wire=SESSION_AGENT,
        blocks=questions_behind_an_answer,
        bytes_per_s=FAST,
        is_hello=True,
        door="answer",
    ),
)
