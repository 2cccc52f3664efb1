"""What an agent is able to do, as it says itself in the response to `initialize`.

Each part is read leniently: what is null, absent or of another shape is what the agent cannot do.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw, Struct

from turnwire.core.wire import lenient


class Abilities(Struct, frozen=True):
    """What counts of it."""

    can_load: bool = False
    can_resume: bool = False
    takes_images: bool = False
    takes_audio: bool = False
    takes_resources: bool = False
    """Whether a prompt may have any file in it."""


class _Camel(Struct, frozen=True, rename="camel"):
    """An absent part is empty."""


class _Agent(_Camel, frozen=True):
    load_session: Raw = Raw()
    prompt_capabilities: Raw = Raw()
    session_capabilities: Raw = Raw()


class _Prompt(_Camel, frozen=True):
    image: Raw = Raw()
    audio: Raw = Raw()
    embedded_context: Raw = Raw()


class _Session(_Camel, frozen=True):
    resume: Raw = Raw()


_agent: Callable[[Raw], _Agent] = msgspec.json.Decoder(_Agent).decode
_prompt: Callable[[Raw], _Prompt] = msgspec.json.Decoder(_Prompt).decode
_session: Callable[[Raw], _Session] = msgspec.json.Decoder(_Session).decode

_NOT: Final = frozenset({b"", b"null", b"false"})


def read(capabilities: Raw) -> Abilities:
    """Read the `agentCapabilities`."""
    agent = lenient.field(_agent, capabilities) or _Agent()
    prompt = lenient.field(_prompt, agent.prompt_capabilities) or _Prompt()
    session = lenient.field(_session, agent.session_capabilities) or _Session()
    return Abilities(
        can_load=_is_true(agent.load_session),
        can_resume=bytes(session.resume) not in _NOT,  # it is an object
        takes_images=_is_true(prompt.image),
        takes_audio=_is_true(prompt.audio),
        takes_resources=_is_true(prompt.embedded_context),
    )


def _is_true(ability: Raw) -> bool:
    return bytes(ability) == b"true"
