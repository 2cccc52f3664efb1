"""Random recordings of what an agent may say: in any order, with the values that break clients.

Seeded and plain, so that one Node process reads hundreds of them at once, which an example-by-
example search could not afford.
"""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

LONGEST: Final = 30
TURN: Final = "turn-1"
OURS: Final = {"turnId": TURN, "promptId": "p1"}
# What breaks line formats, and halves of surrogate pairs, which meet or stay alone.
PIECES: Final = (
    "a",
    " ",
    "\n",
    "\r\n",
    "\u2028",
    "\0",
    "\U0001f600",
    "\ud83d",
    "\ude00",
    "data: x\n\n",
)
CALLS: Final = ("c1", "c2", "__proto__", "toString")
# What a client's parser refuses, or would take for something else.
VALUES: Final[tuple[Any, ...]] = (
    None,
    {},
    [],
    "",
    "x\u2028\ud83d",
    True,
    -0.0,
    2**60 + 1,
    {"a": {"__proto__": 1, "constructor": {"prototype": 2}}},
    {"type": "error", "errorText": "not ours"},
)
NO_FRAMES: Final = (b"nonsense", b"[]", b'{"type":7}', b'{"type":"chunk"}', b'{"type":"new.thing"}')


def recording(seed: int) -> list[bytes]:
    dice = Random(seed)  # noqa: S311
    frames = [] if dice.random() < 0.05 else [_json({"type": "message.create", **OURS})]
    for _ in range(dice.randrange(LONGEST)):
        frames += _something(dice)
    if dice.random() < 0.8:
        reason = dice.choice(("end_turn", "error", "canceled"))
        error = dice.choice(({}, {"error": "boom\x1b"}, {"error": ""}))
        usage = {"usage": {"promptTokens": 1, "completionTokens": 2, "totalTokens": 3}}
        why = dice.choice(({}, {"finishReason": "stop"}, {"finishReason": "max-steps"}))
        end = {"type": "message.finalize", **OURS, "reason": reason, **error, **usage, **why}
        frames.append(_json(end))
    return frames


def _something(dice: Random) -> Iterator[bytes]:
    match dice.randrange(18):
        case 0 | 1 | 2:
            text = "".join(dice.choices(PIECES, k=dice.randrange(4)))
            spellings = dice.choice((("chunk",), ("text-delta",), ("chunk", "text-delta")))
            if "chunk" in spellings:
                yield _json({"type": "chunk", "content": text, "messageId": TURN})
            if "text-delta" in spellings:
                yield _json({"type": "message.part.text-delta", "turnId": TURN, "delta": text})
        case 3:
            text = "".join(dice.choices(PIECES, k=dice.randrange(4)))
            yield _json({"type": "message.part.reasoning-delta", "turnId": TURN, "delta": text})
        case 4 | 5 | 6 | 7:
            yield _json(_tool(dice))
        case 8:
            detail = dice.choice(({}, {"detail": dice.choice(PIECES)}))
            status = dice.choice(("idle", "thinking", "streaming", "tool_calling", "error"))
            yield _json({"type": "agentStatus", "status": status, **detail})
        case 9:
            question = {"questionId": dice.choice("qp"), "turnId": TURN}
            kind = dice.choice(("question", "question", "question.resolved", "question.expired"))
            asked = {"text": "ok?", "options": ["yes"]} if kind == "question" else {"answer": "yes"}
            yield _json({"type": kind, **question, **asked})
        case 10:
            yield dice.choice((*NO_FRAMES, b"#! after 20"))
        case 11:
            url = dice.choice(("https://a.example/", "data:image/png;base64,QQ==", "javascript:1"))
            title = dice.choice(({}, {"title": dice.choice(PIECES)}))
            yield dice.choice(
                (
                    _json({"type": "message.part.file", **OURS, "url": url, "mime": "image/png"}),
                    _json(
                        {
                            "type": "message.part.source",
                            **OURS,
                            "sourceId": dice.choice(CALLS),
                            "url": url,
                            **title,
                        }
                    ),
                )
            )
        case 12 | 13:
            piece = dice.choice((*PIECES, '{"a":', "[1", "}", '"__proto__":{}', "\\ud83d"))
            call = {"turnId": TURN, "callId": dice.choice(CALLS), "toolName": "calc"}
            yield _json({"type": "message.part.tool-input-delta", **call, "delta": piece})
        case 14:
            part_id = dice.choice(({}, {"dataId": "d"}, {"dataId": "__proto__"}))
            name = dice.choice(("state", "toString", "my-Data_2", "question"))
            data = {"dataName": name, **part_id, "transient": dice.random() < 0.3}
            value = dice.choice(VALUES)
            yield _json({"type": "message.part.data", "turnId": TURN, **data, "value": value})
        case 15:
            yield _json({"type": "message.part.step", "turnId": TURN})
        case 16:
            since = dice.randrange(4)
            yield _json({"type": "message.part.retract", "turnId": TURN, "since": since})
        case _:
            yield _json(
                {"type": "message.part.text-delta", "turnId": "turn-9", "delta": "not ours"}
            )


def _tool(dice: Random) -> dict[str, Any]:
    frame: dict[str, Any] = {
        "type": "message.part.tool-update",
        "turnId": TURN,
        "callId": dice.choice(CALLS),
        "toolName": dice.choice(("calc", "a b", "é")),
        "status": dice.choice(("pending", "running", "completed", "error")),
    }
    for name in ("args", "result"):
        if dice.random() < 0.5:
            frame[name] = dice.choice(VALUES)
    if dice.random() < 0.5:
        frame["preliminary"] = True
    if dice.random() < 0.3:
        frame["argsDelta"] = dice.choice(('{"a":', "1}", "\ud83d"))
    if dice.random() < 0.5:
        frame["error"] = dice.choice(("", "it broke", "\0"))
    return frame


def _json(frame: dict[str, Any]) -> bytes:
    return json.dumps(frame).encode()
