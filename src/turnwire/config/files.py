"""Files and directories that settings name: read secrets, check that a path can be written."""

import errno
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

SECRET_BYTES_MAX: Final = 1_048_576
"""Longest file with secrets. Keys are shorter; a device file may have no end."""

_PASSING: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE})
"""Errors that pass, and are no reason to refuse a start: a full disk costs recordings, no turns."""


class UnreadableError(ValueError):
    """A file cannot be read, or is not text. The message says why, without contents of the file."""


def read_secret(path: str) -> str:
    """Return the text of a file, without white space around it.

    Raises:
        UnreadableError: as `read_text`.

    """
    return read_text(path).strip()


def read_text(path: str) -> str:
    """Return the text of a file.

    Raises:
        UnreadableError: there is no such file, or it is not UTF-8, or too long.

    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(SECRET_BYTES_MAX + 1)
        if len(content) > SECRET_BYTES_MAX:
            raise UnreadableError(f"holds more than {SECRET_BYTES_MAX} bytes")
        return content.decode()
    except (OSError, UnicodeDecodeError) as exc:
        raise UnreadableError(f"cannot be read ({type(exc).__name__})") from exc


def is_open_to_others(path: str) -> bool:
    """Whether the mode of a regular file lets others than its owner do anything with it."""
    try:
        mode = Path(path).stat().st_mode
    except OSError:  # it was read a moment ago, and is gone
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o077)


def file_problem(path: str) -> str | None:
    """Return why the process cannot append to a file; None if it can."""
    file = Path(path)
    try:
        if file.is_dir():
            return "is a directory"
        if file.is_file():
            _append_nothing(file)
        elif file.exists():  # for example, a pipe: to open one waits for its reader
            return None if os.access(file, os.W_OK) else "cannot be written"
        else:
            return _creation_problem(file.parent)
    except OSError as exc:  # for example, a name that is too long
        return None if exc.errno in _PASSING else f"cannot be written ({exc.strerror})"
    return None


def directory_problem(path: str) -> str | None:
    """Return why the process cannot write files to a directory; None if it can.

    A directory that does not exist is made later; then its nearest existing parent is checked.
    """
    folder = Path(path)
    try:
        while not folder.exists() and folder != folder.parent and not folder.is_symlink():
            folder = folder.parent
        if not folder.is_dir():
            return "is no directory, and none can be made of it"
        return _creation_problem(folder)
    except OSError as exc:
        return f"cannot be written ({exc.strerror})"


def _append_nothing(file: Path) -> None:
    """Open a file to append to it, and append no byte.

    The mode of a file does not say whether that works: root passes every mode, and some files of
    `/proc` can be opened, and refuse each write.

    Raises:
        OSError: it does not work.

    """
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, b"")
    finally:
        os.close(descriptor)


def _creation_problem(folder: Path) -> str | None:
    """Make a nameless file in a folder, and drop it. Return why that fails; None if it does not.

    The mode of a folder does not say it: root passes every mode, and `/proc` still takes no file.
    """
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as exc:
        if exc.errno not in _PASSING:
            return f"no file can be made in {folder} ({exc.strerror})"
    return None
