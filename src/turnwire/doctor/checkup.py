"""The checkup: all checks in their order. The result of each check decides what comes next.

`Checkup(target).run(prompt)` returns a `Report`.
"""

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

from turnwire.doctor import checks, error_answers, token
from turnwire.doctor.capture import Capture
from turnwire.doctor.client import (
    BadTlsError,
    Client,
    LateError,
    NoAnswerError,
    NoConnectionError,
    Stream,
    Target,
)
from turnwire.doctor.failed_turns import BEYOND_REPAIR
from turnwire.doctor.findings import Code, Finding, Severity
from turnwire.doctor.kept_turns import resume_symptoms
from turnwire.doctor.lateness import Lateness, measuring
from turnwire.doctor.proxies import Proxy, finding, recognise_proxy

ABORT_WAIT_S: Final = 4.0
"""How long the doctor waits for the end of a turn whose client has disconnected."""
QUIET_BEFORE_HANG_UP_S: Final = 1.0
"""A silence before the disconnect. A proxy that does not watch for disconnects notices them only
when it writes; without a write, the check finds such a proxy."""
BUFFERED_READ_S: Final = 0.2
"""Time to read what has already arrived."""
_NO_PROMPT_CODES: Final = frozenset(
    {
        Code.UNREACHABLE_BEHIND,
        Code.UNAUTHORIZED,
        Code.NOT_FOUND,
        Code.AGENT_UNREACHABLE,
    }
)
"""Codes of a missing history after which a prompt would fail too."""
_TOKEN_UNCHECKED_CODES: Final = frozenset(
    {Code.REDIRECTED, Code.UNREACHABLE_BEHIND, Code.HISTORY_ELSEWHERE, Code.TOO_MANY}
)
"""Codes of a missing history that show nothing about the token and the agent."""


class Report(Struct):
    """The result of a checkup, also its JSON. `proxy` is None if no proxy names itself."""

    url: str
    proxy: str | None
    findings: list[Finding]
    figures: dict[str, float]
    turns: int
    """Number of turns that the checkup began."""
    untried: list[str]
    """Checks that were not possible."""

    @property
    def is_well(self) -> bool:
        return all(found.severity is Severity.NOTE for found in self.findings)


class Checkup:
    """`await Checkup(target).run(prompt)` checks a gateway. Without a prompt it begins no turn."""

    def __init__(self, target: Target, *, proxy: Proxy | None = None) -> None:
        self._target = target
        self._client = Client(target)
        self._proxy = proxy
        self._symptoms: list[checks.Symptom] = []
        self._figures: dict[str, float] = {}
        self._turns = 0
        self._has_checked_token = False
        self._has_hung_up = False
        self._lateness = Lateness()

    async def run(
        self, prompt: str | None, *, quiet_prompt: str | None = None, idle: bool = False
    ) -> Report:
        """Run all checks that are possible, and return the report.

        `quiet_prompt` is a prompt after which the agent is silent for some time. With `idle`,
        `prompt` is such a prompt, and only the checks of its one stream follow.

        A connection that breaks is a finding too; the report also holds the findings before it.

        Raises:
            NoAnswerError: no request was answered.

        """
        try:
            self._symptoms += token.token_symptoms(self._target.token, time.time())
            async with measuring(self._lateness):
                if (
                    await self._check_gateway()
                    and await self._check_history()
                    and prompt is not None
                ):
                    await self._check_turns(prompt, quiet_prompt, idle=idle)
        except BadTlsError as exc:
            self._add_symptom(Code.TLS, str(exc))
        except NoAnswerError as exc:
            if not self._client.has_answer:
                raise
            self._add_symptom(Code.NO_ANSWER, str(exc))
        finally:
            await self._client.aclose()
        # A code is reported once, with the text of its first symptom.
        texts = dict(reversed(self._symptoms))
        findings = [finding(code, texts[code], self._proxy) for code in Code if code in texts]
        name = None if self._proxy is None else self._proxy.value
        untried = list(self._untried_checks(texts.keys()))
        return Report(self._target.url, name, findings, self._figures, self._turns, untried)

    def _untried_checks(self, codes: AbstractSet[Code]) -> Iterator[str]:
        if not self._turns and not self._has_checked_token:
            yield "whether the token is taken, and whether the agent answers"
        elif not self._turns and Code.NO_HISTORY in codes:
            yield "whether the agent answers"
        if not self._turns:
            yield "whether a prompt is taken"
        if not self._turns or codes & {Code.INCONCLUSIVE, Code.UNFINISHED, Code.BUSY}:
            yield "whether its stream comes through whole, each record as soon as it is sent"
        if not self._has_hung_up or codes & {Code.ABORT_UNTRIED, Code.ABORT_UNKNOWN}:
            yield "whether the agent hears of a hang-up"

    def _add_symptom(self, code: Code, text: str) -> None:
        self._symptoms.append((code, text))

    @contextmanager
    def _or_symptom(self, code: Code) -> Iterator[None]:
        """Make a request without an answer in this block a symptom; the checkup goes on."""
        try:
            yield
        except NoAnswerError as exc:
            self._add_symptom(code, str(exc))

    async def _check_gateway(self) -> bool:
        """Run the checks that begin no turn and need no token. Returns whether to go on."""
        target = self._target
        answer = await self._client.exchange("POST", target.chat_path, {}, {})
        self._proxy = self._proxy or recognise_proxy(answer.headers)
        self._symptoms += token.date_symptoms(answer.headers.get("date"), time.time())
        if answer.status_code in error_answers.REDIRECTS:
            self._add_symptom(
                Code.REDIRECTED,
                f"{answer.status_code} to {error_answers.redirect_location(answer)}",
            )
            return False
        if error_answers.is_of_proxy(answer):
            self._add_symptom(Code.UNREACHABLE_BEHIND, f"{answer.status_code} without a token")
            return False
        decoded = error_answers.error_answer(answer)
        if decoded is None or answer.status_code != HTTPStatus.UNAUTHORIZED:
            text = "turnwire's answer" if decoded is not None else "no answer of turnwire's"
            code = Code.NOT_FOUND if decoded is not None else Code.NOT_TURNWIRE
            self._add_symptom(code, f"{answer.status_code} without a token, {text}")
            return False
        await self._check_routes()
        await self._check_preflight()
        return True

    async def _check_routes(self) -> None:
        with self._or_symptom(Code.NOT_READY):
            ready = await self._client.exchange("GET", "/readyz", {})
            if ready.text.strip() == "stopping":
                self._add_symptom(Code.NOT_READY, f"/readyz answers {ready.status_code}")
            elif ready.text.strip() != "ready":
                text = f"/readyz answers {ready.status_code}, and no word of turnwire's"
                self._add_symptom(Code.READY_ELSEWHERE, text)
        with self._or_symptom(Code.METRICS_UNANSWERED):
            metrics = await self._client.exchange("GET", "/metrics", {})
            if b"turnwire_" in metrics.content:
                self._add_symptom(Code.METRICS_EXPOSED, f"/metrics answers {metrics.status_code}")
        with self._or_symptom(Code.NO_ANSWER):
            alpn = await self._client.alpn_protocol()
            if alpn != "h2":
                text = "without TLS" if alpn is None else f"TLS chose {alpn}"
                self._add_symptom(Code.HTTP1_ONLY, text)

    async def _check_preflight(self) -> None:
        origin = self._target.origin
        if origin is None:
            return
        headers = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type",
        }
        with self._or_symptom(Code.PREFLIGHT):
            self._judge_preflight(
                await self._client.exchange("OPTIONS", self._target.chat_path, headers), origin
            )

    def _judge_preflight(self, answer: httpx.Response, origin: str) -> None:
        allowed = answer.headers.get_list("access-control-allow-origin")
        named = answer.headers.get("access-control-allow-headers", "").lower()
        if (
            not answer.is_success
            or allowed not in ([origin], ["*"])
            or "authorization" not in named
        ):
            self._add_symptom(
                Code.PREFLIGHT,
                f"{answer.status_code}, allow-origin: {', '.join(allowed) or 'none'},"
                f" allow-headers: {named or 'none'}",
            )

    async def _check_history(self) -> bool:
        """Request the history, which needs the token and the agent, but begins no turn.

        Returns whether a prompt can succeed.
        """
        try:
            answer = await self._client.exchange(
                "GET", self._target.history_path, self._client.bearer()
            )
        except NoAnswerError as exc:
            is_late = isinstance(exc, LateError)
            self._add_symptom(Code.HISTORY_LATE if is_late else Code.NO_ANSWER, str(exc))
            return True
        symptom = error_answers.history_symptom(answer)
        self._has_checked_token = symptom is None or symptom[0] not in _TOKEN_UNCHECKED_CODES
        if symptom is None:
            return True
        self._add_symptom(*symptom)
        if symptom[0] is Code.NO_HISTORY:
            with self._or_symptom(Code.NO_ANSWER):
                self._symptoms += await resume_symptoms(self._client)
        return symptom[0] not in _NO_PROMPT_CODES

    async def _check_turns(self, prompt: str, quiet_prompt: str | None, *, idle: bool) -> None:
        try:
            capture = await self._check_stream(prompt)
        except LateError as exc:
            self._add_symptom(Code.BUFFERED, f"{exc}, not even a head")
            return
        if capture is None or capture.is_broken or idle:
            return
        if not {code for code, _ in self._symptoms} & {Code.BUFFERED, *BEYOND_REPAIR}:
            await self._check_hang_up(quiet_prompt or prompt, is_quiet=quiet_prompt is not None)

    async def _check_stream(self, prompt: str) -> Capture | None:
        request_id = _request_id()
        async with self._open_turn(prompt, request_id) as stream:
            if stream is None:
                return None
            response, capture = stream.response, stream.capture
            self._symptoms += checks.header_symptoms(response.headers, request_id)
            self._check_cors_headers(response.headers)
            await stream.read("[DONE]", self._target.within_s)
        capture.max_delay_s, capture.total_delay_s = self._lateness.since(capture.sent_at)
        self._symptoms += checks.arrival_symptoms(capture, request_id)
        self._figures |= {
            "head_s": capture.head_at - capture.sent_at,
            "first_byte_s": capture.pieces[0].arrived_at - capture.sent_at
            if capture.pieces
            else -1.0,
            "last_byte_s": capture.last_at - capture.sent_at,
            "longest_silence_s": capture.longest_silence_s,
            "records": len(capture.records),
            "bunches": len(capture.bunches),
        }
        return capture

    @asynccontextmanager
    async def _open_turn(self, prompt: str, request_id: str) -> AsyncIterator[Stream | None]:
        """The open stream of a new turn; None if the prompt was refused."""
        async with AsyncExitStack() as stack:
            self._turns += 1  # the prompt may arrive even if its answer does not
            try:
                stream = await stack.enter_async_context(self._client.prompt(prompt, request_id))
            except NoConnectionError:
                self._turns -= 1
                raise
            if stream.response.status_code == HTTPStatus.OK:
                yield stream
                return
            self._turns -= 1
            self._add_symptom(*error_answers.prompt_symptom(await stream.read_body()))
            yield None

    def _check_cors_headers(self, headers: httpx.Headers) -> None:
        origin = self._target.origin
        if origin is None:
            return
        allowed = headers.get_list("access-control-allow-origin")
        exposed = headers.get("access-control-expose-headers", "").lower()
        if allowed not in ([origin], ["*"]) or "x-request-id" not in exposed:
            self._add_symptom(
                Code.CORS_HEADERS,
                f"allow-origin: {', '.join(allowed) or 'none'}, exposed: {exposed or 'none'}",
            )

    async def _check_hang_up(self, prompt: str, *, is_quiet: bool) -> None:
        """Begin a turn, disconnect, and check whether the turn still runs."""
        async with self._open_turn(prompt, _request_id()) as stream:
            if stream is None:
                return
            capture = stream.capture
            await stream.read("start", self._target.within_s)
            has_begun = "start" in capture.kinds
            # If the agent does not offer a running turn, a later check would take it for stopped.
            problem = (
                await self._resume_problem() if has_begun and capture.ended_at is None else None
            )
            if capture.ended_at is None and (is_quiet or problem):
                silence_s = BUFFERED_READ_S if problem else QUIET_BEFORE_HANG_UP_S
                await stream.read("[DONE]", self._target.within_s, silence_s=silence_s)
        self._has_hung_up = True
        if capture.is_broken:
            self._add_symptom(*checks.break_symptom(capture))
        if not has_begun or capture.is_complete or capture.ended_at is not None:
            self._add_symptom(
                Code.ABORT_UNTRIED, "the second turn was over before it could be left"
            )
        elif problem:
            self._add_symptom(Code.ABORT_UNKNOWN, problem)
        else:
            await self._check_abandoned_turn()

    async def _resume_problem(self) -> str | None:
        """Resume the turn while it runs. Returns why that fails; None if it works."""
        try:
            async with self._client.resume() as stream:
                status = stream.response.status_code
        except NoAnswerError as exc:
            self._add_symptom(Code.NO_ANSWER, str(exc))
            return f"asked for a turn while it ran: {exc}"
        if status == HTTPStatus.OK:
            return None
        if status == HTTPStatus.NO_CONTENT:
            return "while a turn ran, the agent did not tell of it"
        return f"asked for a turn while it ran: {status}"

    async def _check_abandoned_turn(self) -> None:
        """Resume the turn whose client disconnected, to see whether it still runs."""
        hung_up_at = asyncio.get_running_loop().time()
        try:
            async with self._client.resume() as stream:
                status = stream.response.status_code
                if status == HTTPStatus.OK:
                    await stream.read("[DONE]", ABORT_WAIT_S)
                    _, delay_s = self._lateness.since(hung_up_at)
                    await self._judge_abandoned_turn(stream.capture, delay_s)
                elif status != HTTPStatus.NO_CONTENT:
                    self._add_symptom(
                        Code.ABORT_UNKNOWN, f"asked for the turn that was left: {status}"
                    )
        except NoAnswerError as exc:
            self._add_symptom(Code.ABORT_UNKNOWN, f"asked for the turn that was left: {exc}")
            raise
        self._figures["gone_s"] = asyncio.get_running_loop().time() - hung_up_at

    async def _judge_abandoned_turn(self, capture: Capture, delay_s: float) -> None:
        """Judge the resumed stream of the turn whose client disconnected."""
        if capture.is_complete:
            if "abort" not in capture.kinds:
                self._add_symptom(Code.ABORT_UNTRIED, "the second turn came to its own end")
        elif capture.ended_at is not None:
            code, text = checks.break_symptom(capture)
            self._add_symptom(code, text)
            self._add_symptom(Code.ABORT_UNKNOWN, f"asked for the turn that was left: {text}")
        else:
            text = f"the turn still ran after {ABORT_WAIT_S:g} s"
            if delay_s > ABORT_WAIT_S / 4:  # other processes of this machine may be late too
                self._add_symptom(Code.BUSY, f"{text}; the doctor itself was {delay_s:.1f} s late")
            else:
                self._add_symptom(Code.ABORT_LOST, text)
            with self._or_symptom(Code.NO_ANSWER):
                await self._client.exchange(
                    "POST", f"{self._target.session_path}/stop", self._client.bearer()
                )


def _request_id() -> str:
    return f"doctor-{uuid.uuid4().hex[:16]}"
