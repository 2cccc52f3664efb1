"""The decoder of a wire whose frames are structs, in one call."""

from collections.abc import Mapping
from typing import Any, TypeVar, Union

import msgspec
from msgspec import Struct

from turnwire.core.wire.decoder import FrameDecoder

_Frame = TypeVar("_Frame", bound=Struct)


def frame_decoder(*kinds: type[_Frame]) -> FrameDecoder[_Frame]:
    """Return the decoder of frames that are JSON objects, and are told apart by their `type`.

    Each kind is a struct with a tag, `class Say(Struct, tag="say")`. A type
    checker wants to know them all: `DECODER: FrameDecoder[Say | Done] = frame_decoder(Say, Done)`.
    A text that an agent cut in the middle of a surrogate pair stays as it is; the other half comes
    with the next frame.
    """
    decode = msgspec.json.Decoder(Union[kinds]).decode  # noqa: UP007 (built at run time)
    return FrameDecoder(decode, kinds, _restore_halves)


def _restore_halves(frame: _Frame, loose: Mapping[str, Any]) -> _Frame:
    """The frame with its texts as they came. Strict JSON has no half of a surrogate pair."""
    texts = {
        field.name: loose[field.encode_name]
        for field in msgspec.structs.fields(frame)
        if isinstance(getattr(frame, field.name), str) and field.encode_name in loose
    }
    return msgspec.structs.replace(frame, **texts)
