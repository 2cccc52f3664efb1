"""The demo: everything on one stage, and lines to paste."""

import asyncio
import shlex
import shutil
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

from turnwire_lab.agents.ag_ui import brain
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits as AgUiHabits
from turnwire_lab.agents.frameworks.agent import AgentDown, FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import LOCAL_MODEL, LOCAL_PROMPTS, PROMPTS
from turnwire_lab.agents.session_agent.habits import Habits as SessionHabits
from turnwire_lab.agents.session_agent.habits import Revision
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.embed.site import BUILT, Site
from turnwire_lab.gateway import Gateway, GatewayDown, PortTaken
from turnwire_lab.runtime import steering
from turnwire_lab.runtime.process import RuntimeAgent, state_folder
from turnwire_lab.stage import SESSION, Agent, Prompts, Stage, new_token

__all__ = ["banner", "demo", "new_token"]

STOPPED: Final = frozenset({0, -signal.SIGINT, -signal.SIGTERM})
"""Exit codes of a gateway that was stopped on purpose."""
ROUND: Final = 65_000
"""There is a port ten above each one below this."""
REST_S: Final = 1.0
"""Between the death of a gateway and its next start."""
NO_PAGE: Final = "not built: that needs Node 20 (`make page`). The chat below needs nothing."
NO_SITE: Final = "not built: that needs Node 20 (`make widget`)."
TRIES: Final = (
    "what is 12*7? | what time is it in Tokyo? | search for tokens | think about rivers\n"
    "  make the tool fail | make the turn fail | say 5000 deltas | hang\n"
    "  tell me a long story | ask me: tea or coffee? | approve 12*7 | send me a picture"
)
WITHOUT_MODEL: Final = (
    "turnwire demo: an AI SDK chat with a small agent that has no model behind it.\n"
    "With a model, and an agent whose process may be killed: make demo MODEL=local, or\n"
    "MODEL=anthropic:claude-sonnet-4-5 with its key in the environment."
)
KILLABLE: Final = (
    'Under "Break something" the page can kill the agent\'s process: the turn that runs goes on.'
)
PROMPT: Final = (
    '{"messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"what is 12*7?"}]}]}'
)


async def demo(
    *,
    port: int,
    metrics_port: int,
    agent_port: int,
    page_port: int,
    site_port: int,
    pace_s: float,
    wire: str = "v2",
    revision: Revision = "V",
    framework: str | None = None,
    model: str | None = None,
    folder: Path | None = None,
    opaque: bool = False,
    by_make: bool = False,
) -> int:
    """Run until canceled; 1 if something does not start, or the gateway was stopped.

    `framework` is that of an agent in `examples/agents`, which has a wire of its own. `model` is
    `local` or PROVIDER:MODEL, behind the agent runtime; its sessions stay in `folder`.
    """
    agent: Agent
    prompts: Prompts = ()
    if framework is not None:
        agent = FrameworkAgent(framework, port=agent_port, log=None, offline=False)
        wire = agent.wire
        prompts = LOCAL_PROMPTS if framework == LOCAL_MODEL else PROMPTS
    elif model is not None:
        agent = RuntimeAgent(model, folder=folder or state_folder(), port=agent_port)
        prompts = steering.PROMPTS
    elif wire == "ag-ui":
        agent = AgUiAgent(AgUiHabits(pace_s=pace_s), port=agent_port)
        prompts = brain.PROMPTS
    elif wire == "session-agent":
        agent = SessionAgent(SessionHabits(revision=revision, pace_s=pace_s), port=agent_port)
    else:
        agent = ReferenceAgent(Habits(pace_s=pace_s), port=agent_port)
    async with AsyncExitStack() as stack:
        try:
            stage = await stack.enter_async_context(
                Stage(
                    agent,
                    wire=wire,
                    port=port,
                    metrics_port=metrics_port,
                    page_port=page_port,
                    site=Site(site_port) if BUILT.is_file() else None,
                    opaque=opaque,
                    holds_log=True,
                    prompts=prompts,
                )
            )
        except PortTaken as taken:
            option = f"{taken.option} {taken.port + (10 if taken.port < ROUND else -10)}"
            way = f'make demo ARGS="{option}"' if by_make else f"turnwire-lab demo {option}"
            return _complain(f"{taken} Choose another: {way}")
        except (AgentDown, GatewayDown) as down:
            return _complain(str(down))
        except OSError as error:
            return _complain(f"The agent cannot listen on port {agent_port}: {error.strerror}.")
        page = None if stage.page is None else stage.page.url
        site = None if stage.site is None else stage.site.origin
        tries = " | ".join(prompt for prompt, _ in prompts) or TRIES
        head = WITHOUT_MODEL
        if isinstance(agent, FrameworkAgent | RuntimeAgent):
            head = f"turnwire demo: an AI SDK chat before {agent.title}."
        if isinstance(agent, RuntimeAgent) and page is not None:
            head += f"\n{KILLABLE}"
        print(
            banner(stage.gateway.url, agent.url, stage.token, page, site, tries, head), flush=True
        )
        stage.gateway.tell_log()
        return await _supervised(stage.gateway)


async def _supervised(gateway: Gateway) -> int:
    """Start it anew whenever it dies, as a supervisor would; end with one that ends well."""
    while (status := await gateway.ended()) not in STOPPED:
        _complain(f"The gateway died (exit {status}). It is started anew in {REST_S:g} s.")
        await asyncio.sleep(REST_S)
        try:
            await gateway.restart()
        except GatewayDown as down:
            return _complain(str(down))
        print("turnwire-lab demo: The gateway is back.", file=sys.stderr, flush=True)
    return _complain(f"The gateway ended by itself (exit {status}).")


def banner(
    url: str,
    agent_url: str,
    token: str,
    page: str | None,
    site: str | None,
    tries: str = TRIES,
    head: str = WITHOUT_MODEL,
) -> str:
    curl = shlex.join(
        [
            *("curl", "-sN", f"{url}/api/sessions/{SESSION}/chat"),
            *("-H", f"authorization: Bearer {token}"),
            *("-H", "content-type: application/json"),
            *("-d", PROMPT),
        ]
    )
    # Without an activated environment the short name would not be found.
    command = "turnwire-lab"
    if shutil.which(command) is None:
        command = shlex.join([sys.executable, "-m", "turnwire_lab"])
    # In the environment, not as an argument: those are for every user of the machine to see.
    chat = f"TURNWIRE_LAB_TOKEN={token} {command} chat --url {url} --session {SESSION}"
    return "\n".join(
        [
            head,
            "",
            f"  page     {page or NO_PAGE}",
            f"  gateway  {url}  (POST /api/sessions/{SESSION}/chat)",
            f"  agent    {agent_url}",
            f"  widget   {site or NO_SITE}",
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
            "Ask it:",
            f"  {tries}",
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
