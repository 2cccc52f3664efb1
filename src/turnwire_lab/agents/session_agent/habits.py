"""The revision an agent speaks, and the ways in which one agent may differ from another."""

from typing import Final, Literal

import msgspec

Revision = Literal["R", "A", "V"]
QueueMode = Literal["followup", "collect", "steer"]
Status = Literal[
    "initializing",
    "running",
    "waiting_runner",
    "recovering",
    "hibernating",
    "hibernated",
    "restoring",
    "terminated",
    "archived",
    "error",
]

REVISIONS: Final[tuple[Revision, ...]] = ("R", "A", "V")
DEAD: Final[frozenset[Status]] = frozenset({"terminated", "archived", "error"})
"""A prompt to one of these is queued for ever (§5.10)."""


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """How this agent behaves. Times are the product's unless a person would wait for them."""

    revision: Revision = "V"
    owner: str | None = None
    """The owner of every session; None: the user of the first socket."""
    sessions: frozenset[str] | None = None
    """Ids that exist; None: all of them."""
    forbidden: frozenset[str] = frozenset()
    """Ids that no user may see. The answer is the same as for an id that does not exist (§2.2)."""
    revoked: frozenset[str] = frozenset()
    """Users whose tokens are revoked."""
    status: Status = "running"
    """What a session is when it is first asked for."""
    queue_mode: QueueMode = "followup"
    """For a prompt that names no mode (§3)."""
    noise: bool = True
    """Whether clients also get audit rows, models, `user.joined` and `user.left`."""
    late_february: bool = False
    """R as it was built from 27 February to 4 March: it echoes a sub-protocol (§2.1)."""
    ties_backwards: bool = False
    """R orders its queue by whole seconds (§5.3). Whether of one second the last goes first."""
    settles: bool = False
    """Whether a prompt's runner waits at its end until every socket has got it. The product's
    does not: without this, what a client sends meanwhile comes too late (§5.5)."""
    pace_s: float = 0.0
    """Between two deltas, and between two states of a tool."""
    slow_s: float = 0.2
    """Between two deltas of a turn that was asked to be slow."""
    init_delay_s: float = 0.0
    """R: between a socket's opening and its `init`, while broadcasts already reach it (§4.1)."""
    hydration_s: float = 0.0
    """A and V: between `init` and models, audit log and `user.joined`."""
    question_s: float = 300.0
    approval_s: float = 240.0
    collect_s: float = 3.0
    grace_s: float = 5.0
    """V: from the loss of the runner until its prompts are queued again (§5.10)."""
    reconnect_s: float = 1.0
    """From the loss of the runner until it is back; infinite: until a test brings it back."""
    loss_s: float = 60.0
    """From the loss of the runner until a new one is started, if it did not come back."""
    hibernate_s: float = 0.0
    wake_s: float = 1.0
    """For each step of waking up, and of a session that starts as `initializing`."""
    premature_s: float = 60.0
    """R: silence of a turn after which the runner ends it as if it were done (§5.4)."""
    safety_s: float = 60.0
    """From an error until a completion is forced that never came."""
    buffer_bytes: int = 64 * 1024 * 1024
    """What may wait for one socket before it is cut off."""
