"""Tests of native approvals: a request for one ends the response, its answer opens the next."""

import json
from collections.abc import Sequence
from typing import Any, Final
from unittest import SkipTest

import msgspec
from msgspec import Raw

from turnwire.core.agent import AgentProtocol
from turnwire.core.approvals import ApprovalIssuer, Signed, Signer
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.body.conversation import (
    AssistantMessage,
    Call,
    Conversation,
    Text,
    UserMessage,
)
from turnwire.core.rejection import RejectedError
from turnwire.core.requests import DialectOptions, QuestionReply, ResumeRequest
from turnwire.core.turn.inputs import AgentLeft
from turnwire.core.turn.outcome import Outcome
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.testing.base import PROMPT_ID, ScriptedAgent
from turnwire.testing.client_model import Client, Part, need
from turnwire.testing.exchanges import EXCHANGES, Exchange
from turnwire.testing.playing import Played
from turnwire.testing.scripts import DONE, OUTPUT, PROMPT

_USER: Final = "user-1"
_SESSION: Final = "s1"
_SIGNER: Final = Signer(keys=(b"k" * 32,), session_id=_SESSION, user_id=_USER)
_ISSUER: Final = ApprovalIssuer(signer=_SIGNER, epoch=0, valid_s=86_400)
_ANSWERS: Final = {"approved": b"true", "denied": b"false"}
_INIT_S: Final = 5.0


class NativeApprovals(ScriptedAgent):
    def test_a_native_approval_ends_its_response(self) -> None:
        """The card of the call asks for a yes or a no, and the response is whole and over."""
        asked = self._asked_natively(self._native("approved"))
        need(asked.client.approvals, "no call waits for a yes or a no")
        need(not asked.client.questions, "the question is beside the card of the call")

    def test_the_next_response_goes_on(self) -> None:
        """A native answer comes with a request of its own: the message goes on with the texts."""
        sent = {}
        for name, answer in _ANSWERS.items():
            exchange = self._native(name)
            asked = self._asked_natively(exchange)
            goes_on = self._next_response(asked, _answered(asked.client, answer))
            goes_on.receive(_resumes(exchange, goes_on)).settle().close()
            sent[name] = b"".join([goes_on.request.body, *goes_on.sent])
            need(sent[name], f"{name}: nothing is sent")
            need(goes_on.turn.outcome is Outcome.COMPLETED, f"{name}: {goes_on.turn.outcome}")
            shown, text = goes_on.client.streamed_text, EXCHANGES[name].text
            need(shown == text, f"{name}: the client has {shown!r}, not {text!r}")
            ids = (asked.client.message_id, goes_on.client.message_id)
            need(ids[0] == ids[1], f"{name}: the ids of the message are {ids}")
            returned = [part for part in _calls(goes_on.client) if _has_returned(part)]
            if self.shows_outputs:
                need(len(returned) == (name == "approved"), f"{name}: {goes_on.client.parts}")
        need(sent["approved"] != sent["denied"], f"a yes and a no are {sent['denied']!r}")

    def test_a_foreign_answer_is_refused(self) -> None:
        """An answer to a question that is not in the message, or about another call, is refused."""
        exchange = self._native("approved")
        asked = self._asked_natively(exchange)
        reply = _answered(asked.client, b"true")
        for changed in ({"question_id": "never-asked", "subject": b"?"}, {"subject": b"?"}):
            foreign = msgspec.structs.replace(reply, **changed)
            try:
                refused = self._next_response(asked, foreign)
            except RejectedError:
                continue
            refused.receive(_resumes(exchange, refused))
            need(refused.turn.rejection is not None, f"{changed} is not refused")

    def _native(self, name: str) -> Exchange:
        exchange = self.exchange(EXCHANGES[name], PROMPT_ID)
        if exchange is None or exchange.resumes is None:
            raise SkipTest(f"`exchange` has no `resumes` for `{name}`: no approval is a native one")
        return exchange

    def _asked_natively(self, exchange: Exchange) -> Played:
        """A turn whose response ended, since a call waits for a yes or a no."""
        output = UIMessageStream(StreamOptions(usage=True, approvals=_ISSUER))
        asked = self.play(output=output, client=Client(native=True)).receive(exchange.asks)
        if exchange.leaves:
            asked.handle(AgentLeft())
        need(asked.turn.outcome is not None, "the approval does not end the response")
        return asked.close()

    def _next_response(self, asked: Played, reply: QuestionReply) -> Played:
        """The turn in the request that has the answer."""
        client = asked.client.next_response()
        copy = ClientCopy(
            message_id=client.message_id,
            text_chars=len(client.streamed_text),
            text_blocks=sum(part["type"] == "text" for part in client.parts),
            pending=frozenset(asked.client.approvals.values()),
        )
        request = ResumeRequest(
            user_id=_USER,
            session_id=_SESSION,
            init_s=_INIT_S,
            replies=(reply,),
            message_id=client.message_id,
            conversation=self._conversation(client),
            options=DialectOptions(model="m", cwd="/work"),
        )
        protocol: AgentProtocol = self.dialect.resume(request)
        options = StreamOptions(usage=True, approvals=_ISSUER, client_copy=copy)
        return Played(protocol, output=UIMessageStream(options), client=client)

    def _conversation(self, client: Client) -> Conversation:
        """What the client sends with its answer: the prompt, and the message that asked.

        An agent that keeps them is sent neither, but the dialect knows the call that waits.
        """
        calls = tuple(
            Call(
                part["toolCallId"],
                part["type"].removeprefix("tool-"),
                Raw(json.dumps(part["input"]).encode()),
            )
            for part in _calls(client)
        )
        written: list[bytes] = []
        if not self.dialect.keeps_history:
            texts = (Text(client.streamed_text),)
            messages: tuple[Any, ...] = (
                UserMessage(message_id="u1", parts=(Text(PROMPT),)),
                AssistantMessage(client.message_id or "m1", texts, calls),
            )
            pieces = (piece for each in messages for piece in self.dialect.write_message(each))
            written = [piece for piece in pieces if piece]
        return Conversation(written=written, left_out={}, pending=calls)


def _answered(client: Client, answer: bytes) -> QuestionReply:
    """The answer to what the client is asked, as its signed id tells it."""
    (approval_id,) = client.approvals
    signed = _SIGNER.read(approval_id, 1)
    assert isinstance(signed, Signed)
    return QuestionReply(signed.question_id, Raw(answer), signed.subject)


def _resumes(exchange: Exchange, goes_on: Played) -> Sequence[bytes]:
    return exchange.resumes(goes_on.request) if exchange.resumes else ()


def _calls(client: Client) -> list[Part]:
    return [part for part in client.parts if part["type"].startswith("tool-")]


def _has_returned(part: Part) -> bool:
    return part["state"] == DONE and OUTPUT in json.dumps(part["output"])
