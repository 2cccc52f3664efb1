"""A key in a file that may be replaced while we run."""

import os
import stat
from pathlib import Path
from typing import Final

from turnwire_agent.llm.credentials.concurrency import OwnThread
from turnwire_agent.llm.credentials.key_header import usable_key
from turnwire_agent.llm.credentials.port import Failure, unless_failed
from turnwire_agent.llm.credentials.secret import Secret

_BYTES_MAX: Final = 64 * 1024


class KeyFile:
    """A key that is the one line of a file. It is read again when the file changes.

    "Changes" is what `stat` shows: time, size, or another file of the same name.

    Args:
        path: The file.
        noun: What it has, as `token`: for the messages.
    """

    def __init__(self, path: Path, *, noun: str = "key") -> None:
        self._path = path
        self._noun = noun
        self._thread = OwnThread("key-file")
        self._seen: tuple[int, ...] | None = None
        self._key = Secret("")

    def __repr__(self) -> str:
        return f"KeyFile({self._path})"

    async def read(self) -> Secret:
        return unless_failed(await self._thread.run(self._read))

    def expire(self) -> None:
        self._seen = None

    def _read(self) -> Secret | Failure:
        try:
            # A FIFO that nobody writes must not hold this thread for ever.
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return Failure("missing", f"No {self._noun}: there is no file {self._path}.")
        except OSError as error:
            return Failure("unusable", f"No {self._noun}: {self._path}: {error.strerror}.")
        try:
            return self._read_open(descriptor)
        finally:
            os.close(descriptor)

    def _read_open(self, descriptor: int) -> Secret | Failure:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            return Failure("unusable", f"No {self._noun}: {self._path} is not a file.")
        seen = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if seen != self._seen:
            if found.st_size > _BYTES_MAX:
                return Failure("unusable", f"No {self._noun}: {self._path} is too long to be one.")
            # Latin-1 takes every byte; what is not ASCII is refused with its position.
            text = os.read(descriptor, _BYTES_MAX).decode("latin-1")
            key = usable_key(text.rstrip("\r\n"), f"the file {self._path}", self._noun)
            if isinstance(key, Failure):
                return key
            self._key, self._seen = key, seen
        return self._key
