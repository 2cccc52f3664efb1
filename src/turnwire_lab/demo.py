"""The demo: a reference agent, a gateway in front of it, and a line to paste.

The agent lives in this process, the gateway in a child. Both end when this does.
"""

import secrets
import shlex
import shutil
import sys
import time
from contextlib import AsyncExitStack
from typing import Final

import jwt

from turnwire_lab.agent.frames import Habits
from turnwire_lab.agent.server import ReferenceAgent
from turnwire_lab.gateway import Gateway, GatewayDown
from turnwire_lab.session_agent.habits import Habits as SessionHabits
from turnwire_lab.session_agent.habits import Revision
from turnwire_lab.session_agent.server import SessionAgent

TOKEN_LIFE_S: Final = 24 * 3600
SESSION: Final = "demo"
VISITOR: Final = "visitor"
"""A user; for the lab's agents, which let anybody in, a token too."""
PROMPT: Final = (
    '{"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"what is 12*7?"}]}]}'
)


async def demo(
    *,
    port: int,
    metrics_port: int,
    agent_port: int,
    pace_s: float,
    wire: str = "v2",
    revision: Revision = "V",
    opaque: bool = False,
) -> int:
    """Run until canceled; 1 if something does not start, or the gateway ends by itself."""
    key = secrets.token_hex(32)
    async with AsyncExitStack() as stack:
        try:
            agent: ReferenceAgent | SessionAgent
            if wire == "session-agent":
                habits = SessionHabits(revision=revision, pace_s=pace_s)
                agent = SessionAgent(habits, port=agent_port)
            else:
                agent = ReferenceAgent(Habits(pace_s=pace_s), port=agent_port)
            await stack.enter_async_context(agent)
            settings = {"TURNWIRE_DIALECT": wire, "TURNWIRE_ON_DISCONNECT": "grace"}
            if opaque:
                settings |= {
                    "TURNWIRE_AUTH": "opaque",
                    "TURNWIRE_ACCESS": "http",
                    "TURNWIRE_ACCESS_URL": agent.access_url,
                }
            gateway = await stack.enter_async_context(
                Gateway(
                    agent_url=agent.url,
                    jwt_key=key,
                    port=port,
                    metrics_port=metrics_port,
                    settings=settings,
                )
            )
        except GatewayDown as down:
            return _complain(str(down))
        except OSError as error:
            return _complain(f"The agent cannot listen on port {agent_port}: {error.strerror}.")
        token = VISITOR if opaque else new_token(key)
        print(banner(gateway.url, agent.url, token), flush=True)
        status = await gateway.ended()
        return _complain(f"The gateway ended by itself (exit {status}).")


def new_token(key: str) -> str:
    expires = int(time.time()) + TOKEN_LIFE_S
    claims = {"sub": VISITOR, "exp": expires, "sessions": {"*": "collaborator"}}
    return jwt.encode(claims, key, algorithm="HS256")


def banner(url: str, agent_url: str, token: str) -> str:
    curl = shlex.join(
        [
            *("curl", "-N", f"{url}/api/sessions/{SESSION}/chat"),
            *("-H", f"authorization: Bearer {token}"),
            *("-H", "content-type: application/json"),
            *("-d", PROMPT),
        ]
    )
    # Whoever has not activated the environment could not paste the short name.
    command = "turnwire-lab"
    if shutil.which(command) is None:
        command = shlex.join([sys.executable, "-m", "turnwire_lab"])
    # In the environment, not as an argument: those are for every user of the machine to see.
    chat = f"TURNWIRE_LAB_TOKEN={token} {command} chat --url {url} --session {SESSION}"
    return "\n".join(
        [
            "turnwire demo: an AI SDK chat with a small agent that has no model behind it.",
            "",
            f"  gateway  {url}  (POST /api/sessions/{SESSION}/chat)",
            f"  agent    {agent_url}",
            "",
            "A token for every session, good for 24 hours:",
            "",
            f"  export URL={url} TOKEN={token}",
            "",
            "See one answer on the wire:",
            "",
            f"  {curl}",
            "",
            "Talk to it:",
            "",
            f"  {chat}",
            "",
            "Ask it: what is 12*7? | what time is it in Tokyo? | search for tokens | think about",
            "rivers | make the tool fail | make the turn fail | say 5000 deltas | hang",
            "tell me a long story | ask me: tea or coffee? | approve 12*7 | send me a picture",
            "",
            "A turn goes on for 30 s when its page is reloaded or its connection breaks: who comes",
            "back sees all of it. To stop one, stop it: POST /stop, or Ctrl-C in the chat.",
            "",
            "Ctrl-C ends the demo. Below is what the gateway logs.",
            "",
        ]
    )


def _complain(words: str) -> int:
    print(f"turnwire-lab demo: {words}", file=sys.stderr, flush=True)
    return 1
