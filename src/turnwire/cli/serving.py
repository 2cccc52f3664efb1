"""`turnwire serve` in one process: build the server, open its ports, run it."""

import contextlib
import errno
import signal
import socket
from typing import Final

import structlog
from prometheus_client import (
    CollectorRegistry,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)

from turnwire import __version__
from turnwire.cli.logs import end_by_signal
from turnwire.config.settings import Settings, variable
from turnwire.metrics import Telemetry
from turnwire.web.app import create_app, new_dialler, new_registry
from turnwire.web.health import Health
from turnwire.web.server.server import DrainingServer, listen, new_server

log = structlog.get_logger("turnwire")

_OF_PORT: Final = {errno.EADDRINUSE, errno.EACCES}
"""Errors of `listen` that concern the port. All others concern the host."""

_LAST_S: Final = 7
"""What a gateway that ends takes besides its settings, as docs/deploy.md says."""


class CannotListenError(Exception):
    """The process cannot listen on an address. The text is one line.

    `in_use`: whether another socket has the address.
    """

    def __init__(self, settings: Settings, port: int, field: str, exc: Exception) -> None:
        """`field` is the setting of the port. The text names it, or the setting of the host."""
        number = exc.errno if isinstance(exc, OSError) else None
        self.in_use = number == errno.EADDRINUSE
        reason = (isinstance(exc, OSError) and exc.strerror) or str(exc)
        if self.in_use:
            drained_s = settings.lameduck_s + settings.drain_s
            ends_s = drained_s + settings.stall_s + _LAST_S
            ends = f"up to {drained_s:g} s to end ({ends_s:g} s, if a client does not read)"
            reason += (
                f", perhaps by a gateway that is told to end: while turns run, it takes {ends}"
            )
        setting = variable(field if number in _OF_PORT else "host")
        super().__init__(
            f"cannot listen on {settings.host}, port {port}: {reason}. {setting} sets another."
        )


def new_gateway(settings: Settings) -> tuple[DrainingServer, CollectorRegistry]:
    """Return a server that does not listen yet, and the registry of its metrics."""
    health, streams = Health(), new_registry(settings)
    disable_created_metrics()  # type: ignore[no-untyped-call]  # they are not used
    telemetry = Telemetry(CollectorRegistry())
    ProcessCollector(registry=telemetry.registry)
    dialler = new_dialler(settings)
    app = create_app(settings, health=health, streams=streams, telemetry=telemetry, dialler=dialler)
    server = new_server(app, settings, health=health, streams=streams, rounds=dialler.rounds)
    return server, telemetry.registry


def open_port(
    settings: Settings, port: int, *, shared: bool = False, field: str = "port"
) -> socket.socket:
    """Return a socket that listens for clients.

    `shared`: with `SO_REUSEPORT`. `field`: the setting of the port, for the error.

    Raises:
        CannotListenError: the process cannot listen on that port of the host.

    """
    try:
        return listen(settings.host, port, shared=shared)
    except (OSError, UnicodeError) as exc:  # UnicodeError: a host that IDNA cannot encode
        raise CannotListenError(settings, port, field, exc) from exc


def serve_metrics(settings: Settings, registry: CollectorRegistry) -> None:
    """Serve `/metrics` on `metrics_port`, from a thread. Do nothing if that setting is 0.

    Raises:
        CannotListenError: the process cannot listen on that port.

    """
    if not settings.metrics_port:
        return
    try:
        start_http_server(settings.metrics_port, settings.host, registry)
    except (OSError, UnicodeError) as exc:
        raise CannotListenError(settings, settings.metrics_port, "metrics_port", exc) from exc


def announce(settings: Settings, sock: socket.socket, workers: int = 1) -> None:
    """Log where the gateway listens, and its main settings."""
    log.info(
        "listening",
        version=__version__,
        host=settings.host,
        port=sock.getsockname()[1],
        metrics_port=settings.metrics_port,
        dialect=settings.dialect,
        enabled=settings.enabled,
        workers=workers,
        sessions=settings.sessions or "together",
    )


def serve(settings: Settings) -> None:
    """Run the gateway in this process, until SIGTERM or SIGINT.

    Raises:
        CannotListenError: the process cannot listen on a port.

    """
    signal.signal(signal.SIGTERM, end_by_signal)
    server, registry = new_gateway(settings)
    with open_port(settings, settings.port) as sock:
        serve_metrics(settings, registry)
        announce(settings, sock)
        # After it has closed everything, the server raises the signal again. Ctrl-C is no failure.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[sock])
