"""What a frame allocates; a turn does not grow with its length, nor a gateway with its turns."""

import gc
import sys
import tracemalloc
from collections import Counter
from types import FunctionType, ModuleType
from typing import NoReturn

import pytest

from gateway import frames
from guards.counting import peak_bytes
from guards.limits import hold
from guards.offline import Offline, OfflineDialler, begun_turn, deltas, turns
from guards.offline_http import DELTA as HTTP_DELTA
from guards.offline_http import offline
from turnwire.core.turn.turn import Turn
from turnwire.core.turn_log.entries import Head, pack
from turnwire.relay.agent.websocket_fast_path import split_text_frames
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.port import ChatKey

FEW, MANY = 300, 900


def size(root: object) -> int:
    """Bytes of all that an object holds, but for code."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        one = waiting.pop()
        if id(one) not in seen and not isinstance(one, type | ModuleType | FunctionType):
            seen[id(one)] = one
            waiting += gc.get_referents(one)
    return sum(map(sys.getsizeof, seen.values()))


def length_of(turn: Turn) -> int:
    return turn.frames_received


def test_what_a_delta_allocates() -> None:
    turn = begun_turn()
    turn.frames(deltas(MANY), 1)
    few = peak_bytes(lambda: turn.frames(deltas(FEW), 1))
    many = peak_bytes(lambda: turn.frames(deltas(MANY), 1))

    hold("core: bytes allocated a delta, at the peak of a read", (many - few) / (MANY - FEW))


def test_what_a_frame_cut_out_of_a_read_allocates() -> None:
    few, many = (frames.raw(deltas(1)[0]) * count for count in (FEW, MANY))
    more = peak_bytes(lambda: split_text_frames(many, 4_000)) - peak_bytes(
        lambda: split_text_frames(few, 4_000)
    )

    hold("relay: bytes allocated a frame, at the peak of a read", more / (MANY - FEW))


def test_a_turn_does_not_grow_with_its_length() -> None:
    turn = begun_turn()
    while turn.frames_received < 1_000:
        turn.frames(deltas(100), 1)
    before = size(turn)

    while length_of(turn) < 200_000:
        turn.frames(deltas(500), 1)

    # What is not hashed yet may be another part of a batch; 16,384 characters are the most.
    assert size(turn) - before < 2 * 16_384 + 4_096


def test_what_a_turn_holds() -> None:
    begun_turn()  # fills what all turns share
    kept: list[Turn | None] = [None] * MANY
    tracemalloc.start()
    try:
        for number in range(MANY):
            kept[number] = begun_turn()
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    hold("core: bytes of a turn that streams", held / MANY)


async def test_what_a_turn_of_10_kb_takes_in_the_turn_log() -> None:
    log = MemoryTurnLog(Rounds(), turn_bytes=2**23, total_bytes=2**27, keep_s=60)
    control = Unreached()
    texts = ["hello"] * 2_000

    async def turn(number: int) -> None:
        writer = await log.claim(ChatKey(f"{number:032}"), pack(Head("p" * 32, "user")), control)
        assert writer is not None
        for text in texts:
            writer.append_texts([text])

    await turn(0)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(1, FEW + 1):
            await turn(number)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    await log.aclose()

    hold("turn log: bytes of a turn of 10 KB", held / FEW)
    assert held / FEW < 20_000_000 / 1_000


class Unreached:
    """The stream of a turn that nobody reads, stops or answers."""

    is_ending = False

    async def ended(self) -> NoReturn:
        raise AssertionError

    def stop(self, turn_id: str | None) -> NoReturn:
        raise AssertionError(turn_id)

    def answer(self, replies: object, user_id: str) -> NoReturn:
        raise AssertionError(replies, user_id)

    def read_by(self, readers: int) -> NoReturn:
        raise AssertionError(readers)


@pytest.mark.parametrize("turn_log", ["off", "memory"])
async def test_a_gateway_does_not_grow_with_its_turns(turn_log: str) -> None:
    await no_growth(Offline(OfflineDialler(turns(5)), turn_log=turn_log))


@pytest.mark.parametrize("turn_log", ["off", "memory"])
async def test_a_gateway_does_not_grow_with_its_turns_over_http(turn_log: str) -> None:
    with offline([HTTP_DELTA] * 5, turn_log=turn_log) as gateway:
        await no_growth(gateway)


async def no_growth(gateway: Offline) -> None:
    for _ in range(20):
        await gateway.turn()
    gc.collect()
    before = Counter(type(one).__name__ for one in gc.get_objects())

    for _ in range(200):
        await gateway.turn()

    gc.collect()
    more = Counter(type(one).__name__ for one in gc.get_objects()) - before
    # asyncio keeps up to a hundred timers that were cancelled; one object a turn would be 200.
    assert max(more.values()) < 150, more.most_common(10)
