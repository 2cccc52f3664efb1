"""Check the settings that only some wires have a use for, or that only some wires need."""

from turnwire.config.dialect_loading import find
from turnwire.config.effective import BadFieldsError, agent_request
from turnwire.config.settings import Settings, variable
from turnwire.core.agent import Dialect


def wire_problems(settings: Settings) -> list[str]:
    """Return one line for each problem."""
    dialect = find(settings.dialect)
    of_the_wire = f"TURNWIRE_DIALECT={settings.dialect}"
    missing = [
        f"{variable(field)}: required by {of_the_wire}"
        for field in sorted(dialect.needs)
        if settings.enabled and not getattr(settings, field)
    ]
    useless = [
        f"{variable(field)}: does nothing with {of_the_wire}"
        for field, is_read in _reads(dialect).items()
        if settings.enabled and getattr(settings, field) and not is_read
    ]
    return [*missing, *useless, *_field_problems(settings, dialect)]


def _reads(dialect: Dialect) -> dict[str, bool]:
    """Whether the dialect reads each of the settings that some dialects do not read."""
    return {
        "agent_model": "agent_model" in dialect.needs,
        "agent_cwd": "agent_cwd" in dialect.needs,
        "agent_thread": dialect.names_sessions and not dialect.keeps_history,
        "agent_request": bool(dialect.request_fields),
    }


def _field_problems(settings: Settings, dialect: Dialect) -> list[str]:
    try:
        fields = agent_request(settings)
    except BadFieldsError as exc:
        return [f"TURNWIRE_AGENT_REQUEST: {exc}"]
    taken = ", ".join(sorted(fields.keys() & dialect.request_fields))
    return [f"TURNWIRE_AGENT_REQUEST: the gateway sets {taken} itself"] if taken else []
