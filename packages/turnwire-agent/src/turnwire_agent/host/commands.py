"""What a session is asked for, as the journal keeps it until the holder of the session takes it."""

import msgspec
from msgspec import Raw, Struct

from turnwire_agent.journal.port import Command
from turnwire_agent.session.events import Prompted


class AbortCommand(Struct, frozen=True, kw_only=True, tag="abort.1"):
    """Stop a turn, or take a prompt back."""

    turn_id: str | None = None
    prompt_id: str | None = None
    user_id: str | None = None


class AnswerCommand(Struct, frozen=True, kw_only=True, tag="answer.1"):
    """Close a question."""

    question_id: str
    answer: Raw
    turn_id: str | None = None
    user_id: str | None = None


Wanted = Prompted | AbortCommand | AnswerCommand

_DECODER = msgspec.json.Decoder(Wanted)


class NewerCommandError(Exception):
    """A command of a newer version of this program."""


def command(id_: str, wanted: Wanted) -> Command:
    """Write a command."""
    return Command(id_, wanted.__struct_config__.tag, msgspec.json.encode(wanted))  # type: ignore[arg-type] # all are tagged


def wanted(command: Command) -> Wanted:
    """Read a command.

    Raises:
        NewerCommandError: its kind or version is not known.

    """
    try:
        decoded: Wanted = _DECODER.decode(command.body)
    except msgspec.DecodeError as error:
        raise NewerCommandError(command.kind) from error
    return decoded
