"""`turnwire serve`, one process: what it is made of, and how it runs."""

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
from turnwire.cli.logs import end_by
from turnwire.settings import Settings, variable
from turnwire.telemetry import Telemetry
from turnwire.web.app import create_app, new_dialler, new_streams
from turnwire.web.health import Health
from turnwire.web.server import DrainingServer, listen, new_server

log = structlog.get_logger("turnwire")

_OF_PORT: Final = {errno.EADDRINUSE, errno.EACCES}
"""What is wrong with a port; all else is wrong with its host."""


class CannotListenError(Exception):
    """An address that cannot be listened on; the text is one line."""

    def __init__(self, settings: Settings, port: int, field: str, exc: Exception) -> None:
        """`field` names the port; what is wrong may be the host."""
        number = exc.errno if isinstance(exc, OSError) else None
        self.in_use = number == errno.EADDRINUSE
        reason = (isinstance(exc, OSError) and exc.strerror) or str(exc)
        named = variable(field if number in _OF_PORT else "host")
        super().__init__(
            f"cannot listen on {settings.host}, port {port}: {reason}. {named} sets another."
        )


def new_gateway(settings: Settings) -> tuple[DrainingServer, CollectorRegistry]:
    """A server that does not listen yet, and its metrics."""
    health, streams = Health(), new_streams(settings)
    disable_created_metrics()  # type: ignore[no-untyped-call]  # nobody asks for them
    telemetry = Telemetry(CollectorRegistry())
    ProcessCollector(registry=telemetry.registry)
    dialler = new_dialler(settings)
    app = create_app(settings, health=health, streams=streams, telemetry=telemetry, dialler=dialler)
    server = new_server(app, settings, health=health, streams=streams, rounds=dialler.rounds)
    return server, telemetry.registry


def open_port(
    settings: Settings, port: int, *, shared: bool = False, field: str = "port"
) -> socket.socket:
    """Listen for clients.

    Raises:
        CannotListenError: that port of that host is not to be had.

    """
    try:
        return listen(settings.host, port, shared=shared)
    except (OSError, UnicodeError) as exc:  # the latter: a host that IDNA cannot encode
        raise CannotListenError(settings, port, field, exc) from exc


def serve_metrics(settings: Settings, registry: CollectorRegistry) -> None:
    """Answer `/metrics` on the port of its own, from a thread, where there is to be one.

    Raises:
        CannotListenError: that port is not to be had.

    """
    if not settings.metrics_port:
        return
    try:
        start_http_server(settings.metrics_port, settings.host, registry)
    except (OSError, UnicodeError) as exc:
        raise CannotListenError(settings, settings.metrics_port, "metrics_port", exc) from exc


def announce(settings: Settings, sock: socket.socket, workers: int = 1) -> None:
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
    """Run the gateway in this process.

    Raises:
        CannotListenError: a port is not to be had.

    """
    signal.signal(signal.SIGTERM, end_by)
    server, registry = new_gateway(settings)
    with open_port(settings, settings.port) as sock:
        serve_metrics(settings, registry)
        announce(settings, sock)
        # The server raises the signal anew when all is closed; Ctrl-C is no failure.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[sock])
