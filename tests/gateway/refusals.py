"""Requests that must be refused, and how: one table for the application and for real sockets."""

import base64
import json
import time
from typing import Any, NamedTuple

from gateway.tokens import KEY, OTHER_KEY, claims, handmade, token

GOOD_BODY = json.dumps({"messages": [{"role": "user", "content": "the-secret-prompt"}]}).encode()
HMAC = {"typ": "JWT", "alg": "HS256"}


class Refusal(NamedTuple):
    name: str
    status: int
    path: str = "/api/sessions/s1/chat"
    method: str = "POST"
    headers: dict[str, str | None] = {}  # noqa: RUF012 (never written)
    body: bytes = GOOD_BODY
    authorization: list[str] | None = None
    query: str = ""


def session(session_id: str) -> str:
    return f"/api/sessions/{session_id}/chat"


def _messages(*messages: Any) -> bytes:
    return json.dumps({"messages": list(messages)}).encode()


def _parts(*parts: Any, role: str = "user") -> bytes:
    return _messages({"role": role, "parts": list(parts)})


def _deep(levels: int) -> bytes:
    return (
        b'{"messages":[{"role":"user","content":"x"}],"x":' + b"[" * levels + b"]" * levels + b"}"
    )


_TEXT = {"type": "text", "text": "hi"}
_MINE = {"type": "tool-x", "toolCallId": "c", "state": "output-available", "providerExecuted": True}
_PAGE = {
    "type": "file",
    "mediaType": "image/png",
    "filename": "secret",
    "url": "data:image/png;base64,PGh0bWw+",
}

MALFORMED = [
    Refusal("no body", 400, body=b""),
    Refusal("not JSON", 400, body=b"hello"),
    Refusal("half of JSON", 400, body=GOOD_BODY[:-2]),
    Refusal("two values", 400, body=GOOD_BODY * 2),
    Refusal("an array", 400, body=b"[]"),
    Refusal("a string", 400, body=b'"hi"'),
    Refusal("null", 400, body=b"null"),
    Refusal("NaN", 400, body=b'{"messages":NaN}'),
    Refusal("NaN beside a prompt", 400, body=GOOD_BODY[:-1] + b',"x":NaN}'),
    Refusal("not UTF-8", 400, body=GOOD_BODY.replace(b"secret", b"\xff\xfe")),
    Refusal("a lone surrogate", 400, body=GOOD_BODY.replace(b"secret", b"\\ud800")),
    Refusal("no messages", 400, body=b"{}"),
    Refusal("empty messages", 400, body=_messages()),
    Refusal("messages of a wrong type", 400, body=b'{"messages":{}}'),
    Refusal("a message that is none", 400, body=_messages(7)),
    Refusal("no role", 400, body=_messages({"content": "x"})),
    Refusal("an unknown role", 400, body=_messages({"role": "root", "content": "x"})),
    Refusal("the role system", 400, body=_messages({"role": "system", "content": "x"})),
    Refusal("neither parts nor content", 400, body=_messages({"role": "user"})),
    Refusal("an empty prompt", 400, body=_parts({"type": "text", "text": ""})),
    Refusal("only white space", 400, body=_parts({"type": "text", "text": " \n\t\u00a0"})),
    Refusal("no text part", 400, body=_parts()),
    Refusal("text of a wrong type", 400, body=_parts({"type": "text", "text": 7})),
    Refusal("parts of a wrong type", 400, body=_messages({"role": "user", "parts": "x"})),
    Refusal("too long a prompt", 400, body=_parts({"type": "text", "text": "x" * 100_001})),
    Refusal("a page as a picture", 400, body=_parts(_TEXT, _PAGE)),
    Refusal("a picture elsewhere", 400, body=_parts(_TEXT, _PAGE | {"url": "https://secret.x/a"})),
    Refusal("a continuation", 400, body=_parts(_TEXT, _MINE, role="assistant")),
    Refusal("a trigger of a wrong type", 400, body=GOOD_BODY[:-1] + b',"trigger":7}'),
    Refusal("nesting of 65", 400, body=_deep(64)),
    Refusal("nesting of 100,000", 400, body=_deep(100_000)),
    Refusal("an empty channel", 400, query="channelId="),
    Refusal("a control character in a channel", 400, query="channelType=a%0d%0ab"),
    Refusal("too long a channel", 400, query="channelId=" + "x" * 257),
]

_TYPED = "content-type"
UNREADABLE = [
    Refusal("no content type", 415, headers={_TYPED: None}),
    Refusal("a form", 415, headers={_TYPED: "application/x-www-form-urlencoded"}),
    Refusal("multipart", 415, headers={_TYPED: "multipart/form-data; boundary=x"}),
    Refusal("almost JSON", 415, headers={_TYPED: "application/json5"}),
    Refusal("compressed", 415, headers={"content-encoding": "gzip"}),
]

_IDS = ["..", ".", "%2e%2e", "a%3fx=1%23", "a%0d%0ab", "a%00b", "x" * 3000, "x" * 129, "s1%0a"]
_IDS += ["a%E2%80%AEb", "a%40evil.example", "a%20b", "%C3%A9", "a%5Cb", "%7Bsession_id%7D", "a%25"]
NO_SUCH = [
    *(Refusal(f"the session id {name[:20]}", 404, session(name)) for name in _IDS),
    Refusal("a slash in the session id", 404, session("a%2Fb")),
    Refusal("an empty session id", 404, session("")),
    Refusal("a session that is not yours", 404, session("not-mine")),
    Refusal("a session you may only view", 404, session("viewed")),
    Refusal("a session with an unknown role", 404, session("admin-of")),
    Refusal("a session with a role of a wrong type", 404, session("typed")),
    Refusal("another's orchestrator", 404, session("orchestrator")),
    Refusal("another's orchestrator by name", 404, session("orchestrator:u2")),
    Refusal("an orchestrator as collaborator", 404, session("orchestrator:u1")),
    Refusal("no such route", 404, "/api/sessions/s1"),
    Refusal("a slash too many", 404, "/api/sessions/s1/chat/"),
    Refusal("the metrics", 404, "/metrics", "GET"),
]

SESSIONS = {
    "s1": "collaborator",
    "viewed": "viewer",
    "admin-of": "admin",
    "typed": ["owner"],
    "orchestrator:u1": "collaborator",
}


def good() -> str:
    return token(sessions=SESSIONS)


def _unsigned(alg: object) -> str:
    return handmade({**HMAC, "alg": alg}, claims(sessions=SESSIONS))


def _tampered() -> str:
    head, _, signature = token(sessions={"s1": "viewer"}).split(".")
    return f"{head}.{good().split('.')[1]}.{signature}"


def _deep_header() -> str:
    head = b'{"alg":"HS256","x":' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    encoded = base64.urlsafe_b64encode(head).rstrip(b"=").decode()
    return f"{encoded}.e30."


def strangers() -> list[Refusal]:
    """Made when asked for: tokens have a time."""
    now = int(time.time())
    bad = {
        "nothing": [],
        "an empty header": [""],
        "no scheme": [good()],
        "Basic": ["Basic dTE6cGFzcw=="],
        "only the scheme": ["Bearer"],
        "two tokens in one header": [f"Bearer {good()} {good()}"],
        "two headers": [f"Bearer {good()}", f"Bearer {good()}"],
        "not a token": ["Bearer abc"],
        "two dots": ["Bearer .."],
        "alg none": [f"Bearer {_unsigned('none')}"],
        "alg NoNe": [f"Bearer {_unsigned('NoNe')}"],
        "alg missing": [f"Bearer {_unsigned(None)}"],
        "alg of a wrong type": [f"Bearer {_unsigned(['HS256'])}"],
        "no signature": [f"Bearer {_unsigned('HS256')}"],
        "half a signature": [f"Bearer {good()[:-20]}"],
        "expired": [f"Bearer {token(exp=now - 1)}"],
        "not yet": [f"Bearer {token(nbf=now + 3600)}"],
        "from the future": [f"Bearer {token(iat=now + 3600)}"],
        "no exp": [f"Bearer {token(exp=None)}"],
        "exp of a wrong type": [f"Bearer {token(exp='soon')}"],
        "no sub": [f"Bearer {token(sub=None)}"],
        "empty sub": [f"Bearer {token(sub='')}"],
        "a crit that nobody knows": [f"Bearer {handmade({**HMAC, 'crit': ['x']}, claims())}"],
        "another key": [f"Bearer {token(key=OTHER_KEY)}"],
        "HS512": [f"Bearer {token(key=KEY + KEY, algorithm='HS512')}"],
        "HS384 with our key": [f"Bearer {token(algorithm='HS384', key=KEY + ' ' * 16)}"],
        "RS256": [f"Bearer {handmade({**HMAC, 'alg': 'RS256'}, claims(), b'x' * 256)}"],
        "ES256": [f"Bearer {handmade({**HMAC, 'alg': 'ES256'}, claims(), b'x' * 64)}"],
        "a tampered payload": [f"Bearer {_tampered()}"],
        "a header nested deep": [f"Bearer {_deep_header()}"],
        "a payload that is no object": [f"Bearer {handmade(HMAC, [])}"],
    }
    found = [Refusal(name, 401, authorization=sent) for name, sent in bad.items()]
    in_query = f"access_token={good()}&token={good()}&authorization=Bearer%20{good()}"
    return [*found, Refusal("a token in the query", 401, authorization=[], query=in_query)]


WRONG_METHOD = [
    Refusal(f"the method {method}", 405, method=method)
    for method in ("GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
]
TOO_LARGE = [Refusal("17 MiB", 413, body=b" " * 17 * 1_048_576)]

_STOP, _ANSWER = "/api/sessions/s1/stop", "/api/sessions/s1/answer"
_MESSAGES, _RESUME = "/api/sessions/s1/messages", "/api/sessions/s1/chat/c1/stream"
_METHODS = {_STOP: "POST", _ANSWER: "POST", _MESSAGES: "GET", _RESUME: "GET"}

BESIDE_A_TURN = [
    *(Refusal(f"no token: {path}", 401, path, how, {}, b"", []) for path, how in _METHODS.items()),
    *(
        Refusal(f"not yours: {path}", 404, path.replace("s1", "not-mine"), how, {}, b"")
        for path, how in _METHODS.items()
    ),
    *(
        Refusal(f"the wrong method: {path}", 405, path, "POST" if how == "GET" else "GET")
        for path, how in _METHODS.items()
    ),
    Refusal("a viewer who stops", 404, "/api/sessions/viewed/stop"),
    Refusal("a viewer who answers", 404, "/api/sessions/viewed/answer"),
    Refusal("stop: no JSON", 400, _STOP, body=b"{"),
    Refusal("stop: a turn id of a wrong type", 400, _STOP, body=b'{"turnId":7}'),
    Refusal("stop: an empty turn id", 400, _STOP, body=b'{"turnId":""}'),
    Refusal("stop: too long a turn id", 400, _STOP, body=b'{"turnId":"%b"}' % (b"x" * 513)),
    Refusal("stop: nested deep", 400, _STOP, body=b"[" * 100_000),
    Refusal("stop: a channel", 400, _STOP, body=b"{}", query="channelId="),
    Refusal("stop: a form", 415, _STOP, headers={"content-type": "text/html"}, body=b"{}"),
    Refusal("answer: nothing", 400, _ANSWER, body=b""),
    Refusal("answer: no answer", 400, _ANSWER, body=b'{"questionId":"q1"}'),
    Refusal("answer: no question", 400, _ANSWER, body=b'{"answer":"yes"}'),
    Refusal("answer: too large", 413, _ANSWER, body=b" " * 300_000),
    Refusal("history: a limit of 0", 400, _MESSAGES, "GET", {}, b"", query="limit=0"),
    Refusal("history: no number", 400, _MESSAGES, "GET", {}, b"", query="limit=ten"),
    Refusal("history: a big number", 400, _MESSAGES, "GET", {}, b"", query="limit=99999"),
    Refusal("history: a superscript", 400, _MESSAGES, "GET", {}, b"", query="limit=%C2%B2"),
    Refusal("history: perhaps how it ended", 400, _MESSAGES, "GET", {}, b"", query="finish=yes"),
    Refusal("resume: a thread without a name", 400, _RESUME, "GET", {}, b"", query="threadId="),
    Refusal("a hang-up policy", 400, query="onDisconnect=perhaps"),
    Refusal("the policy of who looks on", 400, query="onDisconnect=let_go"),
]

CODES = {
    400: "bad_request",
    401: "unauthorized",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    415: "unsupported_media_type",
}


def every() -> list[Refusal]:
    return [
        *MALFORMED,
        *UNREADABLE,
        *NO_SUCH,
        *strangers(),
        *WRONG_METHOD,
        *TOO_LARGE,
        *BESIDE_A_TURN,
    ]


def headers(refusal: Refusal) -> list[tuple[str, str]]:
    sent = {"content-type": "application/json", "content-length": str(len(refusal.body))}
    given = {**sent, **refusal.headers}
    authorization = refusal.authorization
    if authorization is None:
        authorization = [f"Bearer {good()}"]
    return [
        *((name, value) for name, value in given.items() if value is not None),
        *(("authorization", value) for value in authorization),
    ]
