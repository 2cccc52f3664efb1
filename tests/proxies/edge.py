"""A proxy with two gateways behind it, and their agent."""

import resource
from collections import Counter
from pathlib import Path
from typing import Any

from chaos.fronts import Front
from gateway.agent import Line, Script, ScriptedAgent
from gateway.served import Served


class Behind:
    """What stands behind one proxy after the other."""

    def __init__(self, agent: ScriptedAgent, gateways: tuple[Served, Served]) -> None:
        self.agent = agent
        self.gateways = gateways

    @property
    def ports(self) -> tuple[int, int]:
        one, other = self.gateways
        return one.port, other.port


class Edge:
    """`plays` begins a test: what was heard before it does not count."""

    def __init__(self, behind: Behind, front: Front) -> None:
        self.front = front
        self._behind = behind
        self._lines = 0
        self._logged = [0, 0]

    def plays(self, script: Script) -> None:
        """From here on the agent says this."""
        self._behind.agent.script = script
        self._lines = len(self._behind.agent.lines)
        self._logged = [len(each.logged("stream ended")) for each in self._behind.gateways]

    @property
    def lines(self) -> list[Line]:
        return self._behind.agent.lines[self._lines :]

    @property
    def ended(self) -> list[list[dict[str, Any]]]:
        """The streams that ended, by gateway."""
        gateways = zip(self._behind.gateways, self._logged, strict=True)
        return [each.logged("stream ended")[earlier:] for each, earlier in gateways]

    @property
    def held_bytes(self) -> int:
        """What the proxy keeps in memory and in files."""
        resident = int(Path(f"/proc/{self.front._process.pid}/statm").read_text().split()[1])
        files = (each.stat().st_size for each in self.front._folder.rglob("*") if each.is_file())
        return resident * resource.getpagesize() + sum(files)

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(line["outcome"] for ended in self.ended for line in ended)
