"""The last chunks of a message: how its turn ended, and why the model stopped.

A client refuses an answer whose `finishReason` it does not know. So it gets one of the words that
all releases from 6.0.0 on know, and only if it is as new as that. The agent's own word is in the
metadata of the message, if the answer is not whole.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

import msgspec
from msgspec import UNSET, Raw

from turnwire.core import safe_json
from turnwire.core.events import Reason, TurnFinished
from turnwire.core.ui_stream import chunks

TURN_FAILED: Final = "Turn failed"

RELEASED: Final = frozenset({"stop", "length", "content-filter", "tool-calls", "error", "other"})
"""The finish reasons that every release from 6.0.0 on knows."""

_OTHER: Final = "other"

_MEANT: Final[Mapping[str, str]] = MappingProxyType(
    {"context": "length", "max-tokens": "length", "refusal": "content-filter"}
)
"""Words of agents, and the released words that mean the same. All others are `other`."""


def last_chunks(end: TurnFinished, *, usage: bool, native: bool) -> list[chunks.Chunk]:
    """Return the verdict of a turn, and `finish`.

    `usage`: the metadata has the agent's token counts. `native`: the client knows finish reasons.
    """
    finish = chunks.Finish(_metadata(end, usage=usage), _reason(end) if native else UNSET)
    match end.reason:
        case Reason.END_TURN:
            return [finish]
        case Reason.CANCELED:
            return [chunks.Abort(), finish]
        case Reason.ERROR:
            return [chunks.Error(safe_json.error_text(end.error, TURN_FAILED)), finish]
        case _:
            assert_never(end.reason)


def _reason(end: TurnFinished) -> str | msgspec.UnsetType:
    """Return why the model stopped, in a released word."""
    word = end.cut_short or end.finish_reason
    if not word:
        return UNSET
    return word if word in RELEASED else _MEANT.get(word, _OTHER)


def _metadata(end: TurnFinished, *, usage: bool) -> Raw | msgspec.UnsetType:
    if end.cut_short is None and not usage:
        return UNSET
    metadata: list[bytes] = []
    if end.cut_short is not None:
        text = safe_json.join_surrogates(end.cut_short)
        metadata.append(b'"finishReason":' + msgspec.json.encode(text))
    if usage and end.usage is not None and bytes(end.usage).startswith(b"{"):
        metadata.append(b'"usage":' + bytes(safe_json.sanitize(end.usage)))
    return Raw(b"{%b}" % b",".join(metadata)) if metadata else UNSET
