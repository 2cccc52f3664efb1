"""Whether the gateway would start with these settings: what `serve` and `check` both go by."""

from collections.abc import Mapping

from turnwire.cli.serving import CannotListenError, open_port
from turnwire.environ import from_environ
from turnwire.errors import SettingsError
from turnwire.settings import Settings
from turnwire.web.rehearsal import problems


def settled(environ: Mapping[str, str]) -> Settings:
    """Settings with which the gateway starts, if its ports are to be had.

    Raises:
        SettingsError: there are none such; one line for each thing that is wrong.

    """
    settings = from_environ(environ)
    if found := problems(settings):
        raise SettingsError(found)
    return settings


def taken(settings: Settings) -> list[str]:
    """Listen on both ports for a moment. What is in the way of it now and may not be later.

    A port that somebody has is often that of the gateway that is to be started anew.

    Raises:
        CannotListenError: there is no such address here, or no right to listen on it.

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
