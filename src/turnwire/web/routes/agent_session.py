"""Which of the agent's sessions belongs to a chat, where the agent names them itself."""

from functools import partial

from turnwire.core.requests import AgentSession, Channel
from turnwire.relay.turn_log.port import chat_key
from turnwire.web.context import AppContext
from turnwire.web.routes.endpoint import RequestContext

NO_SESSION = AgentSession()


async def find(app_context: AppContext, context: RequestContext, channel: Channel) -> AgentSession:
    """Return the session of a chat, and the way to keep another one for it."""
    turn_log = app_context.turn_log
    if turn_log is None or not app_context.dialect.names_sessions:
        return NO_SESSION
    key = chat_key(context.session_key, channel)
    known = await turn_log.session(key)
    return AgentSession(
        known=known,
        keep=partial(turn_log.keep_session, key),
        forget=partial(turn_log.forget_session, key),
    )


async def is_answer_under_way(
    app_context: AppContext, context: RequestContext, channel: Channel
) -> bool:
    """Return whether a resume brings the last answer, which such an agent tells in its history."""
    turn_log = app_context.turn_log
    if turn_log is None or not app_context.dialect.names_sessions:
        return False
    return await turn_log.has_undelivered(chat_key(context.session_key, channel))
