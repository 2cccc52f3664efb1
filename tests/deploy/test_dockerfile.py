"""The Dockerfile, as far as it can be seen without building it; image_check.py builds it."""

import re
import socket
import sys
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import DEPLOY, ROOT, run, tool
from gateway.process import Process

pytestmark = pytest.mark.timeout(180)

FILE: Final = DEPLOY / "docker/Dockerfile"
HEALTH: Final = DEPLOY / "docker/healthcheck.py"


def test_hadolint_finds_nothing() -> None:
    code, out, _ = run([tool("hadolint"), "--failure-threshold", "style", FILE])

    assert (code, out) == (0, "")


def test_the_context_has_what_is_copied_and_little_else() -> None:
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", FILE.read_text("utf-8"), re.MULTILINE)
        for source in line.split()[:-1]
    ]
    let_in = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines()
        if line[:1] == "!"
    }

    assert all((ROOT / source).exists() for source in copied)
    version = "src/turnwire/__init__.py"
    assert set(copied) == let_in | {version}
    assert str(Path(version).parent) in let_in


def test_every_lock_of_the_image_is_hashed_and_agrees_with_the_others() -> None:
    def pins(name: str) -> dict[str, str]:
        text = (ROOT / name).read_text(encoding="utf-8")
        found = dict(re.findall(r"^([a-z0-9_.\[\]-]+)==(\S+)", text, re.MULTILINE))
        assert text.count("--hash=sha256:") >= len(found) > 0
        return found

    runtime, image, lab, otel, agent = (
        pins(f"requirements{of}.txt") for of in ("", "-image", "-lab", "-otel", "-agent")
    )

    assert runtime.items() <= image.items() <= lab.items()
    assert runtime.items() <= otel.items()
    assert {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"} <= otel.keys()
    # pip takes both at once where they agree.
    assert all(image.get(name, version) == version for name, version in otel.items())
    assert {"redis"} <= image.keys() - runtime.keys()
    assert {"httpx", "psycopg[binary]", "pyjwt[crypto]"} <= agent.keys()
    assert all(lab.get(name, version) == version for name, version in agent.items())


@pytest.mark.sockets
async def test_the_health_check_tells_a_gateway_from_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = silent.getsockname()[1]
    async with Process() as gateway:
        asked = [sys.executable, "-I", HEALTH]
        alive = run(["env", "TURNWIRE_HOST=0.0.0.0", f"TURNWIRE_PORT={gateway.port}", *asked])
        # A proxy of the environment is no part of it.
        behind = run(
            ["env", "http_proxy=http://127.0.0.1:1", f"TURNWIRE_PORT={gateway.port}", *asked]
        )
        absent = run(["env", f"TURNWIRE_PORT={nobody}", *asked])

    assert alive == behind == (0, "", "")
    assert absent == (1, "", "")
