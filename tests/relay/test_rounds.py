"""Whoever has much to do has others have their turn in between."""

import asyncio
from collections.abc import Callable, Generator, Iterator

import pytest

from turnwire.relay import rounds as module
from turnwire.relay.rounds import ENTRIES_PER_ROUND, Door, Rounds, Slices


@pytest.fixture(autouse=True)
def one_step_a_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLICE_S", -1.0)
    monkeypatch.setattr(module, "MIN_SLICE_S", -1.0)


def steps(done: list[str], name: str, count: int) -> Iterator[None]:
    for _ in range(count):
        done.append(name)
        yield


async def round_of_the_loop() -> None:
    await asyncio.sleep(0)


async def test_the_first_slice_is_done_at_once_and_one_more_in_each_round() -> None:
    done: list[str] = []
    slices = Slices(Rounds())

    slices.begin(steps(done, "a", 3))
    assert done == ["a"]
    for count in (2, 3):
        await round_of_the_loop()
        assert len(done) == count
    await round_of_the_loop()
    assert not slices.has_work


async def test_one_slice_is_done_in_a_round_however_many_wait() -> None:
    done: list[str] = []
    rounds = Rounds()
    for name in "abc":
        Slices(rounds).begin(steps(done, name, 3))
    done.clear()

    for count in range(1, 6):
        await round_of_the_loop()
        assert len(done) == count

    assert done == ["a", "b", "c", "a", "b"]


async def test_others_have_their_turn_while_much_is_done() -> None:
    done: list[str] = []
    Slices(Rounds()).begin(steps(done, "much", 1_000))

    for _ in range(5):
        asyncio.get_running_loop().call_soon(done.append, "other")
        await round_of_the_loop()

    assert done.count("other") == 5
    assert done.count("much") <= 7


async def test_what_is_held_goes_on_when_it_is_not() -> None:
    done: list[str] = []
    slices = Slices(Rounds())
    slices.begin(steps(done, "a", 3))

    slices.set_paused(is_paused=True)
    for _ in range(5):
        await round_of_the_loop()
    assert done == ["a"]
    slices.set_paused(is_paused=False)
    slices.set_paused(is_paused=False)
    for _ in range(3):
        await round_of_the_loop()

    assert done == ["a"] * 3
    assert not slices.has_work


async def test_what_is_dropped_is_not_done() -> None:
    done: list[str] = []
    slices = Slices(Rounds())
    slices.begin(steps(done, "a", 3))

    slices.drop()
    for _ in range(3):
        await round_of_the_loop()

    assert done == ["a"]
    assert not slices.has_work


async def test_what_raises_ends_alone() -> None:
    done: list[str] = []
    rounds = Rounds()
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: problems.append(said))

    def bad() -> Iterator[None]:
        yield
        raise ValueError("a bug")

    broken = Slices(rounds)
    broken.begin(bad())
    Slices(rounds).begin(steps(done, "good", 3))
    for _ in range(6):
        await round_of_the_loop()

    assert len(problems) == 1
    assert done == ["good"] * 3
    assert not broken.has_work
    assert not rounds


def sum_of(taken: list[str], name: str, count: int) -> Generator[None, None, int]:
    yield from steps(taken, name, count)
    return count


async def test_work_that_is_waited_for_has_a_result_and_lets_others_go_on() -> None:
    taken: list[str] = []
    rounds = Rounds()

    async with asyncio.TaskGroup() as group:
        two = group.create_task(module.run_in_slices(rounds, sum_of(taken, "two", 2)))
        three = group.create_task(module.run_in_slices(rounds, sum_of(taken, "three", 3)))

    assert (two.result(), three.result()) == (2, 3)
    assert taken != sorted(taken)
    assert not rounds


async def test_work_that_is_waited_for_raises_what_it_raises() -> None:
    def bad() -> Generator[None, None, int]:
        yield
        raise ValueError("a bug")

    rounds = Rounds()
    with pytest.raises(ValueError, match="a bug"):
        await module.run_in_slices(rounds, bad())
    assert not rounds


async def test_work_that_nobody_waits_for_any_more_is_not_done() -> None:
    taken: list[str] = []
    rounds = Rounds()
    waiting = asyncio.create_task(module.run_in_slices(rounds, sum_of(taken, "a", 100)))
    await round_of_the_loop()

    waiting.cancel()
    for _ in range(5):
        await round_of_the_loop()

    assert waiting.cancelled()
    assert len(taken) < 4
    assert not rounds


def entering(entered: list[str], name: str, *, begins: bool = True) -> Callable[[], bool]:
    def enter() -> bool:
        entered.append(name)
        return begins

    return enter


async def test_a_few_enter_in_a_round_and_the_others_in_their_order() -> None:
    door, entered = Door(), list[str]()
    names = [str(number) for number in range(2 * ENTRIES_PER_ROUND + 1)]

    for name in names:
        if door.is_open():
            entered.append(name)
        else:
            door.wait(entering(entered, name), is_new=True)
    assert entered == names[:ENTRIES_PER_ROUND]
    await round_of_the_loop()
    assert entered == names[: 2 * ENTRIES_PER_ROUND]
    assert not door.is_open(), "nobody overtakes who waits"
    for _ in range(2):
        await round_of_the_loop()

    assert entered == names
    assert door.is_open()


async def test_a_newcomer_that_raises_keeps_nobody_out() -> None:
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, said: problems.append(said))
    door, entered = Door(), list[str]()
    while door.is_open():
        pass

    def bad() -> bool:
        raise ValueError("a bug")

    door.wait(bad, is_new=True)
    door.wait(entering(entered, "good"), is_new=False)
    await round_of_the_loop()

    assert entered == ["good"]
    assert len(problems) == 1


async def test_who_comes_again_does_not_keep_out_who_is_new() -> None:
    door, entered = Door(), list[str]()
    while door.is_open():
        pass
    for _ in range(3 * ENTRIES_PER_ROUND):
        door.wait(entering(entered, "again"), is_new=False)
    door.wait(entering(entered, "new"), is_new=True)

    await round_of_the_loop()

    assert entered.count("new") == 1
    assert entered.count("again") == ENTRIES_PER_ROUND - 1


async def test_who_began_nothing_takes_no_place() -> None:
    door, entered = Door(), list[str]()
    for _ in range(3 * ENTRIES_PER_ROUND):
        assert door.is_open()
        door.return_entry()
    while door.is_open():
        pass
    for _ in range(3 * ENTRIES_PER_ROUND):
        door.wait(entering(entered, "nothing", begins=False), is_new=True)
    for _ in range(2 * ENTRIES_PER_ROUND):
        door.wait(entering(entered, "request"), is_new=True)

    await round_of_the_loop()

    assert entered.count("nothing") == 3 * ENTRIES_PER_ROUND
    assert entered.count("request") == ENTRIES_PER_ROUND
