"""What a turn streams as it comes: the pieces of `events.Streamed`."""

from msgspec import Raw, Struct


class TextAdded(Struct, frozen=True, omit_defaults=True, tag="text"):
    """More text."""

    text: str


class ReasoningAdded(Struct, frozen=True, omit_defaults=True, tag="reasoning"):
    """More of what the model thinks, for people to read."""

    text: str


class InputAdded(Struct, frozen=True, omit_defaults=True, tag="input"):
    """More of the input of a call, as JSON text; empty when the call begins."""

    call_id: str
    tool: str
    text: str


class FileAdded(Struct, frozen=True, omit_defaults=True, tag="file"):
    """A file that the turn hands out."""

    mime: str
    url: str
    filename: str | None = None


class SourceAdded(Struct, frozen=True, omit_defaults=True, tag="source"):
    """A page that the turn refers to."""

    source_id: str
    url: str
    title: str = ""


class DataSet(Struct, frozen=True, omit_defaults=True, tag="data"):
    """Data of the app's own kind."""

    name: str
    value: Raw
    data_id: str | None = None
    transient: bool = False


class StatusChanged(Struct, frozen=True, omit_defaults=True, tag="status"):
    """What the agent is doing, as `thinking`. Of a long wait it is the only sign of life."""

    status: str
    detail: str | None = None


class PreliminaryResult(Struct, frozen=True, omit_defaults=True, tag="result"):
    """How far a call is: a preliminary result, which the next one replaces."""

    call_id: str
    tool: str
    value: Raw


Delta = (
    TextAdded
    | ReasoningAdded
    | InputAdded
    | FileAdded
    | SourceAdded
    | DataSet
    | StatusChanged
    | PreliminaryResult
)
