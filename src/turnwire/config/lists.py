"""The settings that are lists in one string, parsed."""

from turnwire.config.keys import Key, verifying_keys
from turnwire.config.settings import Settings
from turnwire.config.urls import Network, network


def listed(setting: str) -> tuple[str, ...]:
    """Return the entries of a setting that is a comma-separated list, in lower case."""
    return tuple(entry.strip().lower() for entry in setting.split(",") if entry.strip())


def signing_keys(settings: Settings) -> tuple[bytes, ...]:
    """Return the keys of approvals: the first signs, all verify."""
    if not settings.signing_keys:
        return ()
    return tuple(key.strip().encode() for key in settings.signing_keys.split(","))


def keys(settings: Settings) -> list[Key]:
    """Return the keys that verify tokens.

    Raises:
        BadKeyError: an entry of the setting is not a key for the algorithm.

    """
    return verifying_keys(settings.jwt_key, settings.jwt_algorithm)


def origins(settings: Settings) -> tuple[str, ...]:
    """Return the origins of pages that may call the gateway; `*` is any origin."""
    return tuple(entry.strip() for entry in settings.cors_origins.split(",") if entry.strip())


def trusted_proxies(settings: Settings) -> tuple[Network, ...]:
    """Return the networks of trusted proxies, without the entries that are not networks."""
    parsed = (network(entry) for entry in listed(settings.trusted_proxies))
    return tuple(entry for entry in parsed if entry is not None)


def policies(settings: Settings) -> frozenset[str]:
    """Return the policies that a request may ask for, even if the default policy is stricter."""
    return frozenset(listed(settings.on_disconnect_allowed))
