"""A real Prometheus over real gateways."""

import asyncio
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx

from gateway.clients import new_client
from gateway.needed import program
from gateway.waiting import PATIENCE_S
from turnwire_lab.dashboards.__main__ import ROOT
from turnwire_lab.process import free_port

SCRAPE_S: Final = 2
"""Between two scrapes. One may take as long; where it takes longer, its target counts as down."""

Sample = tuple[float, float]


class Prometheus:
    """`async with Prometheus(folder, targets) as prometheus:` scrapes them and knows our rules."""

    def __init__(self, folder: Path, targets: Sequence[str]) -> None:
        self._folder = folder
        self._targets = list(targets)
        self._port = free_port()

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        config = self._folder / "prometheus.yml"
        config.write_text(json.dumps(self._config()), encoding="utf-8")
        subprocess.run(  # noqa: ASYNC221 (nothing else runs yet)
            [program("promtool"), "check", "config", config], check=True, capture_output=True
        )
        self._log = (self._folder / "prometheus.log").open("wb")
        self._process = await asyncio.create_subprocess_exec(
            program("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
            stdout=self._log,
            stderr=self._log,
        )
        self._client = new_client()
        async with asyncio.timeout(PATIENCE_S):
            while not await self._is_ready():  # noqa: ASYNC110 (another process has no event)
                await asyncio.sleep(0.05)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._client.aclose()
        self._process.terminate()
        await self._process.wait()
        self._log.close()

    async def query(self, expr: str) -> list[float]:
        """The values of all series, now."""
        result = await self._ask("query", query=expr)
        if result["resultType"] == "scalar":
            return [float(result["result"][1])]
        return [float(each["value"][1]) for each in result["result"]]

    async def over(
        self, expr: str, begin: float, end: float, step: float
    ) -> list[tuple[dict[str, str], list[Sample]]]:
        """All series in a time: their labels, and their samples."""
        told = {"start": begin, "end": end, "step": step}
        result = await self._ask("query_range", query=expr, **told)
        return [
            (each["metric"], [(float(at), float(value)) for at, value in each["values"]])
            for each in result["result"]
        ]

    async def firing(self) -> set[str]:
        """The names of the alerts that fire, or would if it lasted."""
        found = (await self._ask("alerts"))["alerts"]
        return {each["labels"]["alertname"] for each in found}

    async def _ask(self, what: str, **parameters: Any) -> Any:
        response = await self._client.get(f"{self._url}/api/v1/{what}", params=parameters)
        assert response.status_code == httpx.codes.OK, response.text
        return response.json()["data"]

    async def _is_ready(self) -> bool:
        assert self._process.returncode is None, "prometheus did not start"
        try:
            return (await self._client.get(f"{self._url}/-/ready")).is_success
        except httpx.TransportError:
            return False

    def _config(self) -> dict[str, Any]:
        return {
            "global": {"scrape_interval": f"{SCRAPE_S}s", "evaluation_interval": "1s"},
            "rule_files": [str(ROOT / "rules" / "*.yml")],
            "scrape_configs": [
                {"job_name": "turnwire", "static_configs": [{"targets": self._targets}]}
            ],
        }
