"""The plugin of pytest: each scenario is a test that passes, fails or is skipped."""

import asyncio
import sys
from pathlib import Path

import pytest

from gateway.faulty_ag_ui import HoldsTextBack

pytestmark = pytest.mark.sockets
PROMPTS = "--long-prompt 'be slow' --tool-prompt 'what is 12*7?' --dialect ag-ui"


async def run(folder: Path, *arguments: str) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "turnwire.cli.pytest_conform",
            "-p",
            "no:cacheprovider",
        ),
        *("-v", "--rootdir", str(folder), *arguments),
        cwd=folder,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_each_scenario_is_a_test(tmp_path: Path) -> None:
    only = f"{PROMPTS} --only one-turn many-deltas each-delta-once greets"
    async with HoldsTextBack() as agent:
        code, out = await run(tmp_path, "--turnwire-agent", agent.url, "--turnwire-conform", only)
    assert code == 1
    assert "1 failed, 1 passed, 2 skipped" in out
    assert "FAILED many-deltas\n  Tried:    send the long prompt" in out
    assert "Traceback" not in out


async def test_without_an_agent_it_adds_nothing(tmp_path: Path) -> None:
    code, out = await run(tmp_path)
    assert code == 5  # no tests
    assert "no tests ran" in out
