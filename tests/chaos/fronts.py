"""The proxies of `deploy/`, with their own configurations, on ports of the test."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import httpx

from chaos.patience import told
from gateway.clients import new_client
from gateway.needed import program
from gateway.waiting import PATIENCE_S
from turnwire_lab.process import free_port

_DEPLOY: Final = Path(__file__).resolve().parents[2] / "deploy"

_NGINX: Final = """\
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/turnwire.conf;
}}
"""


class Front(ABC):
    """A proxy in front of two gateways: `async with Nginx(folder, (8787, 8788)) as front:`."""

    def __init__(self, folder: Path, gateways: tuple[int, int]) -> None:
        self.port = free_port()
        self._folder = folder
        self._gateways = gateways

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @abstractmethod
    def command(self) -> list[str]:
        """Write the configuration. Returns what to run."""

    def log(self) -> str:
        return "".join(path.read_text() for path in self._folder.glob("*.log"))

    async def answers(self) -> bool:
        async with new_client() as client:
            try:
                return (await client.get(f"{self.url}/readyz")).status_code == httpx.codes.OK
            except httpx.TransportError:
                return False

    async def __aenter__(self) -> Self:
        with (self._folder / "output.log").open("wb") as output:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(), stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
            )
        await told(self._is_up)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._process.returncode is None:
            self._process.terminate()
        await asyncio.wait_for(self._process.wait(), PATIENCE_S)

    async def _is_up(self) -> bool:
        assert self._process.returncode is None, self.log()
        return await self.answers()

    def _configured(self, file: str, here: str) -> Path:
        """A copy of the file in `deploy/`, with our ports in place of its own."""
        text = (_DEPLOY / file).read_text()
        ours = dict(zip(("127.0.0.1:8787", "127.0.0.1:8788"), self._gateways, strict=True))
        replaced = {old: f"127.0.0.1:{port}" for old, port in ours.items()}
        return self._written(Path(file).name, text, {**replaced, here: self._listening(here)})

    def _listening(self, here: str) -> str:
        return f"{here.split(maxsplit=1)[0]} 127.0.0.1:{self.port}"

    def _written(self, name: str, text: str, replaced: Mapping[str, str]) -> Path:
        for old, new in replaced.items():
            assert text.count(old) == 1, f"{old} stands in {name} {text.count(old)} times"
            text = text.replace(old, new)
        path = self._folder / name
        path.write_text(text)
        return path


class Nginx(Front):
    def command(self) -> list[str]:
        self._configured("nginx/turnwire.conf", "listen 8080")
        main = self._written("nginx.conf", _NGINX.format(folder=self._folder), {})
        return [program("nginx"), "-p", str(self._folder), "-c", str(main)]


class Haproxy(Front):
    def command(self) -> list[str]:
        file = self._configured("haproxy/haproxy.cfg", "bind 127.0.0.1:8080")
        return [program("haproxy"), "-db", "-f", str(file)]
