"""The demo's agent: its tools do what they say, and one of them asks first."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from turnwire_agent import Context, Effect, Tool, Tools
from turnwire_agent.tools.arguments import Valid
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread
from turnwire_lab.runtime import served
from turnwire_lab.runtime.served import AGENT

BY_NAME: dict[str, Tool] = {tool.name: tool for tool in AGENT.tools}


async def run(name: str, **arguments: str) -> tuple[str, Any]:
    thread = ToolThread()
    try:
        tool = BY_NAME[name]
        valid = tool.validate(json.dumps(arguments))
        assert isinstance(valid, Valid)
        outcome = await ToolRunner(thread).run(tool, valid.value, Context(call_id="c1", key="k1"))
    finally:
        thread.close()
    text = "".join(part for part in outcome.parts if isinstance(part, str))
    return outcome.kind, text if outcome.error is None else outcome.error


@pytest.mark.parametrize(
    ("tool", "arguments", "part"),
    [
        ("calculator", {"expression": "12*7"}, "84"),
        ("clock", {"place": "Tokyo"}, "Asia/Tokyo"),
        ("search_docs", {"query": "keepalive"}, "docs/"),
    ],
)
async def test_a_tool_works(tool: str, arguments: dict[str, str], part: str) -> None:
    kind, text = await run(tool, **arguments)

    assert kind == "done"
    assert part in text


async def test_a_tool_that_gives_up_says_why() -> None:
    assert await run("calculator", expression="1/0") == ("failed", "Division by zero.")


async def test_a_survey_takes_its_time_and_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("Hat. hat")
    (tmp_path / "docs" / "b.md").write_text("hat")
    (tmp_path / "docs" / "c.md").write_text("nothing")
    monkeypatch.setattr(served, "CHECKOUT", tmp_path)
    monkeypatch.setattr(served, "SURVEY_S", 0.3)
    began = asyncio.get_running_loop().time()
    kind, text = await run("survey", word="hat")

    assert (kind, json.loads(text)) == (
        "done",
        {"word": "hat", "pages": 3, "times": 3, "top_page": "a.md"},
    )
    assert asyncio.get_running_loop().time() - began >= 0.3


async def test_a_note_is_written_once_and_only_if_somebody_allows_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    tool = BY_NAME["write_note"]

    assert (tool.approval, tool.effect) == ("always", Effect.ONCE)
    assert (await run("write_note", text="buy\nbread"))[0] == "done"
    assert (tmp_path / "notes.txt").read_bytes() == b"buy bread\n"


def test_all_others_may_be_run_again() -> None:
    others = {name for name, tool in BY_NAME.items() if tool.effect is Effect.SAFE}

    assert others == BY_NAME.keys() - {"write_note"}
    assert len(Tools(AGENT.tools)) == len(BY_NAME)
