"""The frames of the `session-agent` wire, written from its page, in each of its revisions."""

import json
from typing import Any, Final

TURN: Final = "turn-1"
PROMPT: Final = "P2"
ME: Final = "u1"
REVISIONS: Final = ("R", "A", "V")

Fields = dict[str, Any]
CHANNEL: Final[Fields] = {"channelType": "web", "channelId": "default"}
THREAD: Final[Fields] = {"channelType": "thread", "channelId": "th1", "threadId": "th1"}
END: Final[Fields] = {"type": "finish", "reason": "end_turn"}


def frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}, separators=(",", ":")).encode()


# To every socket, in all revisions.


def user(text: str = "two", prompt: str = PROMPT, *, by: str | None = ME, **fields: Any) -> bytes:
    data = {"id": prompt, "role": "user", "content": text, "authorId": by, **CHANNEL, **fields}
    return frame("message", data=data)


def begin(turn: str = TURN, **fields: Any) -> bytes:
    data = {"id": turn, "role": "assistant", "content": "", "parts": [], **CHANNEL, **fields}
    return frame("message", data=data)


def chunk(text: str, turn: str = TURN, **fields: Any) -> bytes:
    return frame("chunk", content=text, messageId=turn, **{**CHANNEL, **fields})


def updated(*parts: Fields, content: str | None = "", turn: str = TURN, **fields: Any) -> bytes:
    data = {"id": turn, "role": "assistant", "content": content, "parts": parts}
    return frame("message.updated", data={**data, **CHANNEL, **fields})


def text(said: str) -> Fields:
    return {"type": "text", "text": said, "streaming": False}


def tool(status: str, call: str = "c1", name: str = "bash", **fields: Any) -> Fields:
    return {"type": "tool-call", "callId": call, "toolName": name, "status": status, **fields}


def finish(reason: str = "end_turn") -> Fields:
    return {"type": "finish", "reason": reason}


def done(said: str = "", turn: str = TURN) -> bytes:
    return updated(*([text(said)] if said else []), END, content=said, turn=turn)


def status(**data: Any) -> bytes:
    return frame("status", data=data)


def doing(what: str, **fields: Any) -> bytes:
    return frame("agentStatus", status=what, **{**CHANNEL, **fields})


def audit(what: str, **entry: Any) -> bytes:
    entry = {"eventType": what, "summary": "", "createdAt": "2026-02-26T10:00:00.000Z", **entry}
    return frame("audit_log", entry=entry)


def failure(said: Any, **fields: Any) -> bytes:
    return frame("error", messageId="e1", error=said, **{**CHANNEL, **fields})


# What differs.


def init(revision: str, *, alive: str = "running", **data: Any) -> bytes:
    session: Fields = {"id": "s1", "status": alive, "workspace": "acme/app", "title": "t"}
    data = {"runnerConnected": True, "runnerBusy": False, "promptsQueued": 0, **data}
    if revision == "R":
        session["messages"] = []
        data |= {"connectedUsers": [{"id": ME}], "auditLog": []}
    else:
        data = {"connectedUsers": [ME], "pendingPrompt": None, **data}
    return frame("init", session=session, data=data)


def pending(said: str = "two", prompt: str = PROMPT, **fields: Any) -> bytes:
    waits = {"messageId": prompt, "content": said, **fields}
    return frame("queue.state", data={"threadId": None, "pending": waits})


def queued(revision: str, said: str = "two", position: int = 1) -> list[bytes]:
    """Our prompt comes, and has to wait (page 5.3)."""
    told: Fields = {"promptQueued": True, "queuePosition": position}
    if revision == "R":
        return [user(said), audit("user.prompt"), audit("prompt.queued"), status(**told)]
    if revision == "V":
        told |= {"queueReason": "busy", "messageId": PROMPT, **CHANNEL}
    return [pending(said), status(**told)]


def dequeued(revision: str, said: str = "two", remaining: int = 0) -> list[bytes]:
    """Our prompt is handed to the runner."""
    told: Fields = {"promptDequeued": True, "remaining": remaining}
    if revision == "R":
        return [status(**told)]
    if revision == "V":
        told |= {"messageId": PROMPT, **CHANNEL}
    empty = frame("queue.state", data={"pending": None, "threadId": None})
    return [user(said, threadId=None), audit("user.prompt"), empty, status(**told)]


def drained(revision: str, prompt: str = PROMPT) -> bytes:
    return status(runnerBusy=False, **({"messageId": prompt} if revision == "V" else {}))


def asked(
    revision: str,
    question: str = "q1",
    said: str = "Deploy?",
    options: list[str] | None = None,
    expires_s: int | None = None,
) -> bytes:
    if revision == "R":
        fields: Fields = {"questionId": question, "text": said, **CHANNEL}
        fields |= {"options": options} if options else {}
        return frame("question", **fields, **({"expiresAt": expires_s} if expires_s else {}))
    prompt: Fields = {"id": question, "sessionId": "s1", "type": "question", "title": said}
    prompt["actions"] = [{"id": f"option_{n}", "label": o} for n, o in enumerate(options or [])]
    prompt |= {"expiresAt": expires_s * 1000} if expires_s else {}
    prompt["context"] = {**({"options": options} if options else {}), **CHANNEL}
    return frame("interactive_prompt", prompt=prompt, **CHANNEL)


def answered(revision: str, question: str = "q1", answer: str = "yes") -> bytes:
    if revision == "R":
        return status(questionAnswered=question, answer=answer)
    resolution = {"value": answer, "resolvedBy": "owner"}
    return frame(
        "interactive_prompt_resolved",
        promptId=question,
        promptType="question",
        resolution=resolution,
    )


def expired(revision: str, question: str = "q1") -> bytes:
    if revision == "R":
        return status(questionExpired=question)
    return frame("interactive_prompt_expired", promptId=question, promptType="question", context={})


def running(revision: str) -> list[bytes]:
    """Our turn has begun: told at once, and waited for nothing."""
    return [init(revision), user(), audit("user.prompt"), begin()]
