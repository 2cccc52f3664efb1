"""The table that binds our prompt to its turn: its states, and what changes them (page 6).

The rows say which state follows from a `Trigger` in a `Stage`. `binding.TurnBinding` decides
which trigger a frame is. The diagram in docs/session-agent.md is drawn from this table.

Pages are sections of docs/wire/session-agent.md.
"""

import enum
from collections.abc import Mapping
from typing import Final


class Stage(enum.Enum):
    AWAITING_INIT = enum.auto()
    """The agent has not sent `init`, and we have sent nothing."""
    LOOKING = enum.auto()
    """We send no prompt, and no turn or prompt of our channel has shown up yet."""
    AWAITING_LOCK = enum.auto()
    """Another stream of this process waits for its echo in this session. Nothing is sent yet."""
    SENT = enum.auto()
    """The prompt is sent. The agent has not shown it yet."""
    QUEUED = enum.auto()
    """The prompt waits behind another turn, or for the runner."""
    ECHOED = enum.auto()
    """Echoed. The runner has the prompt, unless the next status says that it was queued (R)."""
    DISPATCHED = enum.auto()
    """The runner has the prompt."""
    WORKING = enum.auto()
    """The runner is at work on the prompt; the turn has no id yet."""
    RUNNING = enum.auto()
    """The turn of the prompt has an id."""
    RUNNER_LOST = enum.auto()
    """The runner was lost; the agent will dispatch the prompt again (page 5.10)."""
    SUPERSEDED = enum.auto()
    """Another prompt of the channel was dispatched, so ours is over, with or without a report."""
    FINISHED = enum.auto()
    """The finish part came."""
    CANCELED = enum.auto()
    """The finish part came, and a restart may have canceled the turn: then the prompt goes on
    (page 5.4)."""
    OVER = enum.auto()


class Trigger(enum.Enum):
    """What may happen to our prompt and its turn. The value is the label in the diagram."""

    INIT = "init"
    INIT_TO_FOLLOW = "init, to follow"
    """The same, if we send no prompt."""
    PROMPT_SENT = "prompt sent"
    PROMPT_WAITS = "our prompt waits"
    """`queue.state` or `init` has it."""
    PROMPT_ECHOED = "our prompt echoed"
    PROMPT_DISOWNED = "echo names another author"
    """`queue.state` names no author: the prompt with our text belongs to another user."""
    PROMPT_QUEUED = "prompt queued (R)"
    """The status after an echo: it is about the prompt that was echoed last."""
    PROMPT_DISPATCHED = "our prompt dispatched"
    OTHER_ECHOED = "another prompt echoed"
    OTHER_FOLLOWS = "another prompt follows"
    """Another prompt of our channel was dispatched or echoed after ours."""
    RUNNER_WORKING = "runner at work"
    RUNNER_LOST = "runner lost"
    WORK_FOUND = "work found"
    """To follow: our channel is at work, in a turn whose id we do not have."""
    TURN_FOUND = "turn found"
    """To follow: a turn of our channel runs."""
    TURN_BEGAN = "turn began"
    """On our channel, while no other prompt of it is due."""
    TURN_ALIVE = "frame of our turn"
    FINISH_PART = "finish part"
    FINISH_CANCELED = "finish part, canceled"
    END = "end"


_BEFORE_TURN: Final = frozenset({Stage.ECHOED, Stage.DISPATCHED, Stage.WORKING})
AT_WORK: Final = _BEFORE_TURN | {Stage.RUNNING}
_MAY_FINISH: Final = frozenset({Stage.RUNNING, Stage.SUPERSEDED, Stage.SENT, Stage.QUEUED})
"""In the last two, the former turn of a prompt that waits again may still report its finish."""

_ROWS: Final = (
    ({Stage.AWAITING_INIT}, Trigger.INIT, Stage.AWAITING_LOCK),
    ({Stage.AWAITING_INIT}, Trigger.INIT_TO_FOLLOW, Stage.LOOKING),
    ({Stage.AWAITING_LOCK}, Trigger.PROMPT_SENT, Stage.SENT),
    ({Stage.SENT, Stage.LOOKING}, Trigger.PROMPT_WAITS, Stage.QUEUED),
    ({Stage.SENT, Stage.QUEUED, Stage.RUNNER_LOST}, Trigger.PROMPT_ECHOED, Stage.ECHOED),
    ({Stage.QUEUED}, Trigger.PROMPT_DISOWNED, Stage.SENT),
    ({Stage.ECHOED}, Trigger.PROMPT_QUEUED, Stage.QUEUED),
    ({Stage.ECHOED}, Trigger.OTHER_ECHOED, Stage.DISPATCHED),
    ({Stage.QUEUED, Stage.ECHOED}, Trigger.PROMPT_DISPATCHED, Stage.DISPATCHED),
    ({Stage.LOOKING, Stage.RUNNER_LOST}, Trigger.PROMPT_DISPATCHED, Stage.DISPATCHED),
    ({Stage.ECHOED, Stage.DISPATCHED}, Trigger.RUNNER_WORKING, Stage.WORKING),
    ({Stage.LOOKING, Stage.QUEUED}, Trigger.WORK_FOUND, Stage.WORKING),
    ({Stage.LOOKING, Stage.QUEUED, Stage.WORKING}, Trigger.TURN_FOUND, Stage.RUNNING),
    (AT_WORK | {Stage.RUNNER_LOST, Stage.CANCELED}, Trigger.TURN_BEGAN, Stage.RUNNING),
    (_BEFORE_TURN | {Stage.RUNNER_LOST}, Trigger.TURN_ALIVE, Stage.RUNNING),
    (AT_WORK, Trigger.RUNNER_LOST, Stage.RUNNER_LOST),
    (AT_WORK, Trigger.OTHER_FOLLOWS, Stage.SUPERSEDED),
    ({Stage.CANCELED}, Trigger.OTHER_FOLLOWS, Stage.FINISHED),
    (_MAY_FINISH, Trigger.FINISH_PART, Stage.FINISHED),
    (_MAY_FINISH, Trigger.FINISH_CANCELED, Stage.CANCELED),
    (frozenset(Stage) - {Stage.AWAITING_LOCK, Stage.OVER}, Trigger.END, Stage.OVER),
)
"""In any of these states, this trigger leads to that state."""

TRANSITIONS: Final[Mapping[tuple[Stage, Trigger], Stage]] = {
    (stage, trigger): target for stages, trigger, target in _ROWS for stage in stages
}

_PROMPTS: Final = frozenset({Trigger.OTHER_ECHOED, Trigger.PROMPT_QUEUED})
_TURNS: Final = frozenset({Trigger.OTHER_FOLLOWS, Trigger.RUNNER_LOST, Trigger.TURN_BEGAN})
_REPEATED: Final = frozenset({Trigger.PROMPT_ECHOED, Trigger.PROMPT_DISPATCHED})

IGNORED: Final[Mapping[Stage, frozenset[Trigger]]] = {
    Stage.AWAITING_INIT: _PROMPTS | _TURNS,
    Stage.LOOKING: _PROMPTS | _TURNS,
    Stage.AWAITING_LOCK: _PROMPTS | _TURNS,
    Stage.SENT: _PROMPTS | _TURNS | {Trigger.TURN_ALIVE},
    Stage.QUEUED: _PROMPTS | _TURNS | {Trigger.TURN_ALIVE},
    Stage.ECHOED: frozenset({Trigger.PROMPT_ECHOED}),
    Stage.DISPATCHED: _PROMPTS | _REPEATED,
    Stage.WORKING: _PROMPTS | _REPEATED | {Trigger.RUNNER_WORKING, Trigger.WORK_FOUND},
    Stage.RUNNING: _PROMPTS | _REPEATED | {Trigger.RUNNER_WORKING, Trigger.TURN_ALIVE},
    Stage.RUNNER_LOST: _PROMPTS
    | {Trigger.OTHER_FOLLOWS, Trigger.RUNNER_LOST, Trigger.RUNNER_WORKING},
    Stage.SUPERSEDED: _PROMPTS | _TURNS | _REPEATED | {Trigger.TURN_ALIVE},
    Stage.FINISHED: _PROMPTS | _TURNS | _REPEATED,
    Stage.CANCELED: _PROMPTS | _REPEATED | {Trigger.RUNNER_LOST},
    Stage.OVER: frozenset({Trigger.TURN_ALIVE, Trigger.END}),
}
"""Triggers that change nothing in a state.

A trigger that has neither a row nor a place here cannot occur in that state: the methods of
`TurnBinding`, or their callers, do not report it there (`TurnBinding._apply` asserts that)."""
