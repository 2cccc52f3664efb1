"""The decoder of a wire whose frames are structs, in one call."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.wire.decoder import FrameDecoder
from turnwire.core.wire.schema import Split, split_bytes, split_value, tag_of, type_by

_Frame = TypeVar("_Frame", bound=Struct)


def frame_decoder(
    *kinds: type[_Frame], inside: str | None = None, split: Split | None = None
) -> FrameDecoder[_Frame]:
    """Return the decoder of frames that are JSON objects, and are told apart by their `type`.

    Each kind is a struct with a tag, `class Say(Struct, tag="say")`. A type
    checker wants to know them all: `DECODER: FrameDecoder[Say | Done] = frame_decoder(Say, Done)`.
    A text that an agent cut in the middle of a surrogate pair stays as it is; the other half comes
    with the next frame.

    With `inside="event"` each frame comes in an envelope: `{"type": "event", "event": FRAME}`. An
    envelope of another type is counted as unknown, by its own type; `type_inside` is the
    `type_of` of the schema.

    `split` is for other envelopes: it returns the type and the body of a frame. With
    `split=lambda frame: (frame[1], frame[2])` a frame is `[7, "say", {"text": "Hi"}]`. The schema
    gets the same `split`. A body that has a field `type` of its own needs structs with another
    `tag_field`.
    """
    if split is not None:
        return _split_decoder(kinds, split)
    kind: Any = Union[kinds]  # noqa: UP007 (built at run time)
    if inside is None:
        return FrameDecoder(msgspec.json.Decoder(kind).decode, kinds, _restore_halves)
    envelope = msgspec.defstruct("Envelope", [(inside, kind)], tag=inside)
    decode_envelope = msgspec.json.Decoder(envelope).decode

    def decode(raw: bytes) -> _Frame:
        frame: _Frame = getattr(decode_envelope(raw), inside)
        return frame

    def restore_halves(frame: _Frame, loose: Mapping[str, Any]) -> _Frame:
        return _restore_halves(frame, loose[inside])

    return FrameDecoder(decode, kinds, restore_halves, type_of=type_inside(inside))


def _split_decoder(kinds: Sequence[type[_Frame]], split: Split) -> FrameDecoder[_Frame]:
    decoders = {tag_of(kind): msgspec.json.Decoder(kind).decode for kind in kinds}

    def decode(raw: bytes) -> _Frame:
        kind, body = split_bytes(split, raw)
        if kind not in decoders:
            raise msgspec.ValidationError("a type that is not known")
        return decoders[kind](body)

    def restore_halves(frame: _Frame, loose: Any) -> _Frame:
        return _restore_halves(frame, split_value(split, loose)[1])

    return FrameDecoder(decode, kinds, restore_halves, type_of=type_by(split))


def type_inside(field: str) -> Callable[[bytes], str]:
    """Return a function that returns the type of a frame which comes in an envelope.

    Of an envelope whose own type is the name `field`, it returns the `type` of the object in that
    field. Of any other envelope it returns the envelope's type, or an empty string without one.
    """
    envelope = msgspec.defstruct("Envelope", [("type", str), (field, Raw, Raw())])
    return functools.partial(_type_inside, msgspec.json.Decoder(envelope).decode, field)


def _type_inside(decode: Callable[[bytes], Any], field: str, raw: bytes) -> str:
    try:
        head = decode(raw)
    except (msgspec.DecodeError, RecursionError):
        # Not strict JSON, or no object with a type.
        kind = safe_json.frame_type(raw)
        if kind != field:
            return kind
        head = decode(safe_json.dump(safe_json.parse(raw)))
    if head.type != field:
        return str(head.type)
    return safe_json.frame_type(bytes(getattr(head, field)))


def _restore_halves(frame: _Frame, loose: Mapping[str, Any]) -> _Frame:
    """The frame with its texts as they came. Strict JSON has no half of a surrogate pair."""
    texts = {
        field.name: loose[field.encode_name]
        for field in msgspec.structs.fields(frame)
        if isinstance(getattr(frame, field.name), str) and field.encode_name in loose
    }
    return msgspec.structs.replace(frame, **texts)
