"""A turn that is kept in the turn log while its stream runs: the claim of its chat, and its end."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Self, TypeAlias

from msgspec import Raw

from turnwire.core.operations import StopResult
from turnwire.core.output import OutputProtocol
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn.client_state import GONE
from turnwire.core.turn_log.entries import Head, pack
from turnwire.core.turn_log.questions import ANSWER_SUFFIX
from turnwire.core.turn_log.tee import Tee
from turnwire.relay.turn_log.patient_claims import PatientClaims
from turnwire.relay.turn_log.port import ChatKey, TurnLog, TurnWriter, WaitingTurn
from turnwire.relay.turn_stream import Stream
from turnwire.web.context import AppContext
from turnwire.web.routes import approval_profile

_NOT_KEPT: Final = [(b"x-turnwire-resume", b"no")]
"""The response header of a stream that nobody can resume, though there is a turn log."""

Append: TypeAlias = Callable[[bytes, int], object]


def _ignore(_packed: bytes, _count: int) -> None:
    """Keep nothing: the chat is not claimed."""


AppendTexts: TypeAlias = Callable[[Sequence[str]], object]


def _ignore_texts(_texts: Sequence[str]) -> None:
    """Keep nothing: the chat is not claimed."""


_NO_ANSWERS: Final[Mapping[str, Raw]] = {}


class LoggedTurn:
    """The claim of a chat, as a context manager: leaving it without a stream gives the claim up.

    It keeps what the stream of the turn is fed (`core.turn_log.tee.Keeper`), and is how the log
    reaches that stream (`relay.turn_log.port.TurnControl`).
    """

    __slots__ = (
        "_answers",
        "_asker",
        "_has_streamed",
        "_has_waited",
        "_is_over",
        "_is_stopped",
        "_question_keep_s",
        "_readers",
        "_stream",
        "_tee",
        "_terms",
        "_writer",
        "append",
        "append_texts",
        "is_given_up",
    )

    def __init__(self, app_context: AppContext) -> None:
        self._terms = approval_profile.terms(app_context.settings)
        self._question_keep_s = app_context.settings.question_keep_s
        self._writer: TurnWriter | None = None
        self._tee: Tee | None = None
        self._stream: Stream | None = None
        self._asker = ""
        self._answers = _NO_ANSWERS
        self._readers = 0
        self._has_waited = self._has_streamed = self._is_over = self._is_stopped = False
        self.is_given_up = False
        """Whether the claim led to no turn: the chat has its former one, if it had one."""
        self.append: Append = _ignore
        """Keeps entries: the writer's own method, without a call between. So does the next."""
        self.append_texts: AppendTexts = _ignore_texts

    async def claim(self, turn_log: TurnLog, key: ChatKey, head: Head) -> bool:
        """Claim the chat for a new turn. False: a turn of this chat runs."""
        return self._claimed(head, await turn_log.claim(key, pack(head), self))

    async def claim_patiently(
        self, claims: PatientClaims, turn_log: TurnLog, key: ChatKey, head: Head, *, renews: bool
    ) -> bool:
        """Claim the chat, after the turn that runs if that one ends (`PatientClaims.claim`)."""
        return self._claimed(head, await claims.claim(turn_log, key, head, self, renews=renews))

    def _claimed(self, head: Head, writer: TurnWriter | None) -> bool:
        self._asker = head.user_id
        if writer is not None:
            self._write_by(writer)
        return writer is not None

    async def resume_waiting(self, turn_log: TurnLog, key: ChatKey) -> WaitingTurn | None:
        """Claim the chat for the turn that waits for its client. None: none does."""
        waiting = await turn_log.resume_waiting(key, self)
        if waiting is not None:
            self._write_by(waiting.writer)
            self._has_waited = True
        return waiting

    def _write_by(self, writer: TurnWriter) -> None:
        self._writer = writer
        self.append, self.append_texts = writer.append, writer.append_texts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._has_streamed:
            self.failed()

    # Calls of the route that runs the stream.

    @property
    def is_kept(self) -> bool:
        """Whether readers can get the turn."""
        return self._writer is not None and self._writer.is_kept

    @property
    def headers(self) -> Sequence[tuple[bytes, bytes]]:
        """The response headers that say something about the log."""
        return () if self.is_kept else _NOT_KEPT

    def continues(self, asker: str, answers: Mapping[str, Raw]) -> None:
        """The turn is the one of this user's prompt, and goes on with these answers."""
        self._asker, self._answers = asker, answers

    def tee(self, output: OutputProtocol) -> Tee:
        """Return the output of the stream: it keeps what it is fed."""
        self._tee = Tee(output, self, asker=self._asker, answers=self._answers)
        return self._tee

    def attach(self, stream: Stream) -> None:
        """The stream is about to run."""
        self._stream, self._has_streamed = stream, True
        if self._readers:
            stream.read_by(self._readers)

    def end(self, stream: Stream) -> None:
        """The stream is over, so its turn is."""
        if self._tee is not None:
            self._tee.end(stream.turn.outcome)
        self._tee = self._stream = None  # the log may keep this object for longer

    def missed(self) -> None:
        """The client did not get the end of its stream. Somebody may ask for it later."""
        if self._is_over and self._writer is not None:
            self._writer.end(is_received=False)

    # Calls of the tee.

    def over(self) -> None:
        self._is_over = True
        if self._writer is not None:
            has_client = self._stream is not None and self._stream.has_client
            self._writer.end(is_received=has_client)

    def paused(self) -> None:
        if self._writer is None or self._tee is None:
            return
        expires_at = self._tee.questions.open_until()
        seconds = self._question_keep_s
        if expires_at is not None:
            seconds = max(0.0, min(seconds, expires_at - time.time()))
        self._writer.wait(seconds)

    def failed(self) -> None:
        self.is_given_up = not self._has_waited
        if self._writer is None:
            return
        if self._has_waited:
            self._writer.wait(None)
        else:
            self._writer.discard()

    # Calls of the log.

    @property
    def is_ending(self) -> bool:
        stream = self._stream
        if stream is None:
            return False
        is_over = stream.turn.outcome is not None
        return self._is_stopped or is_over or stream.turn.client_state.client is GONE

    def stop(self, turn_id: str | None) -> StopResult | Rejection:
        tee, stream = self._tee, self._stream
        if tee is None or stream is None:
            return Rejection.UNKNOWN
        if turn_id is not None and turn_id not in {tee.turn_id, f"{tee.turn_id}{ANSWER_SUFFIX}"}:
            return Rejection.OTHER_TURN
        self._is_stopped = True
        stream.stop()
        return StopResult(stopped=True, turn_id=tee.turn_id, reason="canceled")

    async def ended(self) -> None:
        if self._stream is not None:
            await asyncio.wait([self._stream.ended])  # which a server that is not ours may cancel

    def answer(self, replies: Sequence[QuestionReply], user_id: str) -> Rejection | None:
        tee, stream = self._tee, self._stream
        if tee is None or stream is None:
            return Rejection.UNKNOWN
        rejection = tee.questions.answer(replies, user_id, self._terms)
        if rejection is None:
            for reply in replies:
                stream.reply(reply, user_id)
        return rejection

    def read_by(self, readers: int) -> None:
        self._readers = readers
        if self._stream is not None:
            self._stream.read_by(readers)
