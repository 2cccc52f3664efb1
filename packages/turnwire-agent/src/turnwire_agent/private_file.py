"""A file of SQLite that is its owner's alone, made before SQLite opens it."""

import os
import threading
from pathlib import Path
from typing import Final

_MAKING: Final = threading.Lock()


def make_private(path: Path) -> None:
    """Make an empty file with mode 0600 if there is none.

    A file that is there is not opened. POSIX takes all locks of a file from a process that closes
    any descriptor of it, those of its connections to SQLite too. Then another process that closes
    the database takes itself for the last one, and deletes the write-ahead log under the first.

    Raises:
        OSError: It cannot be made.

    """
    # Who comes second connects only once the first has closed what it made.
    with _MAKING:
        try:
            descriptor = os.open(
                os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
            )
        except FileExistsError:
            return
        os.close(descriptor)
