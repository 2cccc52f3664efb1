"""A gateway as a process of its own, looked at from outside: its metrics, memory, descriptors."""

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import httpx
from prometheus_client.parser import text_string_to_metric_families

from gateway.clients import new_client
from gateway.process import Process
from gateway.running import NOWHERE
from turnwire_lab.process import free_port

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Served(Process):
    """`async with Served(agent.url(), idle_s=1) as gateway:`."""

    def __init__(self, agent_url: str = NOWHERE, **given: object) -> None:
        self._metrics_port = free_port()
        super().__init__(
            agent_url, **{"metrics_port": self._metrics_port, "max_streams_per_user": 0, **given}
        )
        self.host = str(given.get("host", "127.0.0.1"))

    def under(self, *prefix: str) -> Self:
        """Run it by this command (`prlimit …`)."""
        self._command = (*prefix, *self._command)
        return self

    def having(self, environ: Mapping[str, str]) -> Self:
        """Run it with these variables too."""
        self._env |= environ
        return self

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def rss_bytes(self) -> int:
        """Resident memory of its own, without what it shares with files."""
        resident, shared = Path(f"/proc/{self.pid}/statm").read_text().split()[1:3]
        return (int(resident) - int(shared)) * _PAGE_BYTES

    @property
    def descriptors(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    @property
    def cpu_s(self) -> float:
        """Processor time used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def logged_outcomes(self) -> Counter[str]:
        return Counter(line["outcome"] for line in self.logged("stream ended"))

    async def outcomes(self) -> Counter[str]:
        """`turnwire_streams_total` by outcome, and under "open" those that have not ended."""
        async with new_client() as client:
            metrics = await client.get(f"http://{self.host}:{self._metrics_port}/metrics")
        found: Counter[str] = Counter()
        for family in text_string_to_metric_families(metrics.text):
            for sample in family.samples:
                if sample.name == "turnwire_streams_total":
                    found[sample.labels["outcome"]] = int(sample.value)
                elif sample.name == "turnwire_streams_active":
                    found["open"] = int(sample.value)
        return +found

    async def answers(self, path: str) -> int:
        """The status of a plain GET; 0 if nobody answers."""
        async with new_client() as client:
            try:
                return (await client.get(self.url + path)).status_code
            except httpx.TransportError:
                return 0
