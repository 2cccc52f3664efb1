"""The runtime of assistant-ui under Node, and what its thread has to hold of an answer."""

from typing import Any, Final, TypeAlias

import msgspec

from conformance.clients import FOLDER, RUN_S, Job, NoClientsError, report_of
from turnwire.testing.client_model import Client, Part

CLIENT: Final = "assistant-ui-0.15.22"

Content: TypeAlias = dict[str, Any]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One message of a thread."""

    id: str
    role: str
    content: list[Content]
    status: dict[str, Any] | None = None


class Thread(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One job, as `assistant.mjs` reports it."""

    name: str
    messages: list[Shown]
    errors: list[str]
    posts: int
    timed_out: bool

    @property
    def answers(self) -> list[Shown]:
        return [message for message in self.messages if message.role == "assistant"]


class Threads(msgspec.Struct, frozen=True, kw_only=True):
    client: dict[str, str]  # package -> the version that ran
    unhandled: list[str]
    jobs: list[Thread]

    def job(self, name: str) -> Thread:
        return next(job for job in self.jobs if job.name == name)


def play(jobs: list[Job], *, limit_s: float = RUN_S - 30) -> Threads:
    """Play the jobs to the runtime, in one Node process.

    Raises:
        NoClientsError: Node or the client is not installed.
    """
    if not (FOLDER / CLIENT / "node_modules" / ".stamp").exists():
        raise NoClientsError(f"{CLIENT} is not installed; run `make node`")
    asked = {"limitMs": limit_s * 1000, "jobs": jobs}
    return msgspec.convert(
        report_of("assistant.mjs", CLIENT, asked, timeout_s=limit_s + 30), Threads
    )


def held(part: Part) -> Content:
    """Give the content that the thread holds of a part of the chat's message."""
    match part:
        case {"type": "text" | "reasoning" as kind, "text": str(text)}:
            return {"type": kind, "text": text, "status": {"type": "complete"}}
        case {"type": "file", "url": url, "mediaType": media_type}:
            return {"type": "file", "data": url, "mimeType": media_type}
        case {"type": "source-url", "sourceId": source_id, "url": url}:
            title = {"title": part["title"]} if "title" in part else {}
            return {"type": "source", "sourceType": "url", "id": source_id, "url": url, **title}
        case {"type": str(kind), "data": data} if kind.startswith("data-"):
            return {"type": "data", "name": kind.removeprefix("data-"), "data": data}
        case {"type": str(kind), "toolCallId": call_id} if kind.startswith("tool-"):
            given = part.get("input")
            failed = part["state"] == "output-error"
            return {
                "type": "tool-call",
                "toolName": kind.removeprefix("tool-"),
                "toolCallId": call_id,
                # Its calls have objects alone.
                "args": given if isinstance(given, dict) else {},
                "result": {"error": part["errorText"]} if failed else part["output"],
                "isError": failed,
            }
        case _:
            raise ValueError(part)


def faults(answer: Client, thread: Thread) -> list[str]:
    """Tell what is wrong with the thread, given what the stream says; nothing is a pass."""
    found: list[str] = []

    def same(what: str, has: Any, needs: Any) -> None:
        if has != needs:
            found.append(f"{what} is {has!r}, must be {needs!r}")

    if thread.timed_out:
        found.append("timed out")
    same("posts", thread.posts, 1)
    same("errors", thread.errors, [] if answer.error is None else [answer.error])
    needs = [held(part) for part in answer.parts if part["type"] != "step-start"]
    # A turn that failed before it began has an answer too, which says why.
    same("answers", len(thread.answers), int(answer.shown or answer.error is not None))
    for message in thread.answers:
        if answer.message_id is not None and answer.shown:
            same("message id", message.id, answer.message_id)
        has = [{k: v for k, v in part.items() if k != "argsText"} for part in message.content]
        same("content", has, needs)
        same(
            "status",
            _status(message),
            ("complete" if answer.error is None else "incomplete", answer.error),
        )
    return found


def _status(message: Shown) -> tuple[str, str | None]:
    status = message.status or {}
    return status.get("type", ""), status.get("error", {}).get("message")
