"""The turn log in Redis: a process that dies, a Redis that fails, two processes at one moment."""

import ast
from typing import Final

from mutants.edit import decided, instead, unasked, without
from mutants.fault import Fault, Function
from mutants.wrong import never, nothing_is_done

_PACKAGE: Final = "turnwire.relay.turn_log.redis"
_LOG: Final = f"{_PACKAGE}.store:RedisTurnLog"
_WRITER: Final = f"{_PACKAGE}.writer:Writer"
_READER: Final = f"{_PACKAGE}.reader:RedisReader"
_LANE: Final = f"{_PACKAGE}.lane:Lane"


def _tests(*names: str) -> tuple[str, ...]:
    return tuple(f"relay/turn_log/redis/test_{name}.py" for name in names)


def nobody_waits(_keep: Function) -> Function:
    async def wrong(_self: object, _turns: object) -> None:
        """Renew nothing."""

    return wrong


FAULTS: Final = (
    Fault("readers wait for a dead process", f"{_READER}._take",
          decided(ast.If, outcome=False, nth=3), _tests("store")),
    Fault("a reader gets what it has again", f"{_READER}._take",
          without(ast.AugAssign, 2), _tests("store")),
    Fault("a silent turn loses its chat", f"{_WRITER}.keep", nobody_waits, _tests("store")),
    Fault("a full Redis is not tried again", f"{_WRITER}._refused",
          decided(ast.If, outcome=False, nth=2), _tests("store")),
    Fault("a turn with a hole is read", f"{_WRITER}._refused",
          decided(ast.If, outcome=False, nth=3), _tests("store")),
    Fault("two processes run a turn of one chat", f"{_LOG}.claim",
          decided(ast.If, outcome=False, nth=2), _tests("store")),
    Fault("a stop that comes twice is two stops", f"{_LOG}._carry_out",
          decided(ast.If, outcome=True), _tests("stops")),
    Fault("nobody is told of readers elsewhere", f"{_PACKAGE}.turn:RedisTurn.set_readers",
          nothing_is_done, _tests("store")),
    Fault("each prompt waits for a silent Redis", f"{_PACKAGE}.servers:Servers.is_down",
          never, _tests("lane")),
    Fault("a caller that gave up ends the lane", f"{_LANE}._run",
          decided(ast.If, outcome=True), _tests("lane")),
    Fault("a lane that is closed goes on", f"{_LANE}.send", unasked(1), _tests("lane")),
    Fault("one bad chat fails the others", f"{_PACKAGE}.batches:run_all",
          decided(ast.If, outcome=True, nth=2), _tests("batches")),
    Fault("a URL is printed with its password", f"{_PACKAGE}.address:Address.__repr__",
          instead(ast.JoinedStr, "str(self.options)"), _tests("address")),
)  # fmt: skip
