"""The example of docs/agent-drivers.md, as it is."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from runtime.cli.serve_process import TESTS
from runtime.drivers.model_agent import results
from runtime.drivers.pydantic_ai import served as serve

EXAMPLE: Final = TESTS.parent / "examples/drivers/assistant.py"
PAGE: Final = TESTS.parent / "docs/agent-drivers.md"


@pytest.mark.sockets
async def test_it_asks_a_person_and_books(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path)
    async with (
        serve.assistant(tmp_path, module="assistant") as served,
        served.socket() as gateway,
    ):
        await gateway.ask("A room, please.")
        asked = await gateway.until("question")
        await gateway.send("answer", questionId=asked["questionId"], answer=True)
        await gateway.rest()

    assert asked["toolName"] == "book"
    weather, booked = results(gateway.seen).values()
    assert weather == "It rains in a."
    assert booked.startswith("Booked a as s1/")


def test_the_page_shows_it() -> None:
    assert "{literalinclude} ../examples/drivers/assistant.py" in PAGE.read_text()
