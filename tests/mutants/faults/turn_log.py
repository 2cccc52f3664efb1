"""The turn log: turns that readers get wrong, or that reach whom they should not."""

import ast
from typing import Final

from mutants.edit import decided, unasked, without
from mutants.fault import Fault
from mutants.wrong import never, nothing_is_done

_TEE: Final = "turnwire.core.turn_log.tee:Tee"
_READER: Final = "turnwire.core.turn_log.protocol:ReaderProtocol"
_MEMORY: Final = "turnwire.relay.turn_log.memory_turn:MemoryTurn"
_LOGGED: Final = "turnwire.web.routes.logged_turn:LoggedTurn"

_OF_THE_CORE: Final = ("core/turn_log",)
_OF_MEMORY: Final = ("relay/turn_log",)
_OF_CLAIMS: Final = ("relay/turn_log/test_claims.py",)
_OF_TURNS: Final = ("core/turn",)
_OF_ROUTES: Final = (
    "web/routes/test_logged_turn.py",
    "web/routes/test_logged_continuation.py",
)

FAULTS: Final = (
    Fault("a key is that of the channel alone", "turnwire.relay.turn_log.port:chat_key",
          without(ast.Starred), _OF_MEMORY),
    Fault("deltas that are kept are one", "turnwire.core.turn_log.entries:pack_texts",
          decided(ast.If, outcome=True), _OF_THE_CORE),
    Fault("another release's turn is read", "turnwire.core.turn_log.entries:_entry",
          without(ast.If), _OF_THE_CORE),
    Fault("a failure of the gateway is not kept", f"{_TEE}.fail", without(ast.If), _OF_THE_CORE),
    Fault("a repeated turn is kept again", f"{_TEE}._keep",
          decided(ast.If, outcome=True, nth=-3), _OF_THE_CORE),
    Fault("answers are kept before the turn goes on", f"{_TEE}._begin",
          without(ast.For), _OF_THE_CORE),
    Fault("any prompt's reader gets the turn", f"{_READER}._joined",
          decided(ast.If, outcome=False, nth=-1), _OF_THE_CORE),
    Fault("what was answered is asked again", f"{_READER}.is_closed", never, _OF_THE_CORE),
    Fault("a reader pauses in the middle of what was",
          "turnwire.core.turn_log.protocol:ReaderOutput.is_waiting", unasked(1), _OF_THE_CORE),
    Fault("anybody's answer is taken", "turnwire.core.turn_log.questions:AskedQuestions._rejection",
          unasked(2, nth=2), _OF_THE_CORE),
    Fault("an approval takes any answer",
          "turnwire.core.turn_log.questions:AskedQuestions._rejection",
          decided(ast.If, outcome=False, nth=-1), _OF_THE_CORE),
    Fault("an answer is taken twice", "turnwire.core.turn_log.questions:AskedQuestions._close",
          nothing_is_done, _OF_THE_CORE),
    Fault("a running turn is replaced", "turnwire.relay.turn_log.memory:MemoryTurnLog.claim",
          decided(ast.If, outcome=False, nth=2), _OF_MEMORY),
    Fault("a turn that is too long is kept on", f"{_MEMORY}.drop_entries",
          nothing_is_done, _OF_MEMORY),
    Fault("deltas wait until somebody asks", f"{_MEMORY}.end", without(ast.Expr), _OF_MEMORY),
    Fault("a former writer ends the turn", "turnwire.relay.turn_log.memory:_Writer.end",
          decided(ast.If, outcome=True), _OF_MEMORY),
    Fault("a prompt that never began takes the last turn with it",
          "turnwire.relay.turn_log.memory:MemoryTurnLog.discard",
          decided(ast.If, outcome=False), _OF_CLAIMS),
    Fault("the last turn stays beside the next one",
          "turnwire.relay.turn_log.memory:MemoryTurnLog.begun",
          decided(ast.If, outcome=False), _OF_CLAIMS),
    Fault("one user takes the room of all", "turnwire.relay.turn_log.memory:MemoryTurnLog.grown",
          without(ast.AugAssign, nth=2), ("relay/turn_log/test_memory.py",)),
    Fault("a turn of the log ends with a slow client",
          "turnwire.core.turn.abort:when_client_is_parted",
          decided(ast.IfExp, outcome=False), _OF_TURNS),
    Fault("a turn goes on for ever after its last reader",
          "turnwire.core.turn.client_state:ClientState.mark_unfollowed",
          nothing_is_done, _OF_TURNS),
    Fault("an approval begins a run each time it is sent",
          "turnwire.web.used_approvals:UsedApprovals.use",
          decided(ast.If, outcome=False), ("web/test_used_approvals.py",)),
    Fault("a reader is nobody", f"{_LOGGED}.read_by", nothing_is_done, _OF_ROUTES),
    Fault("a stop of another turn stops this one", f"{_LOGGED}.stop",
          decided(ast.If, outcome=False, nth=2), _OF_ROUTES),
    Fault("an approval waits for ever", f"{_LOGGED}.paused",
          decided(ast.If, outcome=False, nth=2), _OF_ROUTES),
    Fault("a run that cannot begin ends the wait", f"{_LOGGED}.failed",
          decided(ast.If, outcome=False, nth=2), _OF_ROUTES),
    Fault("half of the responses begin a run", "turnwire.web.routes.logged_continuation:_check",
          without(ast.If), _OF_ROUTES),
)  # fmt: skip
