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
    return AgentSession(known=known, keep=partial(turn_log.keep_session, key))
