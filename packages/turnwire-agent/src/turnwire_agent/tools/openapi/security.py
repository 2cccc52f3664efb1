"""What a document says of credentials: whether one in a header is enough."""

from typing import Any

from turnwire_agent.tools.openapi.references import Json, resolved
from turnwire_agent.tools.openapi.unsupported import UnsupportedError


def check_security(document: Json, operation: Json) -> None:
    """Refuse an operation that wants a key at a place that ours are never put into.

    Raises:
        UnsupportedError: each of its alternatives does.
    """
    alternatives = operation.get("security", document.get("security"))
    if not isinstance(alternatives, list) or not alternatives:
        return
    components = document.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, dict) else None
    if not any(_possible(document, schemes, each) for each in alternatives):
        raise UnsupportedError("security", "its `security`")


def _possible(document: Json, schemes: Any, alternative: Any) -> bool:
    """Whether one header is enough: a credential is one."""
    names = alternative if isinstance(alternative, dict) else {}
    kinds = []
    for name in names:
        scheme = schemes.get(name) if isinstance(schemes, dict) else None
        if scheme is None:
            return False
        known = resolved(document, scheme, "a security scheme")
        kinds.append((known.get("type"), known.get("in", "header")))
    return all(kind != "mutualTLS" and place == "header" for kind, place in kinds)
