"""The codes of all findings, each with severity, cause and remedy."""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct


class Severity(enum.Enum):
    ERROR = "error"
    """Clients fail."""
    WARNING = "warning"
    """Some clients fail, or will fail under load or with one more proxy."""
    NOTE = "note"
    """Information; nothing is wrong."""


class Code(enum.Enum):
    NOT_TURNWIRE = "not-turnwire"
    NOT_READY = "not-ready"
    READY_ELSEWHERE = "ready-elsewhere"
    METRICS_EXPOSED = "metrics-exposed"
    REDIRECTED = "redirected"
    TLS = "tls"
    UNREACHABLE_BEHIND = "unreachable-behind-the-proxy"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    AGENT_UNREACHABLE = "agent-unreachable"
    HISTORY_ELSEWHERE = "history-elsewhere"
    HISTORY_LATE = "history-late"
    NO_HISTORY = "no-history"
    NO_RESUME = "no-resume"
    TOO_MANY = "too-many"
    UNAVAILABLE = "unavailable"
    REFUSED = "refused"
    TOKEN_EXPIRED = "token-expired"  # noqa: S105 (no password)
    CLOCK_SKEW = "clock-skew"
    NO_ANSWER = "no-answer"
    METRICS_UNANSWERED = "metrics-unanswered"
    HTTP1_ONLY = "http1-only"
    PREFLIGHT = "cors-preflight"
    CORS_HEADERS = "cors-headers"
    FIRST_BYTE_LATE = "first-byte-late"
    BUFFERED = "buffered"
    COALESCED = "coalesced"
    ENCODED = "encoded"
    CUT_IN_SILENCE = "cut-in-silence"
    CUT_SHORT = "cut-short"
    KEEPALIVES_LOST = "keepalives-lost"
    WRONG_TYPE = "content-type"
    TRANSFORMABLE = "cache-control"
    UNMARKED = "stream-marker"
    BUFFERING_ALLOWED = "x-accel-buffering"
    REQUEST_ID = "request-id"
    ABORT_LOST = "abort-lost"
    ABORT_UNKNOWN = "abort-unknown"
    ABORT_UNTRIED = "abort-untried"
    AGENT_NOT_DIALLED = "agent-not-dialled"
    AGENT_REFUSED = "agent-refused"
    AGENT_CUT = "agent-cut"
    AGENT_SILENT = "agent-silent"
    TURN_FAILED = "turn-failed"
    TURN_NOT_KEPT = "turn-not-kept"
    INCONCLUSIVE = "inconclusive"
    UNFINISHED = "unfinished"
    BUSY = "busy"


class Ailment(Struct, frozen=True):
    """What a code means: `cause` and `mend` (the remedy) are texts for the report."""

    severity: Severity
    cause: str
    mend: str


_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

AILMENTS: Final[Mapping[Code, Ailment]] = MappingProxyType(
    {
        Code.NOT_TURNWIRE: Ailment(
            _E,
            "Something else than turnwire answers at this URL, or the proxy has no route to it.",
            "Give the URL before /api/sessions/…, and route /api/sessions/ to the gateways.",
        ),
        Code.NOT_READY: Ailment(
            _W,
            "The gateway is being stopped, or does not answer.",
            "Look at the gateway's log.",
        ),
        Code.READY_ELSEWHERE: Ailment(
            _N,
            "The proxy does not route /readyz to the gateways. No client needs it to.",
            "Route it if something outside is to watch them; its answer names nothing secret.",
        ),
        Code.METRICS_EXPOSED: Ailment(
            _E,
            "The metrics port is reachable through the public ingress.",
            "Route /api/sessions/, /healthz, /readyz alone; TURNWIRE_METRICS_PORT stays private.",
        ),
        Code.REDIRECTED: Ailment(
            _E,
            "The ingress answers with a redirect, which many clients do not follow with a POST.",
            "Use the URL that it names, to the letter (https, host, no trailing slash).",
        ),
        Code.TLS: Ailment(
            _E,
            "The certificate is not one that clients trust, or the handshake fails.",
            "Serve the whole chain for this host name, unexpired; --ca-file for a private one.",
        ),
        Code.UNREACHABLE_BEHIND: Ailment(
            _E,
            "The proxy answers for itself: no gateway could be reached, or none answered in time.",
            "See that the gateways listen where the proxy looks, and what its own log says.",
        ),
        Code.UNAUTHORIZED: Ailment(
            _E,
            "The token was refused: it is malformed, has expired, or is of another key, issuer or"
            " audience; or the proxy does not pass `Authorization` on; or the agent refuses it.",
            "Compare TURNWIRE_JWT_* with what makes the tokens; the gateway's log has the reason.",
        ),
        Code.FORBIDDEN: Ailment(
            _E,
            "The proxy forbids it, by a rule of its own: turnwire never answers 403.",
            "Let requests to /api/sessions/ through (GET, POST, OPTIONS); the proxy's log names"
            " the rule.",
        ),
        Code.NOT_FOUND: Ailment(
            _E,
            "The session is absent, or this user has no part in it (a viewer may read, not"
            " prompt); or the chat routes are off (TURNWIRE_ENABLED); or the proxy changes the"
            " path.",
            "Give --session one of which this user is a collaborator; pass the path on unchanged.",
        ),
        Code.AGENT_UNREACHABLE: Ailment(
            _E,
            "The gateway runs, but what it needs does not answer: the agent, or where it asks for"
            " keys or access.",
            "See that the agent runs and that TURNWIRE_AGENT_URL leads to it; likewise"
            " TURNWIRE_ACCESS_URL and TURNWIRE_JWT_JWKS_URL where they are set. The gateway's log"
            " says which it is.",
        ),
        Code.HISTORY_ELSEWHERE: Ailment(
            _E,
            "The prompts' route leads to turnwire, the history's to something else: the proxy"
            " routes some paths alone, or some methods.",
            "Route all of /api/sessions/ to the gateways, GET as well as POST.",
        ),
        Code.HISTORY_LATE: Ailment(
            _W,
            "No answer came, though the gateway gives the agent some seconds only; or --within is"
            " less than TURNWIRE_DIAL_S.",
            "Look at the gateway's log for /messages, and at the proxy's.",
        ),
        Code.NO_HISTORY: Ailment(
            _N,
            "Nobody behind the gateway tells what was said before: the agent keeps no history, or"
            " is sent the conversation by its client each time (as ag-ui agents are). A page that"
            " is reloaded begins empty, unless it keeps the conversation itself. The token was"
            " taken; an agent that is sent the conversation was not asked.",
            "Keep the conversation in the browser, where the client has it (docs/history.md)."
            " Whether the agent answers is seen with --yes.",
        ),
        Code.NO_RESUME: Ailment(
            _N,
            "The agent does not repeat a turn that runs, and the gateway keeps none: a reload loses"
            " the answer, no button can stop it, and no question is answered beside its stream.",
            "TURNWIRE_TURN_LOG=memory for one process, the URL of a Redis for several; nothing, if"
            " it is off on purpose.",
        ),
        Code.TOO_MANY: Ailment(
            _W,
            "The user has too many streams or turns, or the proxy has a limit of its own.",
            "Wait as long as Retry-After says; TURNWIRE_MAX_STREAMS_PER_USER and the rate limit.",
        ),
        Code.UNAVAILABLE: Ailment(
            _E,
            "The gateway takes no stream now: it is full, late, or cannot ask for access.",
            "Look at the gateway's log for this request id; TURNWIRE_MAX_STREAMS.",
        ),
        Code.REFUSED: Ailment(
            _E,
            "The prompt was refused before a stream began.",
            "The status and the text say why; the gateway's log has this request id.",
        ),
        Code.TOKEN_EXPIRED: Ailment(
            _E, "By this machine's clock the token's time is over.", "Have a new token made."
        ),
        Code.CLOCK_SKEW: Ailment(
            _W,
            "The clocks of the token's maker, the ingress and this machine disagree.",
            "Run NTP everywhere; TURNWIRE_JWT_LEEWAY_S forgives a few seconds.",
        ),
        Code.NO_ANSWER: Ailment(
            _E,
            "One request was not answered, though another was: its connection was refused or broke,"
            " nobody answered in time, or what came was no HTTP. A gateway or a proxy that is being"
            " restarted looks like this, and so does a limit of connections.",
            "Run the doctor again; if it comes back, look for this path in the proxy's log and in"
            " the gateway's.",
        ),
        Code.METRICS_UNANSWERED: Ailment(
            _N,
            "The ingress answers nobody who asks for /metrics, which keeps them private.",
            "Nothing, if Prometheus has its own way to TURNWIRE_METRICS_PORT.",
        ),
        Code.HTTP1_ONLY: Ailment(
            _N,
            "Without HTTP/2 a browser opens six connections to a host, and each stream takes one.",
            "Offer HTTP/2 by TLS (ALPN `h2`) to browsers.",
        ),
        Code.PREFLIGHT: Ailment(
            _E,
            "The origin is not among TURNWIRE_CORS_ORIGINS, or the proxy answers OPTIONS itself.",
            "List the origin there, as a browser spells it; let OPTIONS through.",
        ),
        Code.CORS_HEADERS: Ailment(
            _E,
            "The answer lacks CORS headers for this origin, or has them twice: the gateway's and"
            " the proxy's.",
            "Let the gateway alone set Access-Control-*.",
        ),
        Code.FIRST_BYTE_LATE: Ailment(
            _W,
            "Between the head of the response and its first byte something waits.",
            "Turn off what collects small pieces before it sends them.",
        ),
        Code.BUFFERED: Ailment(
            _E,
            "The response is collected before it is passed on.",
            "Turn response buffering off for /api/sessions/.",
        ),
        Code.COALESCED: Ailment(
            _W,
            "Records come in bunches: something collects them for a while, if it is not the agent.",
            "Turn off what collects small pieces; run the doctor against the gateway to compare.",
        ),
        Code.ENCODED: Ailment(
            _E,
            "The stream is compressed, which holds records back until a block is full.",
            "Leave text/event-stream out of compression.",
        ),
        Code.CUT_IN_SILENCE: Ailment(
            _E,
            "An idle timeout on the way is shorter than the time between two keepalives.",
            "Allow at least 45 s without a byte (three times TURNWIRE_KEEPALIVE_S).",
        ),
        Code.CUT_SHORT: Ailment(
            _E,
            "The stream broke off without `finish` while bytes were coming: a limit on the whole"
            " response, or a gateway that died.",
            "Have no limit on the duration of a response; else look at the gateway's log.",
        ),
        Code.KEEPALIVES_LOST: Ailment(
            _W,
            "No keepalive came for so long: held back, or TURNWIRE_KEEPALIVE_S is high.",
            "Turn buffering off; keep TURNWIRE_KEEPALIVE_S at 15 or below.",
        ),
        Code.WRONG_TYPE: Ailment(
            _E,
            "The content type of the stream was changed on the way.",
            "Pass `content-type: text/event-stream` on.",
        ),
        Code.TRANSFORMABLE: Ailment(
            _W,
            "`cache-control: no-cache, no-transform` was changed on the way; a proxy or a CDN may"
            " store or compress the stream.",
            "Pass the header on.",
        ),
        Code.UNMARKED: Ailment(
            _W,
            "`x-vercel-ai-ui-message-stream: v1` was removed on the way.",
            "Pass the header on.",
        ),
        Code.BUFFERING_ALLOWED: Ailment(
            _N,
            "`x-accel-buffering: no` was removed on the way (nginx takes it for itself); a further"
            " nginx in front would buffer.",
            "Pass the header on, where a proxy before this one needs it.",
        ),
        Code.REQUEST_ID: Ailment(
            _W,
            "The request's id was replaced or removed on the way, so that logs cannot be joined.",
            "Pass `x-request-id` on in both directions.",
        ),
        Code.ABORT_LOST: Ailment(
            _E,
            "The proxy goes on reading when its client has hung up, so that the agent works on for"
            " nobody. (TURNWIRE_ON_DISCONNECT=continue looks the same.)",
            "Have the proxy close its connection to the gateway when the client goes.",
        ),
        Code.ABORT_UNKNOWN: Ailment(
            _N,
            "Whether a hang-up stops the turn is seen by asking for that turn afterwards, and"
            " neither this agent nor the turn log tells of turns that run; or the request reached"
            " another replica, which cannot know of them. It could not be judged.",
            "Look in the agent's own log for an abort when the doctor hangs up. With"
            " TURNWIRE_TURN_LOG=memory run one replica, else name a Redis.",
        ),
        Code.ABORT_UNTRIED: Ailment(
            _N,
            "Whether a hang-up stops the turn could not be judged: it takes a turn that is still"
            " running.",
            'Give a longer one: --prompt "tell me a long story", or --quiet-prompt with one that'
            " takes the agent some seconds.",
        ),
        Code.AGENT_NOT_DIALLED: Ailment(
            _E,
            "The gateway did not reach the agent, or what answered is no agent of this wire: nobody"
            " listens there, DNS or TLS fails, or an agent over HTTP answered with a redirect, a"
            " compressed body or another content type than its stream has.",
            "TURNWIRE_AGENT_URL with the very path of the agent. The gateway's log has the reason"
            " under this request id.",
        ),
        Code.AGENT_REFUSED: Ailment(
            _E,
            "The agent answered with an error, and began no turn.",
            "The status is in the gateway's log line of this request (`dial_status`), and what the"
            " agent said with TURNWIRE_LOG_LEVEL=debug. Is TURNWIRE_DIALECT the wire that this"
            " agent speaks?",
        ),
        Code.AGENT_CUT: Ailment(
            _E,
            "The connection to the agent ended before the turn did: the agent broke off, a proxy"
            " before it has a limit, or its stream ended without the event that ends a run.",
            "Look at the agent's log; ask the agent without the gateway; see whether `foreign` in"
            " the gateway's log line of this request is above 0 (runs of other ids).",
        ),
        Code.AGENT_SILENT: Ailment(
            _E,
            "The agent took the prompt, and then sent nothing for TURNWIRE_IDLE_S.",
            "Look at the agent's log; something between may hold its stream back.",
        ),
        Code.TURN_NOT_KEPT: Ailment(
            _W,
            "The turn log could not keep the turn: its Redis is slow, full or gone, or the memory"
            " for turns is used up. The turn went on, without resume and stop.",
            "Look for `turns are not kept` in the gateway's log, and at"
            " turnwire_turn_log_failures_total.",
        ),
        Code.TURN_FAILED: Ailment(
            _W,
            "The way is open, but the turn ended with an error of the agent's side.",
            "Look at the gateway's log for this request id.",
        ),
        Code.INCONCLUSIVE: Ailment(
            _N,
            "The answer was too short to say whether something on the way holds records back.",
            'Give a longer one: --prompt "tell me a long story", or another that this agent'
            " answers for five seconds or more.",
        ),
        Code.UNFINISHED: Ailment(
            _N,
            "The turn went on for longer than the doctor reads. How it ends was not seen.",
            "With --idle it need not end. Else give it more time with --within, or a --prompt whose"
            " answer is shorter.",
        ),
        Code.BUSY: Ailment(
            _N,
            "The machine that the doctor runs on was too busy to tell what made the stream late.",
            "Run the doctor again, on a machine that has time.",
        ),
    }
)


class Finding(Struct, frozen=True):
    """One finding of a report; the JSON report has these fields.

    `mend` holds the line for the recognised proxy, then the general remedy. If the proxy is
    unknown, the general remedy comes first, then the lines of all proxies.
    """

    code: Code
    severity: Severity
    seen: str
    cause: str
    mend: tuple[str, ...]
