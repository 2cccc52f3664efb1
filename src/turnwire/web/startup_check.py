"""Settings that a library would reject, found before the gateway starts."""

import importlib

from turnwire.config.settings import Settings
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.web import rate_limit


def problems(settings: Settings) -> list[str]:
    """Return one line for each rejected setting. Opens nothing, connects to nothing."""
    lines = []
    if settings.rates_url and (problem := rate_limit.problem(settings.rates_url)):
        lines.append(f"TURNWIRE_RATES_URL: {problem}")
    if settings.tracing == "otlp":
        try:
            importlib.import_module("turnwire.web.observe.otel").check_variables(
                settings.agent_url, TRANSPORTS[DIALECTS[settings.dialect].transport]
            )
        except Exception as exc:  # noqa: BLE001 (of any library that reads an `OTEL_*` variable)
            message = " ".join(str(exc).split())
            lines.append(f"TURNWIRE_TRACING: an OTEL_* variable is not taken: {message}")
    return lines
