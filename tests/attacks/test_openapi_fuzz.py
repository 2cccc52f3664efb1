"""Requests made up from `/openapi.json`: every answer is one that it documents."""

import asyncio
import importlib
import os
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from gateway.needed import lacking
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

EXAMPLES = int(os.environ.get("EXAMPLES", "25"))
"""Requests for each operation of each kind: as documented, and not."""

OPERATIONS = ("chat", "resume", "stop", "answer", "messages")
GOOD = {200, 204}
BAD = {400, 404, 405, 415}
ABLE = {"501", "503"}
"""What a gateway may say of itself and of its agent."""


class Served:
    """A gateway with the lab's agent, on a loop in a thread of its own."""

    def __init__(self) -> None:
        self.url = ""
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        quick = {"dial_s": 0.5, "verdict_s": 0.2, "question_wait_s": 0.5, "idle_s": 0.5}
        async with (
            ReferenceAgent(Habits()) as agent,
            Gateway(agent.url, given={"signing_keys": "x" * 40, **quick}) as gateway,
        ):
            self.url = gateway.url
            self._ready.set()
            await self._over.wait()


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as served:
        yield served


@pytest.fixture(scope="module")
def library() -> Any:
    try:
        return importlib.import_module("schemathesis")
    except ModuleNotFoundError:
        lacking("schemathesis is not installed (`make fuzz` installs it)")


@pytest.mark.attack(
    "requests made up from `/openapi.json`, as documented and not",
    "no 5xx but a documented 501 or 503; statuses, types and bodies are those of the document",
)
@pytest.mark.parametrize("kind", ["POSITIVE", "NEGATIVE"])
@pytest.mark.parametrize("operation_id", OPERATIONS)
def test_every_answer_is_documented(
    operation_id: str, kind: str, served: Served, library: Any
) -> None:
    schema = library.openapi.from_url(f"{served.url}/openapi.json")
    operation = schema.find_operation_by_id(operation_id)
    mode = library.GenerationMode[kind]

    seen: Counter[int] = Counter()

    @seed(7)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case: Any) -> None:
        response = case.call(headers=bearer())
        seen[response.status_code] += 1
        check(operation, response)

    ask()
    good = {404} if operation_id == "answer" else GOOD  # nobody guesses an open question
    assert seen.keys() & (good if kind == "POSITIVE" else BAD), seen


def check(operation: Any, response: Any) -> None:
    status = str(response.status_code)
    documented = operation.definition.raw["responses"]
    assert status in documented, (status, response.text)
    assert response.status_code < 500 or status in ABLE, response.text
    kinds = documented[status].get("content", {})
    told = response.headers.get("content-type", [""])[0].split(";")[0]
    assert told in kinds or (not kinds and not response.content), (status, told)
    operation.validate_response(response)
