"""The plugin of pytest: each scenario is a test that passes, fails or is skipped."""

import asyncio
import sys
from pathlib import Path

import pytest

from gateway.faulty_ag_ui import HoldsTextBack

pytestmark = pytest.mark.sockets
PROMPTS = "--long-prompt 'be slow' --tool-prompt 'what is 12*7?' --dialect ag-ui"
LOADED = """
import sys

def test_what_is_loaded():
    assert [name for name in sys.modules if name.startswith("turnwire")] == {loaded!r}
"""


async def run(folder: Path, *arguments: str) -> tuple[int | None, str]:
    """Run pytest in a folder of its own, where turnwire is known by its entry point alone."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:cov"),
        *("-p", "no:schemathesis"),  # a second for its plugin
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


async def test_the_scenarios_are_beside_the_tests_of_its_user(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")
    only = f"{PROMPTS} --only one-turn"
    async with HoldsTextBack() as agent:
        code, out = await run(tmp_path, "--turnwire-agent", agent.url, "--turnwire-conform", only)
    assert code == 0
    assert "test_own.py::test_own PASSED" in out
    assert "turnwire-one-turn PASSED" in out


async def test_without_an_agent_it_adds_nothing(tmp_path: Path) -> None:
    code, out = await run(tmp_path)
    assert code == 5  # no tests
    assert "no tests ran" in out


async def test_without_an_agent_it_loads_nothing(tmp_path: Path) -> None:
    loaded = ["turnwire", "turnwire.pytest_plugin"]
    (tmp_path / "test_loaded.py").write_text(LOADED.format(loaded=loaded))
    code, out = await run(tmp_path)
    assert code == 0, out


async def test_the_plugin_may_be_named_too(tmp_path: Path) -> None:
    named = ("-p", "turnwire.cli.pytest_conform")
    only = f"{PROMPTS} --only one-turn"
    assert (await run(tmp_path, *named))[0] == 5
    async with HoldsTextBack() as agent:
        its = ("--turnwire-agent", agent.url, "--turnwire-conform", only)
        code, out = await run(tmp_path, *named, *its)
    assert code == 0
    assert out.count("turnwire-one-turn PASSED") == 1


async def test_several_workers_do_not_play_against_one_agent(tmp_path: Path) -> None:
    code, out = await run(tmp_path, "--turnwire-agent", "http://127.0.0.1:9", "-n", "2")
    assert code == 4
    assert out.strip() == "ERROR: turnwire conform plays one scenario at a time: not with -n"


async def test_a_program_that_has_imported_turnwire_may_run_pytest(tmp_path: Path) -> None:
    asked = ["-p", "no:schemathesis", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    text = f"import turnwire, pytest; pytest.main({asked})"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", text),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    out, _ = await process.communicate()
    assert "no tests ran" in out.decode()
    assert "rewritten" not in out.decode()


async def test_its_options_are_shown(tmp_path: Path) -> None:
    code, out = await run(tmp_path, "--help")
    assert code == 0
    assert "--turnwire-agent=URL" in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ("--dialect ag-ui", "--turnwire-conform: the following arguments are required: --long-pro"),
        (f"{PROMPTS} --idle 0", "--turnwire-conform: argument --idle: '0' is no number"),
        (f"{PROMPTS} --token-file /no/such", "turnwire conform: --token-file: cannot be read"),
        (f"{PROMPTS} --dialect v2", "turnwire conform: TURNWIRE_AGENT_URL: must start with ws://"),
    ],
)
async def test_it_says_why_it_cannot_play(tmp_path: Path, arguments: str, problem: str) -> None:
    agent = ("--turnwire-agent", "http://127.0.0.1:1/")
    code, out = await run(tmp_path, *agent, "--turnwire-conform", arguments)
    assert code == 4  # wrong usage
    assert problem in out
    assert "Traceback" not in out
    assert "INTERNALERROR" not in out
