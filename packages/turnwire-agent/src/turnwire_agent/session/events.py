"""What is written in the journal of a session: each event is one row.

An event is a fact: it happened, and nothing takes it back. What the sockets of a session are told,
what `init` repeats, what a model is sent and what is done next all come from these events alone, by
functions. So a process that takes a session over knows all that the one before it knew.

Each kind has a version in its name, as `turn-ended.1`. A kind or version that is not known refuses
the session: see `codec`.
"""

from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Assistant, File, Image, Outcome, Text, Transcript
from turnwire_agent.session.deltas import Delta

Reason = Literal["end_turn", "error", "canceled"]


class Channel(Struct, frozen=True):
    """Where in the session a prompt was asked."""

    type: str = "web"
    id: str = "default"


class Attachment(Struct, frozen=True):
    """A file that came with a prompt, as the gateway sent it."""

    mime: str
    url: str
    """A `data:` URL, or one of a host that the gateway allows."""
    filename: str | None = None


# --- prompts ---------------------------------------------------------------------------------


class Prompted(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="prompted.1"):
    """A prompt was accepted. It waits until its turn begins."""

    entry_id: str
    prompt_id: str | None = None
    client_message_id: str | None = None
    user_id: str | None = None
    channel: Channel = Channel()
    content: str = ""
    attachments: tuple[Attachment, ...] = ()
    regenerate: bool = False
    """Whether the answer takes the place of the one before."""
    edit: bool = False
    """Whether it takes the place of the prompt with its `client_message_id`, and what followed."""
    at: float = 0.0


class PromptTakenBack(Struct, frozen=True, omit_defaults=True, tag="prompt-taken-back.1"):
    """A prompt that still waited was aborted."""

    entry_id: str


class PromptRepeated(Struct, frozen=True, omit_defaults=True, tag="prompt-repeated.1"):
    """The same message came again. It gets the turn of the first one, by both prompt ids."""

    entry_id: str
    """Of the prompt that came first."""
    prompt_id: str


# --- turns -----------------------------------------------------------------------------------


class TurnBegun(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="turn-begun.1"):
    """The turn of a prompt begins. What the prompt replaces leaves the history."""

    turn_id: str
    entry_id: str
    """Of its prompt."""
    at: float = 0.0


class TurnTakenOver(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="turn-taken-over.1"):
    """The process that ran the turn is gone; the one that writes this goes on with it."""

    turn_id: str
    at: float = 0.0


class TurnParked(Struct, frozen=True, omit_defaults=True, tag="turn-parked.1"):
    """Nothing runs any more: the turn waits for answers, and its lease is given up.

    Any later event of the turn ends that.
    """

    turn_id: str


class TurnEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="turn-ended.1"):
    """The turn is over. Whatever it left open is closed by this."""

    turn_id: str
    reason: Reason
    finish_reason: str = "stop"
    """Why the answer is no longer: `stop`, `length`, `content-filter`, `max-steps`, `context`, …"""
    error: str | None = None
    """Fixed words for people. Details are in the log."""
    usage: Usage | None = None
    """Of all calls of models in the turn whose answers count, added up."""
    lost_usage: Usage | None = None
    """Of the attempts that were lost."""
    parts: tuple["Part", ...] = ()
    """The turn as the history repeats it."""
    messages: Transcript = ()
    """The turn as models are sent it: without the prompt, and valid or not (see `loop.prepare`)."""
    at: float = 0.0


# --- one call of a model ---------------------------------------------------------------------


class StepBegun(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="step-begun.1"):
    """A model is asked. What is told from here on belongs to this attempt."""

    turn_id: str
    step: int
    """From 0."""
    attempt: int = 0
    """From 0, of this step."""
    since: int = 0
    """How many parts the turn had: those after them are taken back if the attempt is lost."""
    model: str = ""
    names: tuple[tuple[str, str], ...] = ()
    """Name on the wire and registered name, where they differ."""
    at: float = 0.0


class StepEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="step-ended.1"):
    """The answer has its terminator. Its calls may be run from now on.

    Models may use an id twice in one turn. All events of calls have ids that are unique in the
    turn; `message` has those of the model, and `call_ids` joins them.
    """

    turn_id: str
    step: int
    message: Assistant
    """With the registered names of tools, and the ids of the model."""
    call_ids: tuple[str, ...] = ()
    """The id of each call of `message` in this turn, in its order."""
    finish_reason: str
    raw: str = ""
    usage: Usage = Usage()


class AttemptLost(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="attempt-lost.1"):
    """The answer broke off. Nothing of it counts, and no tool of it was run."""

    turn_id: str
    step: int
    attempt: int
    since: int
    why: str
    """A kind of `llm.faults.Fault`, or `died`: the process that asked is gone."""
    final: bool = False
    """The call was given up before its answer began: another attempt changes nothing."""
    retry_after_s: float | None = None
    """What the provider asks us to wait."""
    usage: Usage | None = None


class Compacted(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="compacted.1"):
    """The transcript was too long for the model; this one takes its place, for later turns too."""

    turn_id: str
    transcript: Transcript
    """All before the next step, the prompt of this turn too."""


# --- what is streamed as it comes ------------------------------------------------------------


class Streamed(Struct, frozen=True, omit_defaults=True, tag="streamed.1"):
    """What came while the commit before was in flight, in order. Neighbours of one kind are one."""

    turn_id: str
    deltas: tuple[Delta, ...]


# --- tools -----------------------------------------------------------------------------------


class CallBegun(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="call-begun.1"):
    """A tool is about to run: the intent of an effect."""

    turn_id: str
    call_id: str
    tool: str
    key: str
    """What the receiver of the effect knows the call by: `session/turn/call-id`, or a key that the
    tool makes of its input."""
    effect: Literal["safe", "keyed", "once"]
    input: Raw
    """The validated input as JSON. It is run, never what a client sends."""
    run: int = 0
    """From 0. A run after a crash has the next number."""
    at: float = 0.0


class CallEnded(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="call-ended.1"):
    """A call has its outcome. A call that was refused, or never run, ends without `CallBegun`."""

    turn_id: str
    call_id: str
    tool: str
    outcome: Outcome
    content: tuple[Text | Image | File, ...] = ()
    """For the model."""
    value: Raw | UnsetType = UNSET
    """For people, as JSON; unset: `content`."""
    error: str | None = None
    """For people, if the outcome is not `done`: fixed words, or those of `ToolFailed`."""
    input: Raw | UnsetType = UNSET
    """Of a call that never began, where it is JSON."""


# --- questions -------------------------------------------------------------------------------


class QuestionAsked(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="question-asked.1"):
    """A person is asked. A turn that only waits for answers holds no lease, task or socket."""

    turn_id: str
    question_id: str
    text: str
    options: tuple[str, ...] = ()
    expires_at: float | None = None
    """Seconds since 1970."""
    call_id: str | None = None
    """Of the call that waits for approval; without one it is no approval."""
    asked_by: str | None = None
    """The call whose tool asks this while it runs. It is no approval."""
    tool: str | None = None
    input: Raw | UnsetType = UNSET
    """The validated input of that call. On approval this runs."""
    input_hash: str | None = None
    tool_digest: str | None = None
    """Of the tool as it was then. If it changed, the question is asked again."""
    at: float = 0.0


class QuestionClosed(
    Struct, frozen=True, kw_only=True, omit_defaults=True, tag="question-closed.1"
):
    """The first answer, or none in time, or the end of the turn."""

    turn_id: str
    question_id: str
    answer: Raw | UnsetType = UNSET
    """Unset: expired."""
    user_id: str | None = None
    at: float = 0.0
    """The time of a turn does not go on while a question of it is open."""


# --- the parts of a turn, as the history repeats them ----------------------------------------


class TextPart(Struct, frozen=True, omit_defaults=True, tag="text"):
    """A block of text. One of a lost attempt is no part."""

    text: str


class ReasoningPart(Struct, frozen=True, omit_defaults=True, tag="reasoning"):
    """A block of reasoning."""

    text: str


class CallPart(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="call"):
    """A call and how far it is."""

    call_id: str
    tool: str
    status: Literal["pending", "running", "completed", "error"] = "pending"
    input_text: str = ""
    """The pieces so far, until `input` is known."""
    input: Raw | UnsetType = UNSET
    value: Raw | UnsetType = UNSET
    preliminary: bool = False
    error: str | None = None


class FilePart(Struct, frozen=True, omit_defaults=True, tag="file"):
    """A file that the turn handed out."""

    mime: str
    url: str
    filename: str | None = None


class SourcePart(Struct, frozen=True, omit_defaults=True, tag="source"):
    """A page that the turn refers to."""

    source_id: str
    url: str
    title: str = ""


class DataPart(Struct, frozen=True, omit_defaults=True, tag="data"):
    """Data of the app's own kind, in its last state."""

    name: str
    value: Raw
    data_id: str | None = None


class QuestionPart(Struct, frozen=True, omit_defaults=True, tag="question"):
    """A question and what became of it."""

    asked: QuestionAsked
    answer: Raw | UnsetType = UNSET
    expired: bool = False


class StepPart(Struct, frozen=True, omit_defaults=True, tag="step"):
    """A mark between two parts: a model was called again. It has no position of its own."""


Part = (
    TextPart | ReasoningPart | CallPart | FilePart | SourcePart | DataPart | QuestionPart | StepPart
)

Event = (
    Prompted
    | PromptTakenBack
    | PromptRepeated
    | TurnBegun
    | TurnTakenOver
    | TurnParked
    | TurnEnded
    | StepBegun
    | StepEnded
    | AttemptLost
    | Compacted
    | Streamed
    | CallBegun
    | CallEnded
    | QuestionAsked
    | QuestionClosed
)
