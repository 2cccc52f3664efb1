"""Records what Hermes and LiteLLM's proxy send, on both wires of OpenAI.

    PYTHONPATH=tests .venv/bin/python -m agents.record_served

The bodies come to tests/golden/openai-*, with ids and times replaced. Where a server cuts a text
into pieces differs from run to run, so this is not part of `make agents`.
"""

import asyncio
import re
import tempfile
from pathlib import Path
from typing import Any, Final

from agents.normal import Normal
from agents.record import ask
from agents.served import AGENT_KEY, UPSTREAM, served

GOLDEN: Final = Path(__file__).parents[1] / "golden"
PROMPTS: Final = {
    "hermes": {"text": "say hello", "tool": "run it", "cut": "break off"},
    "litellm": {"reasoning": "think", "tools": "two tools", "cut": "break off"},
}
ROUTES: Final = {"openai-chat": "chat/completions", "openai-responses": "responses"}
_ID: Final = re.compile(r"\b(chatcmpl|resp|msg|rs|fc|fco|call|req)([-_])[\w-]{12,}=*")


def body(wire: str, model: str, prompt: str) -> dict[str, Any]:
    """A request with one prompt."""
    asked = {"model": model, "stream": True}
    if wire == "openai-responses":
        return asked | {"input": prompt}
    messages = [{"role": "user", "content": prompt}]
    return asked | {"messages": messages, "stream_options": {"include_usage": True}}


def replaced(text: str) -> str:
    """The same body with other ids and times: each id is another one, the same as before."""
    ids: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        return ids.setdefault(found[0], f"{found[1]}{found[2]}{len(ids) + 1}")

    return Normal().text(_ID.sub(other, text))


def record(name: str, home: Path) -> None:
    """Ask one server everything, and keep what it answers."""
    with served(name, home, UPSTREAM / f"{name}.json") as server:
        model = dict(server.agent.settings)["TURNWIRE_AGENT_MODEL"]
        for wire, route in ROUTES.items():
            for scenario, prompt in PROMPTS[name].items():
                url = f"{server.agent.url}/{route}"
                answer = asyncio.run(ask(url, body(wire, model, prompt), AGENT_KEY))
                path = GOLDEN / wire / f"{name}-recorded-{scenario}.body"
                path.write_text(replaced(answer["body"]), encoding="utf-8")


if __name__ == "__main__":
    for server in PROMPTS:
        with tempfile.TemporaryDirectory() as home:
            record(server, Path(home))
