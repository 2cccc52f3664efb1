"""May this caller use this session? A port, and the two answers that need nobody else."""

import enum
import re
from typing import Final, Protocol

from msgspec import Struct

from turnwire.errors import NotFound
from turnwire.web.identity import Caller

_SESSION_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


class Role(enum.IntEnum):
    """What a user is in a session. Each may do what the ones before it may."""

    VIEWER = 0
    COLLABORATOR = 1
    OWNER = 2


class Grant(Struct, frozen=True):
    """Who the caller is in a session."""

    user_id: str
    role: Role


class Access(Protocol):
    """Says who a caller is in a session."""

    async def grant(self, caller: Caller, session_id: str, request_id: str, /) -> Grant | None:
        """What this caller is there; None if nothing, or if there is no such session.

        The request's id is for whoever else is asked about it.

        Raises:
            Unauthorized: the token is not good after all.
            Unavailable: it cannot be told now.

        """
        ...


class ClaimsAccess:
    """The token's `sessions` claim says it: `{"<session_id>": "viewer|collaborator|owner"}`.

    `"*"` stands for any session; the session's own entry wins. An orchestrator
    session is its owner's alone, so `"*"` does not reach it.
    """

    async def grant(self, caller: Caller, session_id: str, _request_id: str) -> Grant | None:
        sessions = caller.claims.get("sessions")
        if not isinstance(sessions, dict) or caller.user_id is None:
            return None
        orchestrator = is_orchestrator(session_id)
        named = sessions.get(session_id, None if orchestrator else sessions.get("*"))
        role = ROLES.get(named) if isinstance(named, str) else None
        if role is None or (orchestrator and role is not Role.OWNER):
            return None
        return Grant(caller.user_id, role)


class OpenAccess:
    """Everybody with a valid token may do everything. For demos on this machine."""

    async def grant(self, caller: Caller, _session_id: str, _request_id: str) -> Grant | None:
        return None if caller.user_id is None else Grant(caller.user_id, Role.OWNER)


ROLES: Final = {role.name.lower(): role for role in Role}
"""By the names that tokens and control planes use."""


def is_session_id(given: str) -> bool:
    """Whether this can be the id of a session: it goes into a URL, so little is allowed."""
    return _SESSION_ID.fullmatch(given) is not None and given not in {".", ".."}


def is_orchestrator(session_id: str) -> bool:
    """Whether a session orchestrates its owner's other sessions."""
    return session_id == "orchestrator" or session_id.startswith("orchestrator:")


async def require(
    access: Access, caller: Caller, session_id: str, least: Role, request_id: str
) -> Grant:
    """The caller's grant in a session, if it is enough.

    Raises:
        NotFound: the id is malformed, there is no such session, it is not the
            caller's, or the role is not enough. The client cannot tell which.
        Unauthorized, Unavailable: whoever is asked about it says so.

    """
    if not is_session_id(session_id):
        raise NotFound("malformed session id")
    grant = await access.grant(caller, session_id, request_id)
    if grant is None:
        raise NotFound("no such session for this user")
    if grant.role < least:
        raise NotFound(f"needs {least.name.lower()}")
    return grant
