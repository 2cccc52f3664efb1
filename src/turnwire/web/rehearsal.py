"""What libraries would not take of the settings, known before anything starts."""

import importlib

from turnwire.settings import Settings
from turnwire.web import rates


def problems(settings: Settings) -> list[str]:
    """What is wrong, in one line each. Nothing is opened or connected to."""
    found = []
    if settings.rates_url and (problem := rates.problem(settings.rates_url)):
        found.append(f"TURNWIRE_RATES_URL: {problem}")
    if settings.tracing == "otlp":
        try:
            importlib.import_module("turnwire.web.otel").rehearse(settings.agent_url)
        except Exception as exc:  # noqa: BLE001 (of whichever library reads an `OTEL_*` variable)
            what = " ".join(str(exc).split())
            found.append(f"TURNWIRE_TRACING: an OTEL_* variable is not taken: {what}")
    return found
