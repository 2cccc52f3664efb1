"""The commands. Each returns its exit code, and prints a failure in one line to standard error.

`cli.main` calls them.
"""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import jwt

from turnwire.cli import doctor, fd_limit, recordings, serving, supervisor, verdict
from turnwire.cli.env_file.option import environment, warn
from turnwire.cli.logs import configure_logs
from turnwire.config.effective import turn_log_place
from turnwire.config.environ import from_environ
from turnwire.config.lists import keys
from turnwire.config.settings import variable
from turnwire.core.agent import Dialect
from turnwire.core.recording.replay import replay_turn
from turnwire.errors import SettingsError


def serve(workers: int, env_file: str | None) -> int:
    """Run the gateway until SIGTERM or SIGINT: in this process, or in `workers` child processes."""
    try:
        given = environment(env_file)
        settings = given.settings(verdict.startable_settings)
    except SettingsError as exc:
        return _refuse(exc)
    if workers > 1 and settings.enabled and turn_log_place(settings) == "memory":
        problem = "`memory` is for one process: name a Redis for several workers, or `off`"
        return _fail(given.located(f"{variable('turn_log')}: {problem}"))
    configure_logs(settings.log_format, settings.log_level)
    if given.warning:
        serving.log.warning(given.warning)
    fd_limit.prepare(settings)
    try:
        if workers == 1:
            serving.serve(settings)
        else:
            return supervisor.serve(settings, workers)
    except serving.CannotListenError as exc:
        return _fail(str(exc))
    return 0


def check(env_file: str | None) -> int:
    """Print the problems of the settings: those with which `serve` would not start."""
    try:
        given = environment(env_file)
        settings = given.settings(verdict.startable_settings)
    except SettingsError as exc:
        return _refuse(exc)
    warn(given)
    try:
        in_use = verdict.ports_in_use(settings)
    except serving.CannotListenError as exc:
        return _fail(str(exc))
    if settings.enabled:
        print("The settings are fine.")
        print("The agent was not asked. While `serve` runs, this line asks it through the gateway:")
        print(doctor.line(settings, env_file))
    else:
        _print_off([given.located(each) for each in verdict.problems_if_enabled(settings)])
    for problem in in_use:
        print("Warning: a port is in use, perhaps by the gateway that runs.")
        print(f"Until it is free, `serve` {_printable(problem)}")
    return 0


def _print_off(problems: Sequence[str]) -> None:
    """Say that the flag is off, and with which problems it cannot be on."""
    print("TURNWIRE_ENABLED is not true: `serve` will answer every chat with 404.")
    if not problems:
        print("The other settings are fine.")
        return
    print("With TURNWIRE_ENABLED=true it will not start:")
    for problem in problems:
        print(f"  {_printable(problem)}")


def replay_file(
    file: Path, *, dialect: Dialect | None, prompt_id: str | None, event_lines: bool, usage: bool
) -> int:
    """Write the SSE of a recording to standard output."""
    try:
        lines = recordings.read(file)
        wire = recordings.dialect(lines, dialect)
        followed = recordings.prompt_id(lines, prompt_id)
        replayed = replay_turn(
            lines, wire, prompt_id=followed, event_lines=event_lines, usage=usage
        )
        recordings.check_wire(
            lines, replayed, dialect=wire, named=dialect is not None, prompt_id=followed
        )
    except OSError as exc:
        return _fail(f"cannot read {file}: {exc.strerror}")
    except ValueError as exc:  # also `BadRecordingError`, and a time that is not a number
        return _fail(f"{file}: {exc}")
    for part in recordings.lacks(lines):
        print(f"turnwire: {part}", file=sys.stderr)
    if odd_count := recordings.odd_lines(lines):
        print(f"turnwire: {odd_count} of {len(lines)} lines are no frames", file=sys.stderr)
    try:
        sys.stdout.buffer.write(replayed.body)
        sys.stdout.buffer.flush()
    except BrokenPipeError:  # e.g. `| head`. Else Python would report it again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def token(
    user_id: str, sessions: Sequence[tuple[str, str]], ttl_s: int, env_file: str | None
) -> int:
    """Print a token that the configured gateway accepts. Only `TURNWIRE_JWT_*` need be set."""
    try:
        given = environment(env_file)
        settings = given.settings(from_environ, prefix=variable("jwt_"))
    except SettingsError as exc:
        return _refuse(exc)
    warn(given)
    if not settings.jwt_key:
        return _fail(given.located("TURNWIRE_JWT_KEY: required"))
    if settings.jwt_algorithm != "HS256":
        problem = "TURNWIRE_JWT_ALGORITHM: tokens are made for HS256 only"
        return _fail(given.located(problem))
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


def _refuse(error: SettingsError) -> int:
    """Print the problems of the settings. Returns the exit code of a failure."""
    for problem in error.problems:
        _fail(problem)
    return 1


def _fail(problem: str) -> int:
    """Print a problem. Returns the exit code of a failure."""
    print(f"turnwire: {_printable(problem)}", file=sys.stderr)
    return 1


def _printable(problem: str) -> str:
    """The text in one line: characters that are not printable are escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in problem
    )
