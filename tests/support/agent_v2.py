"""An agent of the `v2` wire that tells a random turn, and what its hydration says at each step."""

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from support import v2_frames as f
from support.stream_text import mend

Json = dict[str, Any]

PIECES: Final = ("a", " b", "\n\n", "é", "\u2028", "\0", "\U0001f600")
"""What breaks line formats."""
HALVES: Final = ("\ud83d", "\ude00")
"""Of a surrogate pair: they meet or stay alone."""
VALUES: Final[tuple[Any, ...]] = ({}, {"a": [1, None]}, None, "x", {"__proto__": 1}, "\ud83d")
URLS: Final = ("https://a.example/", "data:image/png;base64,QQ==")
REFUSED_URL: Final = "javascript:1"
"""Its part is left out, and what is said before and after it is one block."""
PROMPT: Final = {"promptId": f.PROMPT, "channelType": "web", "channelId": "default"}
LONGEST: Final = 14


class Agent:
    """Tells one turn, step by step. A delta told in two spellings is one step.

    An orderly agent says nothing while a tool runs or a question is open: of
    what another one says then, a hydration cannot tell the place.
    """

    def __init__(self, seed: int, *, orderly: bool = True) -> None:
        self._dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
        self._orderly = orderly
        self._parts: list[Json] = []
        self._number = 0
        self.begun = self.over = False
        asked = {"type": "text", "text": "hi", "streaming": False}
        self._asked: Json = {"id": "prompt-1", "role": "user", **PROMPT, "clientMessageId": "m1"}
        self._asked["parts"] = [asked]

    def steps(self) -> Iterator[list[bytes]]:
        """The frames of each step, once what the hydration says has moved with them."""
        self.begun = True
        yield [f.begin()]
        for _ in range(self._dice.randrange(LONGEST)):
            yield self._something()
        if self._dice.random() < 0.8:
            yield self._end()

    def init(self) -> bytes:
        """The hydration of a socket that joins now."""
        if not self.begun:
            return f.frame("init", session={"messages": [self._asked | {"queued": True}]})
        turn = {"id": f.OURS, "role": "assistant", **PROMPT, "parts": self._parts}
        data = {} if self.over else {"runnerBusy": True, "runningTurnId": f.OURS}
        return f.frame("init", session={"messages": [self._asked, turn]}, data=data)

    def _something(self) -> list[bytes]:
        open_parts = [part for part in self._parts if _is_open(part)]
        busy = bool(open_parts)
        if busy and (self._orderly or self._dice.random() < 0.5):
            return self._move(self._dice.choice(open_parts))
        match self._dice.randrange(9):
            case 0 | 1 | 2:
                return self._say("text")
            case 3:
                return self._say("reasoning")
            case 4 | 5:
                return self._call()
            case 6:
                return self._ask()
            case 7:
                return self._show()
            case _:
                return [f.frame("agentStatus", status="thinking"), f.part("no", "turn-9")]

    def _say(self, kind: str) -> list[bytes]:
        pieces = (*PIECES, *HALVES) if self._orderly else PIECES
        text = "".join(self._dice.choices(pieces, k=self._dice.randrange(1, 4)))
        last = self._parts[-1] if self._parts else {}
        if last.get("type") == kind:
            last["text"] += text
        else:
            self._parts.append({"type": kind, "text": text})
        if kind == "reasoning":
            return [f.reasoning(text)]
        return self._dice.choice(([f.part(text), f.chunk(text)], [f.chunk(text), f.part(text)]))

    def _call(self) -> list[bytes]:
        part = {"type": "tool-call", "callId": self._name("c"), "toolName": "bash"}
        self._parts.append(part)
        part["status"] = "pending"
        return self._advance(part, self._dice.choice(("pending", "running", "completed", "error")))

    def _ask(self) -> list[bytes]:
        fields = {"questionId": self._name("q"), "turnId": f.OURS, "text": "ok?\ud83d"}
        self._parts.append({"type": "question", **fields})
        return [f.frame("question", **fields)]

    def _show(self) -> list[bytes]:
        url = self._dice.choice(URLS if self._orderly else (*URLS, REFUSED_URL))
        if self._dice.random() < 0.5:
            self._parts.append({"type": "file", "url": url, "mime": "image/png"})
            return [f.file(url)]
        title = self._dice.choice(({}, {"title": "T\ud83d"}))
        self._parts.append({"type": "source", "sourceId": "s1", "url": url, **title})
        return [f.source(url, **title)]

    def _move(self, part: Json) -> list[bytes]:
        if part["type"] == "tool-call":
            return self._advance(part, self._dice.choice(("running", "completed", "error")))
        ids = {"questionId": part["questionId"], "turnId": f.OURS}
        if self._dice.random() < 0.5:
            part["answer"] = self._dice.choice(VALUES)
            return [f.frame("question.resolved", **ids, answer=part["answer"])]
        part["expired"] = True
        return [f.frame("question.expired", **ids)]

    def _advance(self, part: Json, status: str) -> list[bytes]:
        part["status"] = status
        if status != "pending" and self._dice.random() < 0.8:
            part.setdefault("args", self._dice.choice(VALUES))
        if status == "completed" and self._dice.random() < 0.8:
            part["result"] = self._dice.choice(VALUES)
        if status == "error":
            part["error"] = self._dice.choice(("", "no\x1b", {"message": "it broke"}))
        fields = {name: value for name, value in part.items() if name != "type"}
        return [f.frame("message.part.tool-update", turnId=f.OURS, **fields)]

    def _end(self) -> list[bytes]:
        self.over = True
        reason = self._dice.choice(("end_turn", "error", "canceled"))
        told: list[bytes] = []
        for part in self._parts:
            if not _is_open(part):
                continue
            if part["type"] == "question":
                part["expired"] = True
                told.append(f.frame("question.expired", questionId=part["questionId"]))
            else:
                part |= {"status": "error", "error": "Canceled"}
                fields = {name: value for name, value in part.items() if name != "type"}
                told.append(f.frame("message.part.tool-update", turnId=f.OURS, **fields))
        text = "".join(mend(part["text"]) for part in self._parts if part["type"] == "text")
        why = {"error": "boom"} if reason == "error" else {}
        if why:
            self._parts.append({"type": "error", "message": "boom"})
        self._parts.append({"type": "finish", "reason": reason})
        told.append(f.finalize(reason=reason, finalText=text, **why))
        return [*told, f.frame("complete", turnId=f.OURS)]

    def _name(self, kind: str) -> str:
        self._number += 1
        return f"{kind}{self._number}"


def _is_open(part: Json) -> bool:
    if part["type"] == "question":
        return "answer" not in part and "expired" not in part
    return part.get("status") in {"pending", "running"}
