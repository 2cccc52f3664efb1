"""The requests of one chat, as data: what a client sends, without a token."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal
from urllib.parse import quote

import msgspec
from msgspec import Struct

from turnwire_client.events import ToolApprovalRequest
from turnwire_client.message import Part, UIMessage

OnDisconnect = Literal["abort", "continue", "grace"]
"""What becomes of a turn whose client left (`docs/resume.md`)."""

_VISIBLE: Final = range(0x21, 0x7F)


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

    def prompt(
        self, content: str | Sequence[Part], message_id: str, before: Sequence[UIMessage]
    ) -> Request:
        """A prompt: a text, or the parts of a message, behind the messages that go along."""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else [*content]
        message = UIMessage(message_id, "user", parts)
        body = {
            "id": self.chat_id or self.session_id,
            "trigger": "submit-message",
            "messages": [_encodable(each) for each in (*before, message)],
        }
        more = {} if self.on_disconnect is None else {"onDisconnect": self.on_disconnect}
        return self._request("POST", "/chat", body, **more)

    def stream(self) -> Request:
        """The turn that runs or waits, from its start."""
        chat_id = quote(self.chat_id or self.session_id, safe="")
        return self._request("GET", f"/chat/{chat_id}/stream")

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

    def _chat(self) -> dict[str, str]:
        return {} if self.chat_id is None else {"chatId": self.chat_id}

    def _request(self, method: str, path: str, body: Any = None, **query: str) -> Request:
        content = None if body is None else msgspec.json.encode(body)
        session_path = f"/api/sessions/{quote(self.session_id, safe='')}"
        return Request(method, session_path + path, {**self.query, **query}, content)


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
