"""Authorization: which role a caller has in a session.

`Access` is the port. `ClaimsAccess` and `OpenAccess` implement it without I/O. The endpoints call
`require` before they do anything in a session.
"""

import enum
import re
from typing import Final, Protocol

from msgspec import Struct

from turnwire.errors import NotFound
from turnwire.web.auth.identity import Caller

_SESSION_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


class Role(enum.IntEnum):
    """The role of a user in a session. Each role includes the rights of the roles before it."""

    VIEWER = 0
    COLLABORATOR = 1
    OWNER = 2


class Grant(Struct, frozen=True):
    """The user id and the role of a caller in a session."""

    user_id: str
    role: Role


class Access(Protocol):
    """Looks up the role of a caller in a session."""

    async def grant(self, caller: Caller, session_id: str, request_id: str, /) -> Grant | None:
        """The caller's grant; None if the caller has no role there, or the session does not exist.

        `request_id` is passed on to the service that decides, for its logs.

        Raises:
            Unauthorized: the service that decides rejects the token.
            Unavailable: the service that decides gives no usable answer now.

        """
        ...


class ClaimsAccess:
    """Reads the role from the token's claim `sessions`.

    The claim has the form `{"<session_id>": "viewer|collaborator|owner"}`. The entry `"*"` holds
    for each session without an entry of its own. Only its owner may use an orchestrator session,
    and `"*"` does not count there.
    """

    async def grant(self, caller: Caller, session_id: str, _request_id: str) -> Grant | None:
        sessions = caller.claims.get("sessions")
        if not isinstance(sessions, dict) or caller.user_id is None:
            return None
        orchestrator = is_orchestrator(session_id)
        role_name = sessions.get(session_id, None if orchestrator else sessions.get("*"))
        role = ROLES.get(role_name) if isinstance(role_name, str) else None
        if role is None or (orchestrator and role is not Role.OWNER):
            return None
        return Grant(caller.user_id, role)


class OpenAccess:
    """Makes each user with a valid token the owner of each session. For demos on one machine."""

    async def grant(self, caller: Caller, _session_id: str, _request_id: str) -> Grant | None:
        return None if caller.user_id is None else Grant(caller.user_id, Role.OWNER)


ROLES: Final = {role.name.lower(): role for role in Role}
"""The roles by the names that tokens and control planes use."""


def is_session_id(text: str) -> bool:
    """Whether `text` can be the id of a session. Few characters are allowed: ids go into URLs."""
    return _SESSION_ID.fullmatch(text) is not None and text not in {".", ".."}


def is_orchestrator(session_id: str) -> bool:
    """Whether a session orchestrates the other sessions of its owner."""
    return session_id == "orchestrator" or session_id.startswith("orchestrator:")


async def require(
    access: Access, caller: Caller, session_id: str, min_role: Role, request_id: str
) -> Grant:
    """The caller's grant in a session, if its role is at least `min_role`.

    Raises:
        NotFound: the id is malformed, the session does not exist, the caller has no
            role in it, or a lower role. The client cannot see which of these holds.
        Unauthorized, Unavailable: raised by `access`.

    """
    if not is_session_id(session_id):
        raise NotFound("malformed session id")
    grant = await access.grant(caller, session_id, request_id)
    if grant is None:
        raise NotFound("no such session for this user")
    if grant.role < min_role:
        raise NotFound(f"needs {min_role.name.lower()}")
    return grant
