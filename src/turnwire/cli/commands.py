"""What each command does. Each returns an exit code and tells failures in one line."""

import contextlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import jwt
import structlog
from prometheus_client import (
    CollectorRegistry,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)

from turnwire import __version__
from turnwire.cli import recording
from turnwire.cli.logs import configure_logs
from turnwire.core.replay import replay
from turnwire.dialects import DIALECTS
from turnwire.environ import from_environ
from turnwire.errors import SettingsError
from turnwire.settings import Settings, keys, variable
from turnwire.telemetry import Telemetry
from turnwire.web.app import create_app, new_streams
from turnwire.web.health import Health
from turnwire.web.server import listen, new_server


def serve() -> int:
    """Run the gateway until it is told to stop."""
    settings = _settings()
    if settings is None:
        return 1
    configure_logs()
    health, streams = Health(), new_streams(settings)
    disable_created_metrics()  # type: ignore[no-untyped-call]  # nobody asks for them
    telemetry = Telemetry(CollectorRegistry())
    ProcessCollector(registry=telemetry.registry)
    app = create_app(settings, health=health, streams=streams, telemetry=telemetry)
    port = settings.port
    with contextlib.ExitStack() as stack:
        try:
            sock = stack.enter_context(listen(settings.host, port, settings.stall_s))
            if settings.metrics_port:
                port = settings.metrics_port
                start_http_server(port, settings.host, telemetry.registry)
        except (OSError, UnicodeError) as exc:  # the latter: a host that IDNA cannot encode
            return _fail(f"cannot listen on {settings.host}, port {port}: {exc}")
        structlog.get_logger("turnwire").info(
            "listening",
            version=__version__,
            host=settings.host,
            port=sock.getsockname()[1],
            metrics_port=settings.metrics_port,
            dialect=settings.dialect,
            enabled=settings.enabled,
        )
        # The server raises the signal anew when all is closed; Ctrl-C is no failure.
        stack.enter_context(contextlib.suppress(KeyboardInterrupt))
        new_server(app, settings, health=health, streams=streams).run(sockets=[sock])
    return 0


def check() -> int:
    """Say what is wrong with the settings."""
    settings = _settings()
    if settings is None:
        return 1
    if settings.enabled:
        print("The settings are fine.")
    else:
        print("Nothing is wrong, but TURNWIRE_ENABLED is false: there will be no chat routes.")
    return 0


def replay_file(
    file: Path, *, dialect: str, prompt_id: str | None, event_lines: bool, usage: bool
) -> int:
    """Write the SSE of a recording to standard output."""
    try:
        lines = recording.read(file)
        written = replay(
            lines,
            DIALECTS[dialect],
            prompt_id=recording.prompt_id(lines, prompt_id),
            event_lines=event_lines,
            usage=usage,
        )
    except OSError as exc:
        return _fail(f"cannot read {file}: {exc.strerror}")
    except ValueError as exc:  # `BadRecordingError` is one; so is a time that is no number
        return _fail(f"{file}: {exc}")
    if odd := recording.odd_lines(lines):
        print(f"turnwire: {odd} of {len(lines)} lines are no frames", file=sys.stderr)
    try:
        sys.stdout.buffer.write(written)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # `| head` has enough; Python would complain anew at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def token(user_id: str, sessions: Sequence[tuple[str, str]], ttl_s: int) -> int:
    """Print a token that the configured gateway takes. Only its key and the like need be set."""
    prefix = variable("jwt_")
    settings = _settings({k: v for k, v in os.environ.items() if k.startswith(prefix)})
    if settings is None:
        return 1
    if not settings.jwt_key:
        return _fail("TURNWIRE_JWT_KEY: required")
    if settings.jwt_algorithm != "HS256":
        return _fail("TURNWIRE_JWT_ALGORITHM: tokens are made for HS256 only")
    now = int(time.time())
    claims: dict[str, object] = {
        "sub": user_id,
        "iat": now,
        "exp": now + ttl_s,
        "sessions": dict(sessions),
    }
    if settings.jwt_issuer:
        claims["iss"] = settings.jwt_issuer
    if settings.jwt_audience:
        claims["aud"] = settings.jwt_audience
    (key, *_) = keys(settings)
    assert isinstance(key, bytes)
    print(jwt.encode(claims, key, settings.jwt_algorithm))
    return 0


def _settings(environ: Mapping[str, str] = os.environ) -> Settings | None:
    try:
        return from_environ(environ)
    except SettingsError as exc:
        for problem in exc.problems:
            print(f"turnwire: {problem}", file=sys.stderr)
        return None


def _fail(problem: str) -> int:
    print(f"turnwire: {problem}", file=sys.stderr)
    return 1
