"""The five proxies of `deploy/`, with their own configurations, on ports of the test."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from chaos.fronts import Front, Haproxy, Nginx
from gateway.needed import lacking, program

DEPLOY: Final = Path(__file__).resolve().parents[2] / "deploy"

_GATEWAYS: Final = ("127.0.0.1:8787", "127.0.0.1:8788")


def wheel_program(name: str) -> str:
    """The path of a program that a Python package brings along."""
    found = Path(sys.executable).parent / name
    if not found.exists():
        lacking(f"{name} is not installed (`make proxies` installs requirements-proxies.txt)")
    return str(found)


def installed() -> None:
    """See that all that are tested are there, or fail or skip."""
    for kind in FRONTS:
        find = program if kind in DEBIAN else wheel_program
        find(kind.__name__.lower())


class Wheel(Front):
    """One of those that are Python packages."""

    def _ours(self, file: str, replaced: Mapping[str, str]) -> Path:
        """A copy of a file in `deploy/`, with our ports and folders in place of its own."""
        text = (DEPLOY / file).read_text()
        for old, new in replaced.items():
            assert old in text, f"{old} does not stand in {file}"
            text = text.replace(old, new)
        return self._written(Path(file).name, text, {})

    def _addresses(self) -> dict[str, str]:
        pairs = zip(_GATEWAYS, self._gateways, strict=True)
        return {old: f"127.0.0.1:{port}" for old, port in pairs}


class Envoy(Wheel):
    def command(self) -> list[str]:
        ports = dict(zip((8787, 8788), self._gateways, strict=True)) | {8080: self.port}
        replaced = {f"port_value: {old}": f"port_value: {new}" for old, new in ports.items()}
        file = self._ours("envoy/envoy.yaml", replaced)
        # Two of them on one machine may not share their memory.
        options = ("--use-dynamic-base-id", "--concurrency", "1", "--log-level", "warning")
        return [wheel_program("envoy"), "-c", str(file), *options]


class Caddy(Wheel):
    def command(self) -> list[str]:
        here = {"\n:8080 {\n": f"\n:{self.port} {{\n\tbind 127.0.0.1\n"}
        file = self._ours("caddy/Caddyfile", self._addresses() | here)
        return [wheel_program("caddy"), "run", "--config", str(file), "--adapter", "caddyfile"]


class Traefik(Wheel):
    def command(self) -> list[str]:
        routes = self._ours("traefik/turnwire.yml", self._addresses())
        here = {
            "127.0.0.1:8080": f"127.0.0.1:{self.port}",
            "/etc/traefik/turnwire.yml": str(routes),
        }
        return [wheel_program("traefik"), f"--configFile={self._ours('traefik/traefik.yml', here)}"]


def hasty(kind: type[Front]) -> type[Front]:
    """The same, with all its times of half a minute and more shortened to two fifteenths.

    Much shorter, and a busy machine is silent for so long now and then.
    """

    class Hasty(kind):  # type: ignore[misc,valid-type]  # a base that is a value
        def _written(self, name: str, text: str, replaced: Mapping[str, str]) -> Path:
            for old, new in {"45s": "6s", "30s": "4s"}.items():
                text = text.replace(old, new)
            return super()._written(name, text, replaced)  # type: ignore[no-any-return]

    return Hasty


DEBIAN: Final[tuple[type[Front], ...]] = (Nginx, Haproxy)
"""Those that every Debian has."""
WHEELS: Final[tuple[type[Front], ...]] = (Envoy, Caddy, Traefik)
FRONTS: Final = {"debian": DEBIAN, "wheels": WHEELS}.get(
    os.environ.get("PROXIES", ""), (*DEBIAN, *WHEELS)
)
"""Those that are tested: all, but for `make fronts` and what it leaves to `make all`."""
