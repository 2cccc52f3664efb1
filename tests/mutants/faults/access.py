"""Callers who get further than their tokens and roles let them."""

import ast
from typing import Any, Final

import httpx

from mutants.edit import constant, decided, instead, without
from mutants.fault import Fault, Function
from turnwire.web.auth.access import Access, Role
from turnwire.web.auth.http_client import HttpClient
from turnwire.web.auth.identity import Caller


def its_beginning_will_do(is_session_id: Function) -> Function:
    def wrong(text: str) -> bool:
        return any(is_session_id(text[: end + 1]) for end in range(len(text)))

    return wrong


def any_role_will_do(require: Function) -> Function:
    async def wrong(
        access: Access, caller: Caller, session_id: str, _min_role: Role, request_id: str
    ) -> Any:
        return await require(access, caller, session_id, Role.VIEWER, request_id)

    return wrong


def wherever_it_leads(open_client: Function) -> Function:
    def wrong(self: HttpClient, url: str) -> httpx.AsyncClient:
        client: httpx.AsyncClient = open_client(self, url)
        client.follow_redirects = True
        return client

    return wrong


def the_first_of_them(bearer_token: Function) -> Function:
    def wrong(authorization: list[bytes]) -> Any:
        return bearer_token(authorization[:1])

    return wrong


def as_if_it_were_the_users(http_error_for_status: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        status, _auth = args
        return http_error_for_status(status, "forward", **kwargs)

    return wrong


_ACCESS: Final = "turnwire.web.auth.access"
_IDENTITY: Final = "turnwire.web.auth.identity"

_REFUSALS: Final = (
    "web/auth/test_access.py",
    "web/auth/test_identity.py",
    "web/routes/test_error_responses.py",
)
_FORGERIES: Final = ("web/auth/test_forgeries.py",)

FAULTS: Final = (
    Fault(
        "a newcomer's id may go on",
        f"{_ACCESS}:is_session_id",
        its_beginning_will_do,
        _REFUSALS,
    ),
    Fault(
        "a viewer may prompt",
        f"{_ACCESS}:require",
        any_role_will_do,
        ("attacks/test_object_level_access.py",),
    ),
    Fault(
        "a star reaches orchestrators",
        f"{_ACCESS}:ClaimsAccess.grant",
        decided(ast.IfExp, outcome=False),
        _REFUSALS,
    ),
    Fault(
        "a grant counts for every session",
        "turnwire.web.auth.access_cache:CachedAccess.grant",
        without(ast.FormattedValue),
        ("web/auth/test_access_cache.py",),
    ),
    Fault(
        "the control plane's redirects are followed",
        "turnwire.web.auth.http_client:HttpClient._open",
        wherever_it_leads,
        ("attacks/test_redirects.py",),
    ),
    Fault(
        "critical fields are ignored",
        f"{_IDENTITY}:JwtIdentity._key_id",
        decided(ast.If, outcome=False, nth=-1),
        _FORGERIES,
    ),
    Fault(
        "a token need not expire",
        f"{_IDENTITY}:JwtIdentity._decode",
        constant("exp", "sub"),
        _REFUSALS,
    ),
    Fault(
        "the audience is not looked at",
        f"{_IDENTITY}:JwtIdentity._decode",
        instead(ast.Compare, "False"),
        _FORGERIES,
    ),
    Fault("one of two tokens is taken", f"{_IDENTITY}:bearer_token", the_first_of_them, _REFUSALS),
    Fault(
        "the agent's answer to our own token is the user's",
        "turnwire.web.routes.agent_target:http_error_for_status",
        as_if_it_were_the_users,
        ("relay/agent/test_refused_handshakes.py",),
    ),
)
