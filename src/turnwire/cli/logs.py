"""Logs on standard error: JSON objects, one a line, or lines for a person.

What libraries log is among it. Neither form lets what comes from outside add a line, or say
anything to a terminal.
"""

import json
import logging
import os
import re
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Final, Literal, TextIO

import msgspec
import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from turnwire.cli.sink import Sink

Format = Literal["auto", "json", "console"]
Level = Literal["debug", "info", "warning", "error"]

LINE_BYTES_MAX: Final = 4096
"""A JSON line but for a traceback: so much goes into a pipe whole, whoever else writes to it."""

DRAIN_S: Final = 1.0
"""What a process that ends waits for whoever reads its log."""

_VALUE_BYTES_MAX: Final = 512
"""What is left of each value of a line that would be longer."""

_SHOWN_MAX: Final = 1024
"""Of a value, for a person."""

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")
_UNPRINTABLE_OF_LINES: Final = re.compile(r"[^\x20-\x7e\n]")

_encode: Final = json.JSONEncoder(default=repr).encode
"""In ASCII: nothing that a terminal might act upon."""

_plain: Final = msgspec.json.Encoder().encode
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""What both encoders write alike, but for the exponent of a float, and what is no number."""

_CHATTY: Final = ("websockets", "httpx", "httpcore", "urllib3", "asyncio")
"""What they say below a warning is a line for each handshake or request, and may be secret."""


def configure_logs(form: Format = "auto", level: Level = "info") -> None:
    """Set up structlog, and hand it what libraries log through `logging`.

    `auto` is a person's form where standard error is a terminal, and JSON elsewhere. What we log
    ourselves does not take the way through `logging`: each stream has its line, and `logging` was
    most of what that cost.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,  # the trace of the request, where there is one
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if sys.stderr is None:  # closed by whoever started this; the next socket would be in its place
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (for good)
    rendering = _rendering(for_person=form == "console" or (form == "auto" and _is_watched()))
    stream = _waitless(sys.stderr)
    structlog.configure(
        processors=[*shared, *rendering],
        logger_factory=lambda name: _Lines(name, stream),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = _Handler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(max(logging.WARNING, logging.getLogger().level))


def end_by(number: int, _: FrameType | None = None) -> None:
    """End the process by this signal, as one that never heard of it, once its log is written.

    To be the handler of a signal before there is a server, which calls it again when it is done.
    """
    logging.shutdown()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    raise SystemExit  # only the first process of a container lives to see this


def _waitless(stream: TextIO) -> TextIO | Sink:
    try:
        return Sink(stream.fileno(), _lost)
    except OSError:  # no file of the system's, which then is nobody's to wait for
        return stream


def _lost(lines: int) -> None:
    structlog.get_logger("turnwire.logs").error("lines were lost", lines=lines)


class _Handler(logging.StreamHandler[TextIO | Sink]):
    """Closed by `logging.shutdown`, at the end of the process too; that waits `DRAIN_S` at most."""

    def close(self) -> None:
        if isinstance(self.stream, Sink):
            self.stream.drain(DRAIN_S)
        super().close()


class _Lines:
    """Where our own lines go. One that cannot be written is lost: it must not end a stream."""

    def __init__(self, name: str, stream: TextIO | Sink) -> None:
        self.name = name
        self._stream = stream

    def msg(self, line: str) -> None:
        try:
            self._stream.write(f"{line}\n")
            self._stream.flush()
        except (OSError, ValueError):
            pass

    debug = info = warning = error = critical = msg


def _is_watched() -> bool:
    return sys.stderr.isatty()


def _rendering(*, for_person: bool) -> list[Processor]:
    if not for_person:
        return [structlog.processors.format_exc_info, _json]
    # The renderer's own way to show a traceback shows local variables too.
    return [
        _printable,
        structlog.dev.ConsoleRenderer(colors=_is_watched(), exception_formatter=_traceback),
    ]


def _json(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    line = _line(event)
    if len(line) < LINE_BYTES_MAX:
        return line
    return _encode({name: _cut(name, value) for name, value in event.items()})


def _line(event: EventDict) -> str:
    """What `_encode` makes of it, but for such numbers; at once for plain values in ASCII.

    The standard library makes an encoder for each line, and calls it back for each text.
    """
    if _PLAIN.issuperset(map(type, event.values())):
        try:
            line = msgspec.json.format(_plain(event), indent=0).decode("ascii")
        except (UnicodeError, OverflowError):  # other letters, or half of one; a huge number
            return _encode(event)
        if "\x7f" not in line:
            return line
    return _encode(event)


def _cut(name: str, value: object) -> object:
    """Half of a text that is too long, and so on; of a table its first entries."""
    if name == "exception" or len(_encode(value)) <= _VALUE_BYTES_MAX:
        return value
    if isinstance(value, dict):
        return _cut(name, dict(list(value.items())[: len(value) // 2]))
    kept = (value if isinstance(value, str) else repr(value))[:_VALUE_BYTES_MAX]
    while len(_encode(kept)) > _VALUE_BYTES_MAX:
        kept = kept[: len(kept) // 2]
    return f"{kept}..."


def _printable(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Values without control characters, and without fields that have none."""
    shown = {name: value for name, value in event.items() if value is not None}
    for name, value in shown.items():
        if name != "exc_info":
            text = _UNPRINTABLE.sub(_escaped, value if isinstance(value, str) else repr(value))
            shown[name] = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return shown


def _traceback(to: TextIO, exc_info: ExcInfo) -> None:
    text = structlog.processors.ExceptionRenderer()  # no locals
    told = text(None, "", {"exc_info": exc_info})["exception"]
    to.write("\n" + _UNPRINTABLE_OF_LINES.sub(_escaped, told))


def _escaped(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode()
