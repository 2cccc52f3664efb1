"""What each command does. Each returns an exit code and tells failures in one line."""

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import jwt

from turnwire.cli import descriptors, recording, serving, supervising, verdict
from turnwire.cli.logs import configure_logs
from turnwire.core.replay import replay
from turnwire.dialects import DIALECTS
from turnwire.environ import from_environ
from turnwire.errors import SettingsError
from turnwire.settings import Settings, keys, variable

_OFF: Final = """\
Nothing is wrong, but TURNWIRE_ENABLED is not true: `serve` will answer every chat with 404.
A gateway needs TURNWIRE_ENABLED=true, TURNWIRE_AGENT_URL and TURNWIRE_JWT_KEY at least."""


def serve(workers: int) -> int:
    """Run the gateway until it is told to stop, in this process or in so many of its own."""
    settings = _settings(verdict.settled)
    if settings is None:
        return 1
    configure_logs(settings.log_format, settings.log_level)
    descriptors.prepare(settings)
    try:
        if workers == 1:
            serving.serve(settings)
        else:
            return supervising.serve(settings, workers)
    except serving.CannotListenError as exc:
        return _fail(str(exc))
    return 0


def check() -> int:
    """Say what is wrong with the settings: what `serve` would not start with."""
    settings = _settings(verdict.settled)
    if settings is None:
        return 1
    try:
        in_use = verdict.taken(settings)
    except serving.CannotListenError as exc:
        return _fail(str(exc))
    if settings.enabled:
        print("The settings are fine.")
    else:
        print(_OFF)
    for problem in in_use:
        print(f"As long as somebody has it, `serve` {_printable(problem)}")
    return 0


def replay_file(
    file: Path, *, dialect: str | None, prompt_id: str | None, event_lines: bool, usage: bool
) -> int:
    """Write the SSE of a recording to standard output."""
    try:
        lines = recording.read(file)
        written = replay(
            lines,
            DIALECTS[recording.dialect(lines, dialect)],
            prompt_id=recording.prompt_id(lines, prompt_id),
            event_lines=event_lines,
            usage=usage,
        )
    except OSError as exc:
        return _fail(f"cannot read {file}: {exc.strerror}")
    except ValueError as exc:  # `BadRecordingError` is one; so is a time that is no number
        return _fail(f"{file}: {exc}")
    for lack in recording.lacks(lines):
        print(f"turnwire: {lack}", file=sys.stderr)
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
    settings = _settings(
        from_environ, {k: v for k, v in os.environ.items() if k.startswith(prefix)}
    )
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


def _settings(
    read: Callable[[Mapping[str, str]], Settings], environ: Mapping[str, str] = os.environ
) -> Settings | None:
    try:
        return read(environ)
    except SettingsError as exc:
        for problem in exc.problems:
            _fail(problem)
        return None


def _fail(problem: str) -> int:
    print(f"turnwire: {_printable(problem)}", file=sys.stderr)
    return 1


def _printable(problem: str) -> str:
    """In one line, whatever a name or a value has in it."""
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode() for each in problem
    )
