"""Rules by which a turn survives its process, broken in the process that dies."""

import ast
from collections.abc import Generator
from typing import Any, Final

from mutants.edit import decided
from mutants.fault import Fault, Function
from turnwire_agent.host.streamed import joined
from turnwire_agent.host.writer import Writer
from turnwire_agent.journal.sql.transactions import Query
from turnwire_agent.session.events import Streamed

KILLED: Final = ("runtime/kill/test_kill.py",)
STOPPED: Final = ("runtime/kill/test_stopped.py",)


def told_first(commit: Function) -> Function:
    async def wrong(self: Any, batch: Any) -> None:
        tell = self._committed
        events: list[Any] = []
        for each in batch:
            if hasattr(each, "deltas"):
                events.append(Streamed(each.turn_id, joined(each.deltas)))
            else:
                events += each.events
        tell(events, tell.__self__.head + len(events))
        self._committed = lambda *_args: None
        try:
            await commit(self, batch)
        finally:
            self._committed = tell

    assert commit.__qualname__.startswith(Writer.__name__)
    return wrong


def without_a_fence(append: Function) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        transaction = append(*args, **kwargs)
        (query,) = next(transaction)
        statement = query.statement.replace("and owner = :owner and epoch = :epoch", "")
        answers = yield [Query(statement, query.parameters)]
        while True:
            try:
                queries = transaction.send(answers)
            except StopIteration as ended:
                return ended.value
            answers = yield queries

    return wrong


FAULTS: Final = (
    Fault(
        "what was done once is done again after a crash",
        "turnwire_agent.loop.call_steps:_again",
        decided(ast.If, outcome=True),
        KILLED,
    ),
    Fault(
        "an event is told before it is committed",
        "turnwire_agent.host.writer:Writer._commit",
        told_first,
        KILLED,
    ),
    Fault(
        "a process writes in a session that another one has",
        "turnwire_agent.journal.sql.transactions:append",
        without_a_fence,
        STOPPED,
    ),
)
