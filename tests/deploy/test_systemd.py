"""The units: known keys, little exposure, enough time, an end of starts, a gateway under one."""

import ctypes
import re
import socket
import sys
from pathlib import Path
from typing import Final

import pytest

from deploy.parts import DEPLOY, NO_NEW_CODE, env_file, run
from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client
from gateway.needed import program
from gateway.process import Process
from gateway.tokens import bearer
from turnwire.config.settings import Settings

pytestmark = pytest.mark.timeout(180)

UNIT: Final = DEPLOY / "systemd/turnwire.service"
AGENT: Final = DEPLOY / "systemd/turnwire-agent.service"
EXPOSURE: Final = 15
"""Tenths of systemd's scale from 0 to 10. What is left: it is on the network, and sees files."""


@pytest.fixture(name="unit")
def unit_(tmp_path: Path) -> Path:
    """The unit with a program that is here."""
    here = Path(sys.prefix) / "bin/turnwire"
    text = UNIT.read_text(encoding="utf-8").replace("/opt/turnwire/bin/turnwire", str(here))
    path = tmp_path / UNIT.name
    path.write_text(text, encoding="utf-8")
    return path


def test_systemd_knows_every_key(unit: Path) -> None:
    # It exits with 0 also where it has something to say.
    assert run([program("systemd-analyze"), "verify", unit]) == (0, "", "")

    unit.write_text(unit.read_text().replace("LimitNOFILE=", "LimitNOFILES="))
    assert "LimitNOFILES" in run([program("systemd-analyze"), "verify", unit])[2]


def test_little_is_exposed(unit: Path) -> None:
    rate = [program("systemd-analyze"), "security", "--offline=true", f"--threshold={EXPOSURE}"]

    code, out, _ = run([*rate, unit])
    assert code == 0, out

    bare = re.sub(r"(?m)^(Protect|Private|Restrict)\w+=.*$", "", unit.read_text())
    unit.write_text(bare)
    assert run([*rate, unit])[0] != 0


def test_it_has_the_time_and_the_descriptors_that_its_turns_need() -> None:
    text = UNIT.read_text(encoding="utf-8")
    values = env_file(DEPLOY / "systemd/turnwire.env")

    def number(key: str) -> int:
        return int(re.findall(rf"^{key}=(\d+)$", text, re.MULTILINE)[0])

    takes_s = (
        float(values["TURNWIRE_LAMEDUCK_S"])
        + float(values["TURNWIRE_DRAIN_S"])
        + Settings().stall_s
        + 7
    )
    assert takes_s <= number("TimeoutStopSec") <= takes_s + 60
    assert number("LimitNOFILE") > 2 * Settings().max_streams


@pytest.mark.sockets
def test_an_agent_waits_for_its_journal_and_not_for_settings_that_are_wrong(tmp_path: Path) -> None:
    unit = AGENT.read_text(encoding="utf-8")
    (final,) = re.findall(r"^RestartPreventExitStatus=(\d+)$", unit, re.MULTILINE)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    journal = tmp_path / "journal"
    serve = [Path(sys.prefix) / "bin/turnwire-agent", "serve", DEPLOY / "systemd/agent.toml"]
    for name in ("agent_token", "model_key"):
        (tmp_path / name).write_text("0123456789abcdef0123456789abcdef\n")
        serve += [f"--{name.split('_')[1]}-file", tmp_path / name]
    serve += ["--journal-file", journal]

    journal.write_text(f"postgresql://nobody@127.0.0.1:{port}/none\n")
    absent, _, why_absent = run(serve)
    journal.write_text("none\n")
    wrong, _, why_wrong = run(serve)

    assert absent not in {0, int(final)}, why_absent
    assert "Postgres" in why_absent
    assert wrong == int(final), why_wrong
    assert "StartLimitIntervalSec=0" in unit  # so that only the exit code ends its starts


@pytest.mark.sockets
async def test_it_lives_without_making_code_at_run_time() -> None:
    if ctypes.CDLL(None).prctl(66, 0, 0, 0, 0) < 0:
        pytest.skip("this kernel is older than 6.3, and has no PR_SET_MDWE")
    async with ScriptedAgent() as agent:
        gateway = Process(agent.url())
        gateway._command = (sys.executable, "-c", NO_NEW_CODE, *gateway._command)
        async with gateway, new_client() as client:
            answer = await client.post(
                f"{gateway.url}/api/sessions/s1/chat", json=ask(), headers=bearer()
            )

    assert is_whole(answer.text)
