"""Without tracing a trace is passed on, and no library of it is loaded."""

import asyncio
import subprocess
import sys

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import is_whole, post
from gateway.process import environ
from gateway.running import Gateway

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("parent", "state", "passed_on"),
    [
        (PARENT, "vendor=x", {"traceparent": PARENT, "tracestate": "vendor=x"}),
        (PARENT, None, {"traceparent": PARENT}),
        (PARENT, "not a state", {"traceparent": PARENT}),
        ("00-malformed", "vendor=x", {}),
        (None, "vendor=x", {}),
    ],
)
async def test_without_tracing_the_trace_is_passed_on(
    parent: str | None, state: str | None, passed_on: dict[str, str]
) -> None:
    given = {"traceparent": parent, "tracestate": state}
    headers = {name: value for name, value in given.items() if value is not None}
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        response = await post(gateway, headers=headers)
        heard = agent.lines[0].headers

    assert is_whole(response.text)
    names = ("traceparent", "tracestate")
    assert {name: heard[name] for name in names if name in heard} == passed_on


async def test_without_the_extra_it_cannot_be_switched_on() -> None:
    hidden = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from turnwire.cli import main; code = main(['check'])\n"
        "del sys.modules['opentelemetry']\n"
        "sys.exit(code or any('opentelemetry' in name for name in sys.modules))"
    )
    for value, wanted in (("otlp", 1), ("off", 0)):
        ran = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", hidden],
            env=environ(tracing=value),
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == wanted
        expected = "turnwire: TURNWIRE_TRACING: `otlp` needs pip install 'turnwire[otel]'\n"
        assert ran.stderr == (expected if wanted else "")
