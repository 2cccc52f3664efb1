"""A token that expires and is refreshed, by one process of many, once.

In one process all tasks share one run of `_renew` (`SingleFlight`). Across processes the lease in
the store lets one of them ask the token server. The order is fixed: take the lease under the lock,
having read the row again; ask; **store; then use**. What can happen in between:

* The holder dies before it asks: another takes over when the lease is dead, and refreshes.
* It dies after the server answered, and before it stored: the new tokens are lost. The next one
  asks with the old refresh token. A server that allows that (many do, for a few seconds) gives
  others; one that does not refuses, that is noted in the store, and a person must log in.
* It is stopped before it asks, and goes on later: it does not ask any more (`may_send`).
* It is stopped after it asked: the next one asks too, as if it had died. When it goes on, its
  tokens are stored if no newer ones are there, and cure the note of a refusal if they are good.
* The answer is lost on the way: as if it had died, only that the lease is given back at once.

None of it repeats by itself: each run asks at most once, and a refusal is remembered until the
stored token is another.
"""

import asyncio
import secrets
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import httpx
from msgspec import Struct

from turnwire_agent.llm.credentials.concurrency import SingleFlight
from turnwire_agent.llm.credentials.exchange import exchange
from turnwire_agent.llm.credentials.grant import Grant, token_request
from turnwire_agent.llm.credentials.key_header import BEARER
from turnwire_agent.llm.credentials.port import CredentialError, Failure, Granted, unless_failed
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import (
    LeaseWatch,
    Step,
    StoredToken,
    Tokens,
    View,
    next_step,
)
from turnwire_agent.llm.credentials.token_answer import (
    Answer,
    GrantRefused,
    Issued,
    NotSent,
    SettingsRefused,
    Unavailable,
)
from turnwire_agent.llm.credentials.token_store import TokenStore

_PAUSE_MAX_S: Final = 60.0
"""After settings were refused, and the longest that a server can ask us to wait."""


class RefreshTimes(Struct, frozen=True, kw_only=True):
    """Bounds, in seconds."""

    skew_s: float = 60.0
    """A token is refreshed so long before its end."""
    send_s: float = 5.0
    """The request leaves within that time, or not at all."""
    answer_s: float = 10.0
    """The answer is there after that, or it is given up. A lease lasts for both."""
    wait_s: float = 45.0
    """So long tasks wait for other processes: one that died, and one more."""
    poll_s: float = 0.05
    """How often those look at the row."""
    pause_s: float = 1.0
    """After a failure that may pass, all get the same failure for so long."""
    young_s: float = 10.0
    """A token that a 401 brought, and that gets a 401 too, is not refreshed for so long: something
    else is wrong."""

    @property
    def lease_s(self) -> float:
        return self.send_s + self.answer_s


class Clock(Struct, frozen=True):
    """Two clocks, in seconds."""

    wall: Callable[[], float] = time.time
    """Since 1970. It may be set, forward or back."""
    monotonic: Callable[[], float] = time.monotonic
    """Never set. It goes on while the process is stopped."""


class _Held(Struct, frozen=True):
    """A token that this process may send."""

    version: str
    access_token: Secret
    tokens: Tokens
    until: float
    """By the monotonic clock."""


class _Pause(Struct, frozen=True):
    failure: Failure
    until: float
    """By the monotonic clock."""


class _Unsaved(Struct, frozen=True):
    """Tokens that were given and could not be written: the old refresh token is used up."""

    instead_of: str
    tokens: Tokens


class Refreshing:
    """A bearer token from an OAuth grant.

    Args:
        name: What the operator calls it: for messages, and to tell two log-ins apart.
        grant: How and where tokens are given.
        store: Shared by all processes that use this token.
        client: For the token server. None: one is made for each refresh.
        times: Bounds. Processes that share a store may have different ones.
        clock: For tests.
    """

    def __init__(
        self,
        name: str,
        grant: Grant,
        store: TokenStore,
        *,
        client: httpx.AsyncClient | None = None,
        times: RefreshTimes = RefreshTimes(),  # noqa: B008
        clock: Clock = Clock(),  # noqa: B008
    ) -> None:
        self._name = name
        self._grant = grant
        self._key = grant.key(name)
        self._store = store
        self._client = client
        self._times = times
        self._clock = clock
        self._flight = SingleFlight[_Held | Failure]()
        self._held: _Held | None = None
        self._unwanted = ""
        """The version that this process does not take from the store any more: it was refused, or
        its time was over. The clock on the wall may say of that time what it will."""
        self._refused = ""
        self._young_until = 0.0
        self._pause: _Pause | None = None
        self._unsaved: _Unsaved | None = None

    def __repr__(self) -> str:
        return f"Refreshing({self._name!r}, {self._grant.server})"

    async def headers(self) -> Granted:
        held = self._held
        if held is not None and not self._usable(held):
            self._unwanted = held.version
            held = None
        if held is None:
            held = await self._renewed()
        return Granted(BEARER.headers(held.access_token), held.version)

    async def refused(self, version: str) -> bool:
        held = self._held
        if held is None or held.version != version:
            return True
        if self._clock.monotonic() < self._young_until:
            return False
        self._unwanted = self._refused = version
        # A run that is on its way may have begun before that, and bring the same token.
        while held.version == version:
            held = await self._renewed()
        return True

    async def log_in(
        self,
        *,
        access_token: Secret | None,
        refresh_token: Secret | None,
        lifetime_s: float | None,
    ) -> None:
        """Store the tokens that a person got. Those before, and a refusal, are forgotten.

        Processes that run notice it when their token ends, or at once if they have none.
        """
        now = self._clock.wall()
        tokens = Tokens(
            access_token=access_token,
            refresh_token=refresh_token,
            issued_at=now,
            expires_at=None if lifetime_s is None else now + lifetime_s,
        )
        await self._flight.settled()
        await self._store.save(self._key, None, tokens)
        self._held = self._pause = self._unsaved = None

    async def close(self) -> None:
        """Wait for a refresh that is on its way, and store what could not be stored before.

        Raises:
            CredentialError: That failed again. The token is lost.
        """
        await self._flight.settled()
        if self._unsaved is not None:
            await self._save(self._unsaved)

    def _usable(self, held: _Held) -> bool:
        return (
            held.version != self._unwanted
            and self._clock.monotonic() < held.until
            and held.tokens.left_s(self._clock.wall(), self._times.skew_s) > 0
        )

    async def _renewed(self) -> _Held:
        """The token of the run that is on its way, or of a new one.

        All that wait get a failure of their own, with the same words.
        """
        return unless_failed(await self._flight.join(self._renew))

    async def _renew(self) -> _Held | Failure:
        try:
            outcome = await self._round_by_round()
        except CredentialError as error:
            outcome = error.failure
        if isinstance(outcome, _Held):
            self._held = outcome
            self._pause = None
        return outcome

    async def _round_by_round(self) -> _Held | Failure:
        give_up = self._clock.monotonic() + self._times.wait_s
        watch = LeaseWatch()
        while True:
            if self._unsaved is not None:
                await self._save(self._unsaved)
            row = await self._store.read(self._key)
            decide = partial(
                self._decide, dead_lease=watch.dead_lease(row, self._clock.monotonic())
            )
            step = decide(row)
            if step is Step.USE:
                assert row is not None
                return self._hold(row)
            if step is Step.LOG_IN:
                return self._log_in_again(row)
            if self._clock.monotonic() >= give_up:
                return Failure(
                    "unavailable",
                    f"The token of {self._name!r} was not refreshed: another process is at it.",
                    self._times.pause_s,
                )
            if step is Step.WAIT:
                await asyncio.sleep(self._times.poll_s)
            elif (paused := self._paused()) is not None:
                return paused
            elif (outcome := await self._refresh(decide)) is not None:
                return outcome

    def _decide(self, row: StoredToken | None, *, dead_lease: str) -> Step:
        return next_step(
            row,
            View(
                now=self._clock.wall(),
                skew_s=self._times.skew_s,
                unwanted=self._unwanted,
                dead_lease=dead_lease,
                needs_refresh_token=self._needs_refresh_token,
            ),
        )

    @property
    def _needs_refresh_token(self) -> bool:
        return self._grant.kind == "refresh_token"

    async def _refresh(
        self, decide: Callable[[StoredToken | None], Step]
    ) -> _Held | Failure | None:
        """Take the lease and ask, once. None: look at the row again."""
        # Before the lease: a command that prints the secret may take its time.
        source = self._grant.client_secret
        client_secret = None if source is None else await source.read()
        client = self._client
        if client is None:
            # On a thread, since reading the certificates takes some 20 ms.
            client = await asyncio.to_thread(httpx.AsyncClient)
        try:
            begun = self._clock.monotonic()
            lease = secrets.token_hex(8)
            row = await self._store.claim(self._key, decide, lease, self._times.lease_s)
            if row is None:
                return None
            tokens = row.tokens if self._needs_refresh_token else None
            answer = await exchange(
                client,
                self._grant.token_url,
                token_request(
                    self._grant,
                    client_secret=client_secret,
                    refresh_token=None if tokens is None else tokens.refresh_token,
                ),
                may_send=lambda: self._clock.monotonic() < begun + self._times.send_s,
                connect_s=self._times.send_s,
                timeout_s=self._times.answer_s,
            )
            return await self._taken(answer, row)
        finally:
            if client is not self._client:
                await client.aclose()

    async def _taken(self, answer: Answer | NotSent, row: StoredToken) -> _Held | Failure | None:
        """Store what came of it, and then use it."""
        if isinstance(answer, Issued):
            now = self._clock.wall()
            before = None if row.tokens is None else row.tokens.refresh_token
            tokens = Tokens(
                access_token=answer.access_token,
                refresh_token=answer.refresh_token or before,
                issued_at=now,
                expires_at=None if answer.lifetime_s is None else now + answer.lifetime_s,
            )
            saved = await self._save(_Unsaved(row.version, tokens))
            if saved.tokens is not tokens:
                return None
            if row.version == self._refused:
                self._young_until = self._clock.monotonic() + self._times.young_s
            return self._hold(saved)
        if isinstance(answer, GrantRefused) and self._needs_refresh_token:
            if not await self._store.refuse(self._key, row.version):
                return None
            return self._log_in_again(row)
        await self._store.release(self._key, row.lease)
        if isinstance(answer, NotSent):
            return None
        return self._pause_after(answer)

    async def _save(self, unsaved: _Unsaved) -> StoredToken:
        """Store tokens. If that fails they are kept for the next run, and nobody uses them."""
        self._unsaved = unsaved
        saved = await self._store.save(self._key, unsaved.instead_of, unsaved.tokens)
        self._unsaved = None
        return saved

    def _hold(self, row: StoredToken) -> _Held:
        assert row.tokens is not None
        assert row.tokens.access_token is not None
        left_s = row.tokens.left_s(self._clock.wall(), self._times.skew_s)
        return _Held(
            row.version, row.tokens.access_token, row.tokens, self._clock.monotonic() + left_s
        )

    def _log_in_again(self, row: StoredToken | None) -> Failure:
        if row is None or row.tokens is None:
            why = "There is no token"
        elif row.tokens.refresh_token is None:
            why = "The token is over, and there is no refresh token,"
        else:
            why = f"{self._grant.server} refuses to refresh the token"
        return Failure("log-in", f"{why} of {self._name!r}: log in again.")

    def _paused(self) -> Failure | None:
        """The failure of a moment ago, with what is left of its pause."""
        if self._pause is None:
            return None
        left_s = self._pause.until - self._clock.monotonic()
        failure = self._pause.failure
        return Failure(failure.reason, failure.message, left_s) if left_s > 0 else None

    def _pause_after(self, answer: GrantRefused | SettingsRefused | Unavailable) -> Failure:
        """Remember a failure for a moment, so that tasks do not ask one after another."""
        asking = f"The token of {self._name!r} was not refreshed: {self._grant.server}"
        if isinstance(answer, Unavailable):
            pause_s = min(answer.retry_after_s or self._times.pause_s, _PAUSE_MAX_S)
            failure = Failure("unavailable", f"{asking} {answer.why}.", pause_s)
        else:
            pause_s = _PAUSE_MAX_S
            why = "answers invalid_grant" if isinstance(answer, GrantRefused) else answer.why
            failure = Failure("refused", f"{asking} {why}.", pause_s)
        self._pause = _Pause(failure, self._clock.monotonic() + pause_s)
        return failure
