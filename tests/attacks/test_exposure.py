"""What listens, and what is on it; what an agent or a client can make the metrics hold."""

import random
import string
from pathlib import Path

import httpx
import pytest
from prometheus_client import generate_latest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, new_client
from gateway.process import Process
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.core.recording.drift import FINGERPRINTS_MAX
from turnwire.metrics import TYPES_MAX
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

HIDDEN = (
    *("/metrics", "/metrics/", "/docs", "/redoc", "/swagger", "/openapi.yaml", "/debug"),
    *("/debug/pprof", "/admin", "/.env", "/.git/config", "/server-status", "/favicon.ico"),
    *("/api", "/api/sessions", "/api/sessions/", "//metrics", "/./metrics", "/%6detrics/x"),
    *("/healthz/", "/healthz/../metrics", "/healthz%2f..%2fmetrics", "/static/x", "/%2e%2e/x"),
)
LISTENING = "0A"


@pytest.mark.attack(
    "looking for the metrics, a documentation page or a debugger on the public port",
    "404 for all that is not in the specification",
)
async def test_nothing_else_is_on_the_public_port() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway, new_client() as client:
        for path in HIDDEN:
            for method in ("GET", "POST", "TRACE"):
                url = httpx.URL(gateway.url, raw_path=path.encode())
                response = await client.request(method, url, headers=bearer())
                assert response.status_code in {404, 405}, (method, path)
                assert "turnwire_" not in response.text
        routes = (await client.get(f"{gateway.url}/openapi.json")).json()["paths"]

    assert not any("metrics" in path or "docs" in path for path in routes)


@pytest.mark.attack("scanning the ports of a gateway", "two ports, only on the configured address")
async def test_a_process_listens_on_two_ports() -> None:
    metrics_port = free_port()
    async with Process(metrics_port=metrics_port) as gateway:
        listens = _listening(gateway._process.pid)
        async with new_client() as client:
            on_metrics = [
                (await client.get(f"http://127.0.0.1:{metrics_port}/{path}")).text
                for path in ("api/sessions/s1/messages", "openapi.json")
            ]

    assert listens == {("127.0.0.1", gateway.port), ("127.0.0.1", metrics_port)}
    assert not any("requestId" in text or "openapi" in text for text in on_metrics)


def _listening(pid: int) -> set[tuple[str, int]]:
    """The addresses that a process listens on, as Linux tells them."""
    sockets = {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir()}
    found = set()
    for family in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{family}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and f"socket:[{fields[9]}]" in sockets:
                host, port = fields[1].split(":")
                octets = [str(int(host[i : i + 2], 16)) for i in (6, 4, 2, 0)]
                found.add((".".join(octets) if family == "tcp" else host, int(port, 16)))
    return found


def _series(gateway: Gateway) -> list[str]:
    lines = generate_latest(gateway.telemetry.registry).decode().splitlines()
    return [line for line in lines if not line.startswith("#") and "_created" not in line]


@pytest.mark.attack(
    "filling the metrics: 10,000 unknown frame types, ids and users",
    "at most 50 types have a label; ids and users never have one",
)
async def test_ten_thousand_types_and_many_users_make_few_series() -> None:
    dice = random.Random(7)  # noqa: S311 (dice of a test)
    kinds = ["".join(dice.choices(string.ascii_lowercase, k=12)) for _ in range(10_000)]
    batches = iter([kinds[i : i + 1_000] for i in range(0, len(kinds), 1_000)])

    async def strange(line: Line) -> None:
        await line.begin(line.path)
        await line.say(*({"type": kind} for kind in next(batches)))
        await line.say(frames.finalize(line.path))

    async with ScriptedAgent(strange) as agent, Gateway(agent.url()) as gateway:
        before = _series(gateway)
        async with new_client() as client:
            for number in range(10):
                url = f"{gateway.url}/api/sessions/session-{number}/chat"
                await client.post(url, json=ask(), headers=bearer(f"user-{number}"))
                await client.put(f"{gateway.url}/nowhere-{number}")
        text, series = generate_latest(gateway.telemetry.registry).decode(), _series(gateway)
        counted = sum(
            sample.value
            for metric in gateway.telemetry.unrecognised.collect()
            for sample in metric.samples
            if sample.name.endswith("_total")
        )

    unknown = [line for line in series if line.startswith("turnwire_frames_unrecognised_total{")]
    assert 1 < len(unknown) <= TYPES_MAX + 1
    # Of drift there are as many fingerprints, and one for the rest; few others come with traffic.
    assert len(series) - len(before) <= len(unknown) + FINGERPRINTS_MAX + 1 + 20
    assert counted == 10_000
    assert not any(word in text for word in ("session-", "user-", "nowhere", "turn-1"))
