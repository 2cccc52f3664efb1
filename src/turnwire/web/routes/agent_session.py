"""Which of the agent's sessions belongs to a chat, where the agent names them itself."""

from functools import partial
from typing import Final

from turnwire.core.agent import Dialect
from turnwire.core.requests import AgentSession, Channel
from turnwire.relay.turn_log.port import chat_key
from turnwire.web.context import AppContext
from turnwire.web.routes.endpoint import RequestContext

NO_SESSION = AgentSession()
_UNKNOWN: Final = frozenset({400, 404})


async def find(app_context: AppContext, context: RequestContext, channel: Channel) -> AgentSession:
    """Return the session of a chat, and the way to keep another one for it."""
    turn_log, dialect = app_context.turn_log, app_context.dialect
    if turn_log is None or not dialect.names_sessions:
        return NO_SESSION
    if not dialect.keeps_history and not app_context.dialect_options.names_previous_response:
        return NO_SESSION
    key = chat_key(context.session_key, channel)
    known = await turn_log.session(key)
    return AgentSession(
        known=known,
        keep=partial(turn_log.keep_session, key),
        forget=partial(turn_log.forget_session, key),
    )


def forget_unknown(dialect: Dialect, session: AgentSession, dial_status: int | None) -> None:
    """Forget a session for which an agent over HTTP refused a request: it may know it no more.

    Which of the two refusals an agent means by that is its own choice.
    """
    if session.known is not None and dialect.transport == "http" and dial_status in _UNKNOWN:
        session.forget()


async def is_answer_under_way(
    app_context: AppContext, context: RequestContext, channel: Channel
) -> bool:
    """Return whether a resume brings the last answer, which such an agent tells in its history."""
    turn_log = app_context.turn_log
    if turn_log is None or not app_context.dialect.names_sessions:
        return False
    return await turn_log.has_undelivered(chat_key(context.session_key, channel))
