"""The order in which things are looked at; each answer decides what comes next."""

import asyncio
import time
import uuid
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import httpx
import msgspec
from msgspec import Struct

from turnwire.doctor import judging, token
from turnwire.doctor.finding import Code, Finding, Severity
from turnwire.doctor.heard import Heard
from turnwire.doctor.proxies import Proxy, finding, recognised
from turnwire.doctor.visit import BadTlsError, Client, NoAnswerError, Where

ABORT_S: Final = 4.0
"""How long a turn may go on when its client has hung up."""
QUIET_S: Final = 1.0
"""A silence in which to leave: a proxy that does not look notices it when it writes."""
_REDIRECTS: Final = range(300, 400)
_BEHIND: Final = {HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT}
_BY_STATUS: Final[Mapping[int, Code]] = {
    401: Code.UNAUTHORIZED,
    403: Code.UNAUTHORIZED,
    404: Code.NOT_FOUND,
    429: Code.TOO_MANY,
    503: Code.UNAVAILABLE,
}


class _Refusal(Struct):
    """What turnwire says where it does not stream."""

    error: str
    code: str
    request_id: str = msgspec.field(name="requestId")


class Report(Struct):
    """What was found. `proxy` is None where none named itself."""

    url: str
    proxy: str | None
    findings: list[Finding]
    figures: dict[str, float]
    turns: int
    """How many it has cost."""

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

    async def run(
        self, prompt: str | None, *, quiet_prompt: str | None = None, idle: bool = False
    ) -> Report:
        """Look at everything there is to look at.

        After `quiet_prompt` the agent is silent for a while. With `idle` so it is after `prompt`,
        which is then all that is asked.

        Raises:
            CannotRunError: nobody answers.

        """
        try:
            self._seen += token.of_token(self._where.token, time.time())
            if await self._is_turnwire() and prompt is not None:
                await self._turns_of(prompt, quiet_prompt, idle=idle)
        except BadTlsError as exc:
            self._saw(Code.TLS, str(exc))
        finally:
            await self._client.aclose()
        # A code is told once, by what was seen first.
        told = dict(reversed(self._seen))
        findings = [finding(code, told[code], self._proxy) for code in Code if code in told]
        name = None if self._proxy is None else self._proxy.value
        return Report(self._where.url, name, findings, self._figures, self._turns)

    def _saw(self, code: Code, seen: str) -> None:
        self._seen.append((code, seen))

    async def _is_turnwire(self) -> bool:
        """Ask what costs no turn. Whether it is worth while to go on."""
        where = self._where
        stranger = await self._client.ask("POST", where.chat, {}, {})
        self._proxy = self._proxy or recognised(stranger.headers)
        self._seen += token.of_date(stranger.headers.get("date"), time.time())
        if stranger.status_code in _REDIRECTS:
            self._saw(Code.REDIRECTED, f"{stranger.status_code} to {_target(stranger)}")
            return False
        if stranger.status_code in _BEHIND or _is_from_proxy(stranger):
            self._saw(Code.UNREACHABLE_BEHIND, f"{stranger.status_code} without a token")
            return False
        refusal = _refusal(stranger)
        if refusal is None or stranger.status_code != HTTPStatus.UNAUTHORIZED:
            what = "turnwire's 404" if refusal is not None else "no answer of turnwire's"
            code = Code.NOT_FOUND if refusal is not None else Code.NOT_TURNWIRE
            self._saw(code, f"{stranger.status_code} without a token, {what}")
            return False
        await self._look_around()
        await self._preflight()
        return True

    async def _look_around(self) -> None:
        ready = await self._client.ask("GET", "/readyz", {})
        if ready.status_code != HTTPStatus.OK:
            self._saw(Code.NOT_READY, f"/readyz answers {ready.status_code}")
        metrics = await self._client.ask("GET", "/metrics", {})
        if b"turnwire_" in metrics.content:
            self._saw(Code.METRICS_EXPOSED, f"/metrics answers {metrics.status_code}")
        chosen = await self._client.protocol()
        if chosen != "h2":
            self._saw(Code.HTTP1_ONLY, "without TLS" if chosen is None else f"TLS chose {chosen}")

    async def _preflight(self) -> None:
        origin = self._where.origin
        if origin is None:
            return
        asks = {
            "origin": origin,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type",
        }
        answer = await self._client.ask("OPTIONS", self._where.chat, asks)
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

    async def _turns_of(self, prompt: str, quiet_prompt: str | None, *, idle: bool) -> None:
        try:
            heard = await self._streamed(prompt)
        except NoAnswerError as exc:
            self._saw(Code.BUFFERED, f"{exc}, not even a head")
            return
        if heard is None or heard.broke or idle:
            return
        if Code.BUFFERED not in {code for code, _ in self._seen}:
            await self._hung_up(quiet_prompt or prompt, wait=quiet_prompt is not None)

    async def _streamed(self, prompt: str) -> Heard | None:
        request_id = f"doctor-{uuid.uuid4().hex[:16]}"
        async with self._client.prompt(prompt, request_id) as stream:
            self._turns += 1
            response, heard = stream.response, stream.heard
            if response.status_code != HTTPStatus.OK:
                await self._refused(response)
                return None
            self._seen += judging.of_headers(response.headers, request_id)
            self._cors(response.headers)
            await stream.read("[DONE]", self._where.within_s)
        self._seen += judging.of_arrival(heard)
        self._figures |= {
            "head_s": heard.head_at - heard.asked_at,
            "first_byte_s": heard.pieces[0].at - heard.asked_at if heard.pieces else -1.0,
            "last_byte_s": heard.last_at - heard.asked_at,
            "longest_silence_s": heard.longest_silence_s,
            "records": len(heard.records),
            "bunches": len(heard.bunches),
        }
        return heard

    async def _refused(self, response: httpx.Response) -> None:
        await response.aread()
        status, refusal = response.status_code, _refusal(response)
        said = "not turnwire's answer" if refusal is None else refusal.error
        code = _BY_STATUS.get(status, Code.REFUSED)
        if status in _BEHIND or (code is Code.UNAVAILABLE and refusal is None):
            code = Code.UNREACHABLE_BEHIND
        after = response.headers.get("retry-after")
        self._saw(code, f"{status}, {said}" + (f", retry-after: {after}" if after else ""))

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
        async with self._client.prompt(prompt, f"doctor-{uuid.uuid4().hex[:16]}") as stream:
            if stream.response.status_code != HTTPStatus.OK:
                await self._refused(stream.response)
                return
            self._turns += 1
            await stream.read("start", self._where.within_s)
            if wait and stream.heard.ended_at is None:
                await stream.read("[DONE]", self._where.within_s, silence_s=QUIET_S)
            begun = "start" in stream.heard.kinds
        if not begun or stream.heard.is_whole or stream.heard.ended_at is not None:
            self._saw(Code.INCONCLUSIVE, "the second turn was over before it could be left")
            return
        left_at = asyncio.get_running_loop().time()
        async with self._client.resume() as again:
            if again.response.status_code == HTTPStatus.OK:
                await again.read("[DONE]", ABORT_S)
                kinds = again.heard.kinds
                if "finish" not in kinds:
                    self._saw(Code.ABORT_LOST, f"the turn still ran after {ABORT_S:g} s")
                    await self._client.ask("POST", f"{self._session}/stop", self._client.bearer())
                elif "abort" not in kinds:
                    self._saw(Code.INCONCLUSIVE, "the second turn came to its own end")
            elif again.response.status_code != HTTPStatus.NO_CONTENT:
                self._saw(Code.INCONCLUSIVE, "this agent cannot say whether a turn runs")
        self._figures["gone_s"] = asyncio.get_running_loop().time() - left_at

    @property
    def _session(self) -> str:
        return self._where.chat.removesuffix("/chat")


def _refusal(response: httpx.Response) -> _Refusal | None:
    try:
        return msgspec.json.decode(response.content, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _is_from_proxy(response: httpx.Response) -> bool:
    return response.status_code == HTTPStatus.SERVICE_UNAVAILABLE and _refusal(response) is None


def _target(response: httpx.Response) -> str:
    """Where a redirect leads, without what a query might hold."""
    return str(response.headers.get("location", "nowhere")).partition("?")[0]
