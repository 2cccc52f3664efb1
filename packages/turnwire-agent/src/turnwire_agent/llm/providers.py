"""Providers that are known by name. Another one is one more entry."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from turnwire_agent.llm.model import Quirks, ShapeName


class Provider(Struct, frozen=True, kw_only=True):
    """Where a provider's models are, and how they are spoken to."""

    shape: ShapeName
    base_url: str
    key_variable: str = ""
    """The variable of the environment that has its key by custom; empty if it takes none."""
    quirks: Quirks = Quirks()


_LOCAL: Final = Quirks(max_tokens_field="max_tokens")

PROVIDERS: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "anthropic": Provider(
            shape="messages",
            base_url="https://api.anthropic.com/v1",
            key_variable="ANTHROPIC_API_KEY",
        ),
        "google": Provider(
            shape="google",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_variable="GEMINI_API_KEY",
        ),
        "llama-cpp": Provider(shape="chat", base_url="http://127.0.0.1:8080/v1", quirks=_LOCAL),
        "ollama": Provider(shape="chat", base_url="http://127.0.0.1:11434/v1", quirks=_LOCAL),
        "openai": Provider(
            shape="chat", base_url="https://api.openai.com/v1", key_variable="OPENAI_API_KEY"
        ),
        "openai-responses": Provider(
            shape="responses", base_url="https://api.openai.com/v1", key_variable="OPENAI_API_KEY"
        ),
    }
)
