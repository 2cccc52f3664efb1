"""How many commands of a session may wait, and how large they may be."""

from turnwire_agent.journal.port import (
    COMMANDS_BYTES_MAX,
    COMMANDS_MAX,
    SMALL_COMMAND_BYTES,
    Command,
    TooManyCommandsError,
)


def check_room(command: Command, *, number: int, size: int) -> None:
    """Let a command wait with the others, or not.

    Args:
        command: The new one.
        number: How many would wait, with this one.
        size: Bytes of the bodies of all of them.

    Raises:
        TooManyCommandsError: there is no room for it.

    """
    is_small = len(command.body) <= SMALL_COMMAND_BYTES
    if number > COMMANDS_MAX or not (is_small or number == 1 or size <= COMMANDS_BYTES_MAX):
        raise TooManyCommandsError
