"""The order in which things are looked at; each answer decides what comes next."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from http import HTTPStatus
from typing import Final

import httpx
from msgspec import Struct

from turnwire.doctor import judging, refusal, token
from turnwire.doctor.finding import Code, Finding, Severity
from turnwire.doctor.heard import Heard
from turnwire.doctor.lateness import Lateness, watching
from turnwire.doctor.proxies import Proxy, finding, recognised
from turnwire.doctor.visit import (
    BadTlsError,
    Client,
    LateError,
    NoAnswerError,
    NoConnectionError,
    Stream,
    Where,
)

ABORT_S: Final = 4.0
"""How long a turn may go on when its client has hung up."""
QUIET_S: Final = 1.0
"""A silence in which to leave: a proxy that does not look notices it when it writes."""
GLIMPSE_S: Final = 0.2
"""For what had come already."""
_HOPELESS: Final = frozenset(
    {
        Code.UNREACHABLE_BEHIND,
        Code.UNAUTHORIZED,
        Code.NOT_FOUND,
        Code.AGENT_UNREACHABLE,
    }
)
"""Why the history was not told, where a prompt would not fare better."""
_UNASKED: Final = frozenset(
    {Code.REDIRECTED, Code.UNREACHABLE_BEHIND, Code.HISTORY_ELSEWHERE, Code.TOO_MANY}
)
"""Why it was not told, where nobody looked at the token or for the agent."""


class Report(Struct):
    """What was found. `proxy` is None where none named itself."""

    url: str
    proxy: str | None
    findings: list[Finding]
    figures: dict[str, float]
    turns: int
    """How many it has cost."""
    untried: list[str]
    """What could not be seen."""

    @property
    def is_well(self) -> bool:
        return all(found.severity is Severity.NOTE for found in self.findings)


class Examination:
    """`await Examination(where).run(prompt)`; without a prompt no turn is begun."""

    def __init__(self, where: Where, *, proxy: Proxy | None = None) -> None:
        self._where = where
        self._client = Client(where)
        self._proxy = proxy
        self._seen: list[judging.Seen] = []
        self._figures: dict[str, float] = {}
        self._turns = 0
        self._asked_history = False
        self._has_left = False
        self._lateness = Lateness()

    async def run(
        self, prompt: str | None, *, quiet_prompt: str | None = None, idle: bool = False
    ) -> Report:
        """Look at everything there is to look at.

        After `quiet_prompt` the agent is silent for a while. With `idle` so it is after `prompt`,
        which is then all that is asked.

        What breaks on the way is a finding, and what was found before it is told.

        Raises:
            NoAnswerError: to nothing at all.

        """
        try:
            self._seen += token.of_token(self._where.token, time.time())
            async with watching(self._lateness):
                if await self._is_turnwire() and await self._is_let_in() and prompt is not None:
                    await self._turns_of(prompt, quiet_prompt, idle=idle)
        except BadTlsError as exc:
            self._saw(Code.TLS, str(exc))
        except NoAnswerError as exc:
            if not self._client.was_answered:
                raise
            self._saw(Code.NO_ANSWER, str(exc))
        finally:
            await self._client.aclose()
        # A code is told once, by what was seen first.
        told = dict(reversed(self._seen))
        findings = [finding(code, told[code], self._proxy) for code in Code if code in told]
        name = None if self._proxy is None else self._proxy.value
        untried = list(self._untried(told.keys()))
        return Report(self._where.url, name, findings, self._figures, self._turns, untried)

    def _untried(self, seen: AbstractSet[Code]) -> Iterator[str]:
        if not self._turns and not self._asked_history:
            yield "whether the token is taken, and whether the agent answers"
        if not self._turns:
            yield "whether a prompt is taken"
        if not self._turns or seen & {Code.INCONCLUSIVE, Code.UNFINISHED, Code.BUSY}:
            yield "whether its stream comes through whole, each record as soon as it is sent"
        if not self._has_left or seen & {Code.ABORT_UNTRIED, Code.ABORT_UNKNOWN}:
            yield "whether the agent hears of a hang-up"

    def _saw(self, code: Code, seen: str) -> None:
        self._seen.append((code, seen))

    @contextmanager
    def _or(self, code: Code) -> Iterator[None]:
        """What is not answered is that finding; the examination goes on."""
        try:
            yield
        except NoAnswerError as exc:
            self._saw(code, str(exc))

    async def _is_turnwire(self) -> bool:
        """Ask what costs no turn. Whether it is worth while to go on."""
        where = self._where
        stranger = await self._client.ask("POST", where.chat, {}, {})
        self._proxy = self._proxy or recognised(stranger.headers)
        self._seen += token.of_date(stranger.headers.get("date"), time.time())
        if stranger.status_code in refusal.REDIRECTS:
            self._saw(Code.REDIRECTED, f"{stranger.status_code} to {refusal.target(stranger)}")
            return False
        if refusal.is_of_proxy(stranger):
            self._saw(Code.UNREACHABLE_BEHIND, f"{stranger.status_code} without a token")
            return False
        told = refusal.refusal(stranger)
        if told is None or stranger.status_code != HTTPStatus.UNAUTHORIZED:
            what = "turnwire's answer" if told is not None else "no answer of turnwire's"
            code = Code.NOT_FOUND if told is not None else Code.NOT_TURNWIRE
            self._saw(code, f"{stranger.status_code} without a token, {what}")
            return False
        await self._look_around()
        await self._preflight()
        return True

    async def _look_around(self) -> None:
        with self._or(Code.NOT_READY):
            ready = await self._client.ask("GET", "/readyz", {})
            if ready.text.strip() == "stopping":
                self._saw(Code.NOT_READY, f"/readyz answers {ready.status_code}")
            elif ready.text.strip() != "ready":
                what = f"/readyz answers {ready.status_code}, and no word of turnwire's"
                self._saw(Code.READY_ELSEWHERE, what)
        with self._or(Code.METRICS_UNANSWERED):
            metrics = await self._client.ask("GET", "/metrics", {})
            if b"turnwire_" in metrics.content:
                self._saw(Code.METRICS_EXPOSED, f"/metrics answers {metrics.status_code}")
        with self._or(Code.NO_ANSWER):
            chosen = await self._client.protocol()
            if chosen != "h2":
                told = "without TLS" if chosen is None else f"TLS chose {chosen}"
                self._saw(Code.HTTP1_ONLY, told)

    async def _preflight(self) -> None:
        origin = self._where.origin
        if origin is None:
            return
        asks = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type",
        }
        with self._or(Code.PREFLIGHT):
            self._preflown(await self._client.ask("OPTIONS", self._where.chat, asks), origin)

    def _preflown(self, answer: httpx.Response, origin: str) -> None:
        allowed = answer.headers.get_list("access-control-allow-origin")
        named = answer.headers.get("access-control-allow-headers", "").lower()
        if (
            not answer.is_success
            or allowed not in ([origin], ["*"])
            or "authorization" not in named
        ):
            self._saw(
                Code.PREFLIGHT,
                f"{answer.status_code}, allow-origin: {', '.join(allowed) or 'none'},"
                f" allow-headers: {named or 'none'}",
            )

    async def _is_let_in(self) -> bool:
        """Ask for the history, which takes the token and the agent. Whether a prompt may do better.

        It begins no turn.
        """
        try:
            answer = await self._client.ask("GET", self._where.history, self._client.bearer())
        except NoAnswerError as exc:
            late = isinstance(exc, LateError)
            self._saw(Code.HISTORY_LATE if late else Code.NO_ANSWER, str(exc))
            return True
        seen = refusal.of_history(answer)
        self._asked_history = seen is None or seen[0] not in _UNASKED
        if seen is None:
            return True
        self._saw(*seen)
        return seen[0] not in _HOPELESS

    async def _turns_of(self, prompt: str, quiet_prompt: str | None, *, idle: bool) -> None:
        try:
            heard = await self._streamed(prompt)
        except LateError as exc:
            self._saw(Code.BUFFERED, f"{exc}, not even a head")
            return
        if heard is None or heard.broke or idle:
            return
        if Code.BUFFERED not in {code for code, _ in self._seen}:
            await self._hung_up(quiet_prompt or prompt, wait=quiet_prompt is not None)

    async def _streamed(self, prompt: str) -> Heard | None:
        request_id = _request_id()
        async with self._begun(prompt, request_id) as stream:
            if stream is None:
                return None
            response, heard = stream.response, stream.heard
            self._seen += judging.of_headers(response.headers, request_id)
            self._cors(response.headers)
            await stream.read("[DONE]", self._where.within_s)
        heard.late_s, heard.all_late_s = self._lateness.since(heard.asked_at)
        self._seen += judging.of_arrival(heard, request_id)
        self._figures |= {
            "head_s": heard.head_at - heard.asked_at,
            "first_byte_s": heard.pieces[0].at - heard.asked_at if heard.pieces else -1.0,
            "last_byte_s": heard.last_at - heard.asked_at,
            "longest_silence_s": heard.longest_silence_s,
            "records": len(heard.records),
            "bunches": len(heard.bunches),
        }
        return heard

    @asynccontextmanager
    async def _begun(self, prompt: str, request_id: str) -> AsyncIterator[Stream | None]:
        """A turn; None if the prompt was refused."""
        async with AsyncExitStack() as stack:
            self._turns += 1  # for all we know
            try:
                stream = await stack.enter_async_context(self._client.prompt(prompt, request_id))
            except NoConnectionError:
                self._turns -= 1
                raise
            if stream.response.status_code == HTTPStatus.OK:
                yield stream
                return
            self._turns -= 1
            self._saw(*refusal.of_prompt(await stream.whole()))
            yield None

    def _cors(self, headers: httpx.Headers) -> None:
        origin = self._where.origin
        if origin is None:
            return
        allowed = headers.get_list("access-control-allow-origin")
        exposed = headers.get("access-control-expose-headers", "").lower()
        if allowed not in ([origin], ["*"]) or "x-request-id" not in exposed:
            self._saw(
                Code.CORS_HEADERS,
                f"allow-origin: {', '.join(allowed) or 'none'}, exposed: {exposed or 'none'}",
            )

    async def _hung_up(self, prompt: str, *, wait: bool) -> None:
        """Begin a turn, leave it, and ask whether it still runs."""
        async with self._begun(prompt, _request_id()) as stream:
            if stream is None:
                return
            heard = stream.heard
            await stream.read("start", self._where.within_s)
            begun = "start" in heard.kinds
            # One that is not told while it runs would seem to be stopped.
            unknown = await self._why_unknown() if begun and heard.ended_at is None else None
            if heard.ended_at is None and (wait or unknown):
                silence_s = GLIMPSE_S if unknown else QUIET_S
                await stream.read("[DONE]", self._where.within_s, silence_s=silence_s)
        self._has_left = True
        if heard.broke:
            self._saw(*judging.of_break(heard))
        if not begun or heard.is_whole or heard.ended_at is not None:
            self._saw(Code.ABORT_UNTRIED, "the second turn was over before it could be left")
        elif unknown:
            self._saw(Code.ABORT_UNKNOWN, unknown)
        else:
            await self._left()

    async def _why_unknown(self) -> str | None:
        """Ask for the turn while it runs. None if it is told."""
        try:
            async with self._client.resume() as again:
                status = again.response.status_code
        except NoAnswerError as exc:
            self._saw(Code.NO_ANSWER, str(exc))
            return f"asked for a turn while it ran: {exc}"
        if status == HTTPStatus.OK:
            return None
        if status == HTTPStatus.NO_CONTENT:
            return "while a turn ran, the agent did not tell of it"
        return f"asked for a turn while it ran: {status}"

    async def _left(self) -> None:
        """See what became of the turn that was left."""
        left_at = asyncio.get_running_loop().time()
        try:
            async with self._client.resume() as again:
                status = again.response.status_code
                if status == HTTPStatus.OK:
                    await again.read("[DONE]", ABORT_S)
                    _, late_s = self._lateness.since(left_at)
                    await self._judge_left(again.heard, late_s)
                elif status != HTTPStatus.NO_CONTENT:
                    self._saw(Code.ABORT_UNKNOWN, f"asked for the turn that was left: {status}")
        except NoAnswerError as exc:
            self._saw(Code.ABORT_UNKNOWN, f"asked for the turn that was left: {exc}")
            raise
        self._figures["gone_s"] = asyncio.get_running_loop().time() - left_at

    async def _judge_left(self, heard: Heard, late_s: float) -> None:
        """The turn that was left, as one hears who comes back to it."""
        if heard.is_whole:
            if "abort" not in heard.kinds:
                self._saw(Code.ABORT_UNTRIED, "the second turn came to its own end")
        elif heard.ended_at is not None:
            code, said = judging.of_break(heard)
            self._saw(code, said)
            self._saw(Code.ABORT_UNKNOWN, f"asked for the turn that was left: {said}")
        else:
            seen = f"the turn still ran after {ABORT_S:g} s"
            if late_s > ABORT_S / 4:  # what we are late, others on this machine may be too
                self._saw(Code.BUSY, f"{seen}; the doctor itself was {late_s:.1f} s late")
            else:
                self._saw(Code.ABORT_LOST, seen)
            with self._or(Code.NO_ANSWER):
                await self._client.ask("POST", f"{self._where.path}/stop", self._client.bearer())


def _request_id() -> str:
    return f"doctor-{uuid.uuid4().hex[:16]}"
