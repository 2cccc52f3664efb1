"""The command line of the lab: what each command is for, and what its options mean.

It reads arguments and the environment and hands them down; it decides nothing else.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Collection, Sequence
from importlib.metadata import version
from pathlib import Path

from turnwire.cli.arguments import parse_arguments
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits as AgUiHabits
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, SHOWN_TOO
from turnwire_lab.agents.session_agent.habits import REVISIONS
from turnwire_lab.agents.session_agent.habits import Habits as SessionHabits
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.agents.v2.frames import BOTH, Habits, Spelling
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.bench.command import add_options as add_bench_options
from turnwire_lab.bench.command import from_options as bench
from turnwire_lab.chat.talk import chat
from turnwire_lab.demo import demo
from turnwire_lab.running import run

HIGHEST_PORT = 65535
BY_MAKE = "TURNWIRE_LAB_MAKE"
"""Set where `make demo` runs us, which takes our options as its ARGS."""


def main(argv: Sequence[str] | None = None) -> int:
    """0 when all went well, 1 when something failed, 2 when the command line was wrong."""
    try:
        asked = parse_arguments(*_parser(), argv)
    except SystemExit as stop:  # argparse has printed the reason
        return stop.code if isinstance(stop.code, int) else 2
    try:
        match asked.command:
            case "agent":
                return run(_agent(asked))
            case "demo":
                if asked.opaque and (asked.wire == "ag-ui" or asked.framework):
                    print("turnwire-lab demo: --opaque: this agent knows no users", file=sys.stderr)
                    return 2
                if asked.model and (asked.wire != "v2" or asked.framework or asked.opaque):
                    print("turnwire-lab demo: --model: its agent is the runtime", file=sys.stderr)
                    return 2
                return run(
                    demo(
                        port=asked.port,
                        metrics_port=asked.metrics_port,
                        agent_port=asked.agent_port,
                        page_port=asked.page_port,
                        site_port=asked.site_port,
                        pace_s=asked.pace,
                        wire=asked.wire,
                        revision=asked.revision,
                        framework=asked.framework,
                        model=asked.model,
                        folder=asked.folder,
                        opaque=asked.opaque,
                        by_make=BY_MAKE in os.environ,
                    )
                )
            case "bench":
                return bench(asked)
            case _:
                return chat(
                    url=asked.url,
                    session=asked.session,
                    token=asked.token or os.environ.get("TURNWIRE_LAB_TOKEN"),
                    once=asked.once,
                )
    except KeyboardInterrupt:
        return 1


async def _agent(asked: argparse.Namespace) -> int:
    agent: AgUiAgent | ReferenceAgent | SessionAgent
    spoken = asked.wire
    match asked.wire:
        case "session-agent":
            session_habits = SessionHabits(revision=asked.revision, pace_s=asked.pace)
            agent = SessionAgent(session_habits, host=asked.host, port=asked.port)
            spoken = f"{asked.wire} as of {asked.revision}"
        case "ag-ui":
            agent = AgUiAgent(AgUiHabits(pace_s=asked.pace), host=asked.host, port=asked.port)
        case _:
            agent = ReferenceAgent(_habits(asked), host=asked.host, port=asked.port)
    try:
        async with agent:
            print(f"The reference agent speaks {spoken} at {agent.url}", flush=True)
            print("Ctrl-C ends it.", flush=True)
            await asyncio.get_running_loop().create_future()
    except OSError as error:
        print(f"turnwire-lab agent: cannot listen: {error.strerror}", file=sys.stderr)
    return 1


def _habits(asked: argparse.Namespace) -> Habits:
    spellings: tuple[Spelling, ...] = BOTH if asked.spellings == "both" else (asked.spellings,)
    return Habits(
        pace_s=asked.pace,
        spellings=spellings,
        prompt_ids=asked.prompt_id,
        init=asked.init,
        noise=asked.noise,
    )


def _parser() -> tuple[argparse.ArgumentParser, Collection[str]]:
    parser = argparse.ArgumentParser(
        prog="turnwire-lab",
        description="Try the turnwire gateway without a product behind it: an agent to talk to, "
        "a demo that starts everything, a chat for the terminal, a benchmark.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('turnwire')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    summary = "start an agent and a gateway on this machine and print how to talk to them"
    command = commands.add_parser("demo", help=summary, description=_sentence(summary))
    command.add_argument("--port", type=_port, default=8787, help="of the gateway (8787; 0: any)")
    command.add_argument(
        "--metrics-port", type=_port, default=9787, help="of its metrics (9787; 0: none)"
    )
    command.add_argument("--agent-port", type=_port, default=0, help="of the agent (0: any)")
    command.add_argument(
        "--page-port", type=_port, default=8786, help="of the page (8786, or any if it is taken)"
    )
    command.add_argument(
        "--site-port",
        type=_port,
        default=8785,
        help="of the site with the widget (8785, or any if it is taken)",
    )
    _add_pace(command)
    _add_wire(command)
    command.add_argument(
        "--framework",
        choices=(*FRAMEWORKS, *SHOWN_TOO),
        help="this example of examples/agents instead of the lab's own agent",
    )
    command.add_argument(
        "--model",
        help="a model behind turnwire-agent, whose process may be killed: PROVIDER:MODEL, with its "
        "key in the environment, or local",
    )
    command.add_argument(
        "--folder",
        type=Path,
        help="with --model: where its sessions stay (turnwire-lab in XDG_STATE_HOME)",
    )
    command.add_argument(
        "--opaque",
        action="store_true",
        help="let the agent's access route say who a token's user is, instead of a signed token",
    )

    summary = "run a reference agent alone: a server that speaks one of the wires"
    command = commands.add_parser("agent", help=summary, description=_sentence(summary))
    command.add_argument(
        "--host",
        default="127.0.0.1",
        help="address to listen on (127.0.0.1; whoever reaches it may use it)",
    )
    command.add_argument("--port", type=_port, default=8788, help="(8788; 0: any)")
    _add_pace(command)
    _add_wire(command)
    command.add_argument(
        "--told",
        dest="spellings",
        choices=("both", *BOTH),
        default="both",
        help="v2: the frames that tell a delta: chunk, message.part.text-delta, or both (both)",
    )
    for name, words in (
        ("prompt-id", "leave promptId out of all frames, as older agents do"),
        ("init", "say no init when a socket opens"),
        ("noise", "send only what a turn needs, no hydration or domain frames"),
    ):
        dest = name.replace("-", "_")
        command.add_argument(f"--no-{name}", dest=dest, action="store_false", help=f"v2: {words}")

    summary = "chat in the terminal with an agent behind a gateway"
    command = commands.add_parser(
        "chat",
        help=summary,
        description=(
            f"{_sentence(summary)} Prompts come from the keyboard, or one a line from a pipe."
        ),
    )
    command.add_argument(
        "--url", default="http://127.0.0.1:8787", help="of the gateway (http://127.0.0.1:8787)"
    )
    command.add_argument("--session", default="demo", help="session to talk to (demo)")
    command.add_argument(
        "--token", help="bearer token (the variable TURNWIRE_LAB_TOKEN if not given)"
    )
    command.add_argument(
        "--once", metavar="TEXT", help="ask this, print the answer, leave; exit 1 if it failed"
    )

    summary = "measure the gateway and others like it, on this machine"
    add_bench_options(commands.add_parser("bench", help=summary, description=_sentence(summary)))
    return parser, commands.choices


def _add_pace(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--pace", type=_seconds, default=0.02, help="seconds between two deltas (0.02)"
    )


def _add_wire(command: argparse.ArgumentParser) -> None:
    wires = ("v2", "session-agent", "ag-ui")
    command.add_argument("--wire", choices=wires, default="v2", help="what the agent speaks (v2)")
    command.add_argument(
        "--revision",
        choices=REVISIONS,
        default="V",
        help="session-agent: as of February (R), April (A) or July 2026 (V)",
    )


def _sentence(summary: str) -> str:
    return f"{summary[0].upper()}{summary[1:]}."


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) <= HIGHEST_PORT):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {HIGHEST_PORT}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError("seconds are a number, 0 or more")
    return seconds
