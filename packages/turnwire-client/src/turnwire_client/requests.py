"""The requests of one chat, as data: what a client sends, without a token.

`Verdicts` has what a program decided on native approvals, until it is sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

import msgspec
from msgspec import Struct, structs

from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import ASKED, RESPONDED, Part, UIMessage, shown_at, shown_by

OnDisconnect = Literal["abort", "continue", "grace"]
"""What becomes of a turn whose client left (`docs/resume.md`)."""

Profile = Literal["6", "7", "7.1"]
"""Of native approvals (`docs/approvals.md`). `6` and `7` do the same, and `7.1` also takes back an
attempt of the agent that was lost."""

_VISIBLE: Final = range(0x21, 0x7F)
_MOST: Final = 256
"""Decisions that are kept; the oldest are forgotten. The gateway takes 32 at once."""


class Request(Struct, frozen=True):
    """One request. `path` begins behind the gateway's URL; `content` is JSON, or None for a GET."""

    method: str
    path: str
    query: Mapping[str, str]
    content: bytes | None = None


class Place(Struct, frozen=True, kw_only=True):
    """Which chat of which session: what all requests of a chat have in common."""

    session_id: str
    chat_id: str | None = None
    query: Mapping[str, str] = {}
    """Goes along with every request: the channel, for example."""
    on_disconnect: OnDisconnect | None = None
    profile: Profile | None = None

    def messages(self, messages: Sequence[UIMessage]) -> Request:
        """A prompt, or a message with decisions on approvals, behind those that go along."""
        body = {
            "id": self.chat_id or self.session_id,
            "trigger": "submit-message",
            "messages": [_encodable(each) for each in messages],
        }
        more = {} if self.on_disconnect is None else {"onDisconnect": self.on_disconnect}
        return self._request("POST", "/chat", body, **more, **self._profile())

    def stream(self) -> Request:
        """The turn that runs or waits, from its start."""
        chat_id = quote(self.chat_id or self.session_id, safe="")
        return self._request("GET", f"/chat/{chat_id}/stream", **self._profile())

    def history(
        self, limit: int | None = None, before: str | None = None, *, finish: bool = False
    ) -> Request:
        asked = {"limit": limit, "before": before, "finish": "true" if finish else None}
        query = {name: str(value) for name, value in asked.items() if value is not None}
        return self._request("GET", "/messages", **self._chat(), **query)

    def stop(self, turn_id: str | None) -> Request:
        body = {} if turn_id is None else {"turnId": turn_id}
        return self._request("POST", "/stop", body, **self._chat())

    def answer(self, question_id: str, answer: object, approval_id: str | None) -> Request:
        body = {"questionId": question_id, "answer": answer}
        if approval_id is not None:
            body["approvalId"] = approval_id
        return self._request("POST", "/answer", body, **self._chat())

    def verdict(
        self, approval: ToolApprovalRequest, *, approved: bool, reason: str | None
    ) -> Request:
        """The answer to an approval."""
        answer = approved if reason is None else {"approved": approved, "reason": reason}
        return self.answer(approval.id, answer, approval.approval_id)

    def _profile(self) -> dict[str, str]:
        return {} if self.profile is None else {"profile": self.profile}

    def _chat(self) -> dict[str, str]:
        return {} if self.chat_id is None else {"chatId": self.chat_id}

    def _request(self, method: str, path: str, body: Any = None, **query: str) -> Request:
        content = None if body is None else msgspec.json.encode(body)
        session_path = f"/api/sessions/{quote(self.session_id, safe='')}"
        return Request(method, session_path + path, {**self.query, **query}, content)


class _Verdict(Struct, frozen=True):
    approved: bool
    reason: str | None
    shown: bytes
    """`shown_by` as of the decision: a program may change the event later."""


class Verdicts:
    """The decisions of one chat that were not sent yet.

    Each holds for what the user saw: a call of one turn, with its tool and its input. Calls of
    other turns may have the same id. The approval's own id says nothing, as each stream signs anew.
    """

    def __init__(self) -> None:
        self._all: dict[tuple[str, str], _Verdict] = {}
        """By the ids of the message and of the call."""

    def decide(self, approval: ToolApprovalRequest, *, approved: bool, reason: str | None) -> None:
        """Note a decision. It is sent when the stream has ended: the gateway takes it then.

        Raises:
            ValueError: the approval names no call.

        """
        if approval.tool_call_id is None:
            raise ValueError("the approval names no call")
        key = approval.message_id or "", approval.tool_call_id
        self._all.pop(key, None)
        shown = shown_by(approval.tool_name, approval.input)
        self._all[key] = _Verdict(approved, reason, shown)
        if len(self._all) > _MOST:
            del self._all[next(iter(self._all))]

    def message(self, message: UIMessage) -> UIMessage | None:
        """The message with the decision at each call that waits; None if one lacks its decision."""
        parts = [self._decided(message, part) for part in message.parts]
        if any(part is None for part in parts):
            return None
        return structs.replace(message, parts=parts)

    def forget(self, message: UIMessage) -> None:
        """The gateway took these decisions, or refused them. Who is asked again decides again."""
        for part in message.parts:
            self.forget_call(message.id, part.get("toolCallId", ""))

    def forget_call(self, message_id: str, call_id: str) -> None:
        """The call waits no more. If it asks again, that is another question."""
        self._all.pop((message_id, call_id), None)

    def keep(self, message: UIMessage) -> None:
        """Forget each decision but those that this message, which is whole, still asks for."""
        asked = {
            (message.id, part["toolCallId"])
            for part in message.parts
            if part.get("state") == ASKED and self._verdict(message, part) is not None
        }
        for key in [*self._all]:
            if key not in asked:
                self._all.pop(key, None)

    def _decided(self, message: UIMessage, part: Part) -> Part | None:
        if part.get("state") != ASKED:
            return part
        verdict = self._verdict(message, part)
        return None if verdict is None else _responded(part, verdict)

    def _verdict(self, message: UIMessage, part: Part) -> _Verdict | None:
        """The decision on what this call shows now."""
        verdict = self._all.get((message.id, part["toolCallId"]))
        return verdict if verdict is not None and verdict.shown == shown_at(part) else None


def prompt_of(content: str | Sequence[Part], message_id: str) -> UIMessage:
    """The message of a prompt: a text, or the parts of a message."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else [*content]
    return UIMessage(message_id, "user", parts)


def bearer(token: str) -> str:
    """The header for a token.

    Raises:
        ValueError: the token has a character that a header cannot have. The text does not show it.

    """
    token = token.strip()
    if not token or any(ord(each) not in _VISIBLE for each in token):
        raise ValueError("the token is empty, or has a character that no header can have")
    return f"Bearer {token}"


def _encodable(message: UIMessage) -> dict[str, Any]:
    fields = {"id": message.id, "role": message.role, "parts": message.parts}
    return fields if message.metadata is None else fields | {"metadata": message.metadata}


def _responded(part: Part, verdict: _Verdict) -> Part:
    """The call as the AI SDK has it when its user has decided."""
    reason: Mapping[str, str] = {} if verdict.reason is None else {"reason": verdict.reason}
    approval = {"id": part["approval"]["id"], "approved": verdict.approved, **reason}
    return {**part, "state": RESPONDED, "approval": approval}
