import asyncio
import logging
from collections.abc import Iterable

import pytest

from gateway.signers import signer
from gateway.waiting import until
from runtime.access.key_sets import Clock, Told, key_set
from turnwire_agent.access.key_set import PAUSE_S, RETRY_S, STALE_S, KeySet
from turnwire_agent.access.public_keys import NoKeySetError, PublicKey

FIRST, SECOND = signer("ES256", 1), signer("ES256", 2)


def ids(keys: Iterable[PublicKey]) -> list[str | None]:
    return [key.key_id for key in keys]


async def settled(keys: KeySet) -> None:
    """Wait for a reading in the background."""
    await until(lambda: keys._reading is None)


async def test_a_set_is_read_once_and_kept() -> None:
    source, clock = Told(FIRST.jwk("a"), SECOND.jwk("b")), Clock()
    keys = KeySet(source, clock=clock)

    found = await asyncio.gather(*(keys.keys_for("a") for _ in range(50)))
    clock.now += source.fresh_s - 1

    assert [ids(each) for each in found] == [["a"]] * 50
    assert ids(await keys.keys_for("b")) == ["b"]
    assert ids(await keys.keys_for(None)) == []
    assert source.readings == 1


async def test_invented_ids_cause_one_reading_in_a_while() -> None:
    source, clock = Told(FIRST.jwk("a")), Clock()
    keys = KeySet(source, clock=clock)
    await keys.keys_for("a")

    for number in range(100):
        assert not await keys.keys_for(f"made-up-{number}")
    assert source.readings == 1
    clock.now += PAUSE_S
    for number in range(100):
        assert not await keys.keys_for(f"made-up-{number}")
    assert source.readings == 2
    assert not keys.failed


async def test_a_new_key_is_found_by_its_id() -> None:
    source, clock = Told(FIRST.jwk("a")), Clock()
    keys = KeySet(source, clock=clock)
    await keys.keys_for("a")
    source.body = key_set(FIRST.jwk("a"), SECOND.jwk("b"))
    clock.now += PAUSE_S

    assert ids(await keys.keys_for("b")) == ["b"]


async def test_an_old_set_is_read_again_while_requests_go_on_with_it() -> None:
    source, clock = Told(FIRST.jwk("a")), Clock()
    keys = KeySet(source, clock=clock)
    await keys.keys_for("a")
    source.body = key_set(SECOND.jwk("b"))
    clock.now += source.fresh_s

    assert ids(await keys.keys_for("a")) == ["a"]
    await settled(keys)
    assert ids(await keys.keys_for("a")) == []


async def test_a_stale_set_is_not_used_before_it_was_read_again() -> None:
    source, clock = Told(FIRST.jwk("a")), Clock()
    keys = KeySet(source, clock=clock)
    await keys.keys_for("a")
    source.body = key_set(SECOND.jwk("b"))
    clock.now += STALE_S

    assert ids(await keys.keys_for("a")) == []


async def test_while_readings_fail_the_last_set_stays_in_use(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source, clock = Told(FIRST.jwk("a")), Clock()
    keys = KeySet(source, clock=clock)
    await keys.keys_for("a")
    clock.now += STALE_S
    for body in (None, b"{", key_set(), key_set({"kty": "oct"})):
        source.body = body
        clock.now += PAUSE_S
        with caplog.at_level(logging.WARNING):
            assert ids(await keys.keys_for("a")) == ["a"]
        assert keys.failed
        assert caplog.messages[-1] == f"key set: {keys.failed}; the one before stays in use"
    assert source.readings == 5


async def test_a_set_that_was_never_there_is_asked_for_soon() -> None:
    source, clock = Told(), Clock()
    source.body = None
    keys = KeySet(source, clock=clock)
    with pytest.raises(NoKeySetError, match="answers 500"):
        await keys.load()

    assert not await keys.keys_for("a")
    assert (keys.failed, source.readings) == ("its server answers 500", 1)
    source.body = key_set(FIRST.jwk("a"))
    clock.now += RETRY_S
    assert ids(await keys.keys_for("a")) == ["a"]
    assert not keys.failed


async def test_one_that_is_read_often_is_asked_as_often_for_new_ids() -> None:
    source, clock = Told(FIRST.jwk("a"), fresh_s=10.0), Clock()
    keys = KeySet(source, clock=clock)
    await keys.load()
    source.body = key_set(SECOND.jwk("b"))
    clock.now += 10

    assert ids(await keys.keys_for("b")) == ["b"]


class Slow(Told):
    """It never ends."""

    async def read(self) -> bytes:
        self.readings += 1
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_request_that_goes_leaves_the_reading_to_the_others() -> None:
    source, clock = Slow(), Clock()
    keys = KeySet(source, clock=clock)
    first, second = (asyncio.create_task(keys.keys_for("a")) for _ in range(2))
    await until(lambda: source.readings == 1)
    first.cancel()
    await asyncio.wait([first])
    clock.now += STALE_S
    third = asyncio.create_task(keys.keys_for("a"))
    await asyncio.sleep(0)

    assert keys._reading is not None
    assert not keys._reading.cancelled()
    assert not second.done()
    assert source.readings == 1
    await keys.aclose()
    await asyncio.wait([second, third])
    assert keys._reading is None
    await keys.aclose()
