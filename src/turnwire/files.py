"""Files and directories that settings name: what is read from them, what may be written there."""

import os
from pathlib import Path
from typing import Final

SECRET_BYTES_MAX: Final = 1_048_576
"""Of a file that holds a secret: keys are shorter, and a device has no end."""


class UnreadableError(ValueError):
    """A file that cannot be read, or is no text. Why, and nothing of what is in it."""


def secret(path: str) -> str:
    """What a file holds, without white space around it.

    Raises:
        UnreadableError: there is no such file, or it is no text, or too long.

    """
    try:
        with Path(path).open("rb") as file:
            held = file.read(SECRET_BYTES_MAX + 1)
        if len(held) > SECRET_BYTES_MAX:
            raise UnreadableError(f"holds more than {SECRET_BYTES_MAX} bytes")
        return held.decode().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise UnreadableError(f"cannot be read ({type(exc).__name__})") from exc


def file_problem(path: str) -> str | None:
    """Why nothing can be added to a file; None if something can."""
    place = Path(path)
    try:
        if place.is_dir():
            return "is a directory"
        if place.exists():
            return None if os.access(place, os.W_OK) else "cannot be written"
        return None if _takes_more(place.parent) else "its directory is none that can be written"
    except OSError as exc:  # a name that is too long, for one
        return f"cannot be written ({exc.strerror})"


def directory_problem(path: str) -> str | None:
    """Why nothing can be put into a directory, which is made if need be; None if something can."""
    place = Path(path)
    try:
        while not place.exists() and place != place.parent and not place.is_symlink():
            place = place.parent
        if not place.is_dir():
            return "is no directory, and none can be made of it"
        return None if _takes_more(place) else "cannot be written"
    except OSError as exc:
        return f"cannot be written ({exc.strerror})"


def _takes_more(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.W_OK | os.X_OK)
