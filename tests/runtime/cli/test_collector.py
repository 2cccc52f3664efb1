"""What the garbage collector of a server looks through."""

from pathlib import Path

import pytest

from runtime.cli.serve_process import serving

AGENT = """
import atexit, gc, sys
from turnwire_agent import Agent

agent = Agent(model="openai:any", listen="127.0.0.1:0")
atexit.register(lambda: print("frozen", gc.get_freeze_count(), gc.get_threshold(), file=sys.stderr))
"""


@pytest.mark.sockets
async def test_what_lives_as_long_as_the_server_is_not_looked_through_again(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(AGENT)
    keys = {"OPENAI_API_KEY": "sk-test"}
    async with serving("my_agent:agent", folder=tmp_path, variables=keys) as server:
        code, log = await server.stop()

    (frozen,) = [line.split(" ", 2) for line in log.splitlines() if line.startswith("frozen ")]
    assert code == 0
    assert int(frozen[1]) > 20_000
    assert frozen[2] == "(10000, 20, 20)"
