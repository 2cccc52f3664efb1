"""Decide whether the gateway can start with its settings; for `serve` and `check`."""

from collections.abc import Mapping

import msgspec

from turnwire.cli.serving import CannotListenError, open_port
from turnwire.config.conflicts import conflicts
from turnwire.config.environ import from_environ
from turnwire.config.settings import Settings
from turnwire.errors import SettingsError
from turnwire.web.startup_check import problems


def startable_settings(environ: Mapping[str, str]) -> Settings:
    """Return settings with which the gateway can start, if its ports are free.

    Raises:
        SettingsError: it cannot; one line for each problem.

    """
    settings = from_environ(environ)
    if startup_problems := problems(settings):
        raise SettingsError(startup_problems)
    return settings


def problems_if_enabled(settings: Settings) -> list[str]:
    """Return one line for each problem that settings with the flag off would have with it on."""
    return conflicts(msgspec.structs.replace(settings, enabled=True), frozenset())


def ports_in_use(settings: Settings) -> list[str]:
    """Listen on both ports for a moment. Return one line for each port that is in use.

    A port in use is no error: often the running gateway has it, which is about to be restarted.

    Raises:
        CannotListenError: the host has no such address, or the process may not listen on it.

    """
    in_use = []
    for field in ("port", "metrics_port"):
        port: int = getattr(settings, field)
        if not port and field == "metrics_port":
            continue
        try:
            open_port(settings, port, field=field).close()
        except CannotListenError as exc:
            if not exc.in_use:
                raise
            in_use.append(str(exc))
    return in_use
