"""The call of a model, from the request to the last event of its answer."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

import msgspec

from turnwire_agent.llm.call import attempt_log
from turnwire_agent.llm.call.answer import answer
from turnwire_agent.llm.call.blotting import blotted, spellings
from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.http import Client, Post, http_client
from turnwire_agent.llm.call.limits import Limits
from turnwire_agent.llm.call.wire_tap import Tap, Tapped
from turnwire_agent.llm.credentials.port import Credential, CredentialError, Failure, Granted
from turnwire_agent.llm.events import Begun, Event, Finish
from turnwire_agent.llm.faults import MESSAGE_CHARS, Fault
from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.request import Request
from turnwire_agent.llm.retry import GiveUp, Retries, after
from turnwire_agent.llm.shape import Encoded, UnsendableError
from turnwire_agent.llm.shapes import SHAPES

LIMITS: Final = Limits()
RETRIES: Final = Retries()
_ENDS: Final = frozenset({Begun, Finish, Fault})
"""What is held back, or sent alone, at the end of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How models are called: the same for many calls."""

    client: Client | None = None
    """As `http_client()` makes it; it stays open. None: each call makes its own, and so its own
    connection."""
    limits: Limits = LIMITS
    retries: Retries = RETRIES
    tap: Tap | None = None
    tell_losses: Callable[[tuple[Loss, ...]], None] | None = None
    """Hears what of a request the provider will not see, before it is sent."""
    clock: Callable[[], float] = time.time
    """Seconds since 1970."""
    random: Callable[[], float] = random.random
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


DEFAULTS: Final = CallSettings()


async def stream(
    model: Model,
    request: Request,
    credential: Credential,
    settings: CallSettings = DEFAULTS,
    *,
    made_ids: str = "call",
) -> AsyncGenerator[Event, None]:
    """Ask a model. The last event is a `Finish`, or a `Fault`; no exception tells of either.

    A call is made again only as long as nothing but `Begun` was heard of its answer, and that is
    kept until something else comes. After that a fault is the last event: to retract what was told
    is up to whoever told it.

    Whoever does not read to the end closes the generator (`contextlib.aclosing`), or is cancelled:
    then the connection is closed at once, and the provider stops.

    Args:
        model: Who is asked.
        request: What.
        credential: Asked before each attempt. A refusal before the answer begins is told to it, and
            the call made again, once.
        settings: The same for many calls.
        made_ids: See `turnwire_agent.llm.shape.Shape.decoder`.
    """
    try:
        encoded = SHAPES[model.shape].encode(model, request)
    except UnsendableError as error:
        yield Fault(kind="bad-request", message=str(error)[:MESSAGE_CHARS])
        return
    if encoded.losses and settings.tell_losses:
        settings.tell_losses(encoded.losses)
    client = settings.client or http_client()
    try:
        call = _Call(model, encoded, credential, settings, client, made_ids)
        async with aclosing(call.batches()) as batches:
            async for batch in batches:
                for event in batch:
                    yield event
    finally:
        if settings.client is None:
            await client.aclose()


class _Call:
    """The attempts of one call."""

    def __init__(
        self,
        model: Model,
        encoded: Encoded,
        credential: Credential,
        settings: CallSettings,
        client: Client,
        made_ids: str,
    ) -> None:
        self._model = model
        self._encoded = encoded
        self._credential = credential
        self._settings = settings
        self._client = client
        self._made_ids = made_ids
        self._attempts = 0
        """Those that count: one that a renewed credential follows does not."""
        self._renewed = False
        self._began = False

    async def batches(self) -> AsyncGenerator[Sequence[Event], None]:
        """The events, those together that came together: a generator costs less by the batch."""
        while True:
            try:
                granted = await self._credential.headers()
            except CredentialError as error:
                yield [_of_failure(error.failure)]
                return
            self._attempts += 1
            fault: Fault | None = None
            async with aclosing(self._attempt(granted)) as batches:
                async for batch in batches:
                    if isinstance(batch[0], Fault):
                        fault = batch[0]
                    else:
                        self._began = True
                        yield batch
            if fault is None:
                return
            fault = _without_secrets(fault, granted)
            verdict = await self._verdict(fault, granted)
            if verdict:
                yield [verdict]
                return

    async def _attempt(self, granted: Granted) -> AsyncGenerator[Sequence[Event], None]:
        """The events of one attempt, the last of them alone.

        `Begun` comes with the first that is more than that.
        """
        settings = self._settings
        encoded = self._encoded
        wire = Tapped(settings.tap, granted.headers)
        try:
            post = Post(
                self._client,
                self._model.base_url + encoded.path,
                {**dict(encoded.headers), **granted.headers},
                encoded.body,
            )
        except FailedError as failed:
            yield [failed.fault]
            return
        wire.sent(post.head, encoded.body)
        decoder = SHAPES[self._model.shape].decoder(self._model, self._made_ids)
        held: list[Event] = []
        ended = False
        try:
            async with aclosing(
                answer(post, decoder, settings.limits, settings.clock, wire)
            ) as batches:
                async for batch in batches:
                    if not held and type(batch[-1]) not in _ENDS:  # nearly every one
                        yield batch
                        continue
                    events = [*held, *batch]
                    last = events.pop() if isinstance(batch[-1], Finish | Fault) else None
                    held = [] if isinstance(last, Finish) else _begun_at_the_end(events)
                    if events:
                        yield events
                    if last:
                        ended = True
                        if isinstance(last, Finish):
                            attempt_log.finished(self._model, self._attempts, last)
                        yield [last]
        finally:
            if not ended:
                attempt_log.abandoned(self._model, self._attempts)

    async def _verdict(self, fault: Fault, granted: Granted) -> Fault | None:
        """The fault that ends the call; None if it is made again, as from now on."""
        if fault.kind == "unauthorized" and not self._began and not self._renewed:
            self._renewed = True
            try:
                renewed = await self._credential.refused(granted.version)
            except CredentialError as error:
                attempt_log.failed(self._model, self._attempts, fault, "no credential", final=True)
                return _of_failure(error.failure)
            if renewed:
                attempt_log.failed(self._model, self._attempts, fault, "again, renewed")
                self._attempts -= 1
                return None
        settings = self._settings
        decision = after(
            fault,
            self._attempts,
            began=self._began,
            random=settings.random(),
            retries=settings.retries,
        )
        if isinstance(decision, GiveUp):
            following = f"given up ({decision.reason})"
            if decision.reason == "long-wait":
                following += f", for {fault.retry_after_s or 0:.3f} s"
            attempt_log.failed(self._model, self._attempts, fault, following, final=True)
            return fault
        attempt_log.failed(self._model, self._attempts, fault, f"again in {decision.seconds:.3f} s")
        await settings.sleep(decision.seconds)
        return None


def _begun_at_the_end(events: list[Event]) -> list[Event]:
    """Take each `Begun` that nothing follows yet out of some events."""
    at = len(events)
    while at and isinstance(events[at - 1], Begun):
        at -= 1
    begun = events[at:]
    del events[at:]
    return begun


def _of_failure(failure: Failure) -> Fault:
    """The fault of a call that has nothing to show."""
    return Fault(
        kind="connection" if failure.reason == "unavailable" else "unauthorized",
        message=failure.message[:MESSAGE_CHARS],
        retry_after_s=failure.retry_after_s,
    )


def _without_secrets(fault: Fault, granted: Granted) -> Fault:
    """A provider may repeat the key that it refuses."""
    secrets = spellings(granted.headers)
    return msgspec.structs.replace(
        fault, message=blotted(fault.message, secrets), code=blotted(fault.code, secrets)
    )
