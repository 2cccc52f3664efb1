"""Frames as no sound agent sends them: shuffled, dropped, doubled, damaged, with garbage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

import msgspec

GARBAGE: Final = (
    *(b"", b"thistle", b"[1,2]", b"7", b"null", b'"thistle"', b'{"type":', b"[" * 5_000, b"{}"),
    *(b'{"type":7}', b'{"type":null,"text":"thistle"}', b"\xef\xbb\xbf{}", b'{"a":"\\ud83d"}'),
)
"""Frames that no wire knows: they have no type, or are no JSON."""

_VALUES: Final[tuple[Any, ...]] = (None, True, -1, 1e300, "", "x" * 600, [], {}, [[{}]], "thistle")


def disorder(frames: Sequence[bytes], others: Sequence[bytes], dice: Random) -> list[bytes]:
    """Return the frames in some other order, with some of them changed. `others` may come too."""
    mixed = list(frames)
    changes: tuple[Callable[[list[bytes], Random], None], ...] = (
        *(_shuffle, _swap, _drop, _double, _cut, _damage, _insert_garbage),
        lambda mixed, dice: _insert(mixed, dice.choice(others), dice),
    )
    for change in dice.sample(changes, dice.randint(1, 4)):
        for _ in range(dice.randint(1, 3)):
            if mixed:
                change(mixed, dice)
    return mixed


def damaged(frame: bytes, dice: Random) -> bytes:
    """Return a frame with one of its values replaced; a frame that is no JSON without its end."""
    try:
        value = msgspec.json.decode(frame)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = frame.decode()
        return text[: len(text) // 2].encode()
    places = list(_places(value))
    if not places:
        return b"null"
    holder, key = dice.choice(places)
    if isinstance(holder, dict) and dice.randrange(3) == 0:
        del holder[key]
    else:
        holder[key] = dice.choice(_VALUES)
    return msgspec.json.encode(value)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place in a value, as what holds it and its key or index there."""
    keys: Sequence[Any] = ()
    if isinstance(value, Mapping):
        keys = list(value)
    elif isinstance(value, list):
        keys = range(len(value))
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _shuffle(mixed: list[bytes], dice: Random) -> None:
    dice.shuffle(mixed)


def _swap(mixed: list[bytes], dice: Random) -> None:
    first = dice.randrange(len(mixed))
    mixed[first - 1], mixed[first] = mixed[first], mixed[first - 1]


def _drop(mixed: list[bytes], dice: Random) -> None:
    del mixed[dice.randrange(len(mixed))]


def _double(mixed: list[bytes], dice: Random) -> None:
    _insert(mixed, dice.choice(mixed), dice)


def _cut(mixed: list[bytes], dice: Random) -> None:
    """Half of a frame, at a place where its UTF-8 may be cut."""
    index = dice.randrange(len(mixed))
    text = mixed[index].decode()
    mixed[index] = text[: dice.randint(0, len(text))].encode()


def _damage(mixed: list[bytes], dice: Random) -> None:
    index = dice.randrange(len(mixed))
    mixed[index] = damaged(mixed[index], dice)


def _insert_garbage(mixed: list[bytes], dice: Random) -> None:
    _insert(mixed, dice.choice(GARBAGE), dice)


def _insert(mixed: list[bytes], frame: bytes, dice: Random) -> None:
    mixed.insert(dice.randint(0, len(mixed)), frame)
