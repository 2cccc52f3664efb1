"""Everything the demo plays with: agent, line, gateway, page, site, started and ended together.

The agent, the line, the page's server and the site's live in this process, the gateway in a child.
"""

import asyncio
import secrets
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

import jwt

from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.embed.site import Site
from turnwire_lab.gateway import Gateway, GatewayDown
from turnwire_lab.page.serving import BUILT, Page, Setup
from turnwire_lab.runtime.process import RuntimeAgent
from turnwire_lab.service import Service
from turnwire_lab.wiretap.harm import FAULTS, KILLED, Fault, Harm
from turnwire_lab.wiretap.http_line import HttpLine
from turnwire_lab.wiretap.line import Line
from turnwire_lab.wiretap.wire import Wire

TOKEN_LIFE_S: Final = 24 * 3600
SESSION: Final = "demo"
SITE_SESSION: Final = "widget"
VISITOR: Final = "visitor"
"""A user; for the lab's agents, which let anybody in, a token too."""
PATIENCE: Final[Mapping[str, str]] = MappingProxyType(
    {"TURNWIRE_IDLE_S": "12", "TURNWIRE_STALL_S": "6", "TURNWIRE_KEEPALIVE_S": "5"}
)
"""Shorter than in production, so that a visitor sees in seconds how a fault ends."""

Agent = AgUiAgent | FrameworkAgent | ReferenceAgent | RuntimeAgent | SessionAgent
Prompts = tuple[tuple[str, str], ...]
"""What a visitor may ask, and what comes of it."""


class Stage(Service):
    """`async with Stage(agent) as stage:` plays until the block is left."""

    def __init__(
        self,
        agent: Agent,
        *,
        wire: str = "v2",
        port: int = 0,
        metrics_port: int = 0,
        page_port: int = 0,
        site: Site | None = None,
        opaque: bool = False,
        holds_log: bool = False,
        settings: Mapping[str, str] = PATIENCE,
        built: Path = BUILT,
        prompts: Prompts = (),
    ) -> None:
        self.agent = agent
        self.page: Page | None = None
        """None where the page was not built."""
        self.site = site
        """None where the widget was not built."""
        self._wire = wire
        self._ports = port, metrics_port, page_port
        self._opaque = opaque
        self._holds_log = holds_log
        self._settings = settings
        self._built = built
        self._prompts = prompts
        self._restart = asyncio.Event()

    async def _start(self, stack: AsyncExitStack) -> None:
        """Start all of it.

        Raises:
            AgentDown: the agent of a framework, or the runtime, does not start.
            GatewayDown: the gateway does not start.
            OSError: the agent cannot listen; page and site choose another port.

        """
        port, metrics_port, page_port = self._ports
        key = secrets.token_hex(32)
        self._key = key
        self.token = self.new_token()
        if self.site is not None:
            stack.callback(self.site.close)
        await stack.enter_async_context(self.agent)
        wire = Wire()
        killable = self.agent if isinstance(self.agent, RuntimeAgent) else None
        kill = None if killable is None else partial(_kill, killable, wire)
        harm = Harm(self._restart.set, kill)
        line: HttpLine | Line
        if self.agent.url.startswith("http:"):
            line = HttpLine(self.agent.url, wire, harm)
        else:
            line = Line(self.agent.url, wire, harm)
        await stack.enter_async_context(line)
        self.gateway = await stack.enter_async_context(
            Gateway(
                agent_url=line.url,
                jwt_key=key,
                port=port,
                metrics_port=metrics_port,
                settings=self._gateway_settings(),
                holds_log=self._holds_log,
            )
        )
        restarting = asyncio.create_task(self._restarts())
        stack.push_async_callback(_ended, restarting)
        if (self._built / "index.html").is_file():
            self.page = Page(
                gateway_url=self.gateway.url,
                setup=self._setup(),
                wire=wire,
                harm=harm,
                port=page_port,
                built=self._built,
            )
            await stack.enter_async_context(self.page)
        if self.site is not None:
            self.site.tell(gateway_url=self.gateway.url, session=SITE_SESSION, token=self.token)
            await stack.enter_async_context(self.site)

    def new_token(self, life_s: int = TOKEN_LIFE_S) -> str:
        """A token of the demo's visitor; one of a negative life is over already."""
        return VISITOR if self._opaque else new_token(self._key, life_s)

    def _setup(self) -> Setup:
        agent = self.agent
        return Setup(
            token=self.token,
            session=SESSION,
            wire=self._wire,
            agent=agent.title if isinstance(agent, FrameworkAgent | RuntimeAgent) else "",
            prompts=self._prompts,
            faults=self._faults(),
        )

    def _faults(self) -> tuple[Fault, ...]:
        # What makes a client slow is a flood, which other agents are not asked for.
        floods = isinstance(self.agent, ReferenceAgent | SessionAgent)
        faults = tuple(each for each in FAULTS if floods or each != "slow-client")
        return (KILLED, *faults) if isinstance(self.agent, RuntimeAgent) else faults

    def _gateway_settings(self) -> dict[str, str]:
        settings = {
            "TURNWIRE_DIALECT": self._wire,
            "TURNWIRE_ON_DISCONNECT": "grace",
            "TURNWIRE_SIGNING_KEYS": secrets.token_hex(32),
            **self._settings,
        }
        if isinstance(self.agent, FrameworkAgent):
            settings["TURNWIRE_HISTORY"] = self.agent.history
            settings |= self.agent.settings
        if self.site is not None:
            settings["TURNWIRE_CORS_ORIGINS"] = self.site.origin
        if self._opaque:
            assert isinstance(self.agent, ReferenceAgent | SessionAgent)
            settings |= {
                "TURNWIRE_AUTH": "opaque",
                "TURNWIRE_ACCESS": "http",
                "TURNWIRE_ACCESS_URL": self.agent.access_url,
            }
        return settings

    async def _restarts(self) -> None:
        """Restart the gateway whenever that is the fault that is played."""
        while await self._restart.wait():
            self._restart.clear()
            await self.gateway.restart()


def _kill(agent: RuntimeAgent, wire: Wire, session: str) -> None:
    """Kill the agent's process in the view of a session."""
    agent.tell = partial(wire.note, session)
    agent.kill()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait({task})


def new_token(key: str, life_s: int = TOKEN_LIFE_S) -> str:
    expires = int(time.time()) + life_s
    claims = {"sub": VISITOR, "exp": expires, "sessions": {"*": "collaborator"}}
    return jwt.encode(claims, key, algorithm="HS256")


__all__ = ["Agent", "GatewayDown", "Prompts", "Stage", "new_token"]
