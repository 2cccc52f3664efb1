"""Logs on standard error: one JSON object per line, or console lines for a person.

`configure_logs` sets both up, also for what libraries log through `logging`. In both forms, control
characters in values from outside are escaped: such values cannot add a line, and cannot send escape
sequences to a terminal.
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

from turnwire.cli.log_sink import Sink

Format = Literal["auto", "json", "console"]
Level = Literal["debug", "info", "warning", "error"]

LINE_BYTES_MAX: Final = 4096
"""Most bytes of a JSON line, not counting a traceback. A pipe accepts a write of this size whole,
even if other processes write to the same pipe."""

DRAIN_S: Final = 1.0
"""How long a process that ends waits for the reader of its log, in seconds."""

_VALUE_BYTES_MAX: Final = 512
"""Most bytes of a value in a JSON line that would be longer than `LINE_BYTES_MAX`."""

_SHOWN_MAX: Final = 1024
"""Most characters of a value in a console line."""

_UNPRINTABLE: Final = re.compile(r"[^\x20-\x7e]")
_UNPRINTABLE_OF_LINES: Final = re.compile(r"[^\x20-\x7e\n]")

_encode: Final = json.JSONEncoder(default=repr).encode
"""Encodes to ASCII, so that a terminal finds no control sequences."""

_encode_plain: Final = msgspec.json.Encoder().encode
_PLAIN_TYPES: Final = frozenset({str, int, float, bool, type(None)})
"""Types that both encoders write in the same way, except for the exponent of a float, NaN and
infinity."""

_VERBOSE_LIBRARIES: Final = ("websockets", "httpx", "httpcore", "urllib3", "asyncio")
"""Libraries that log each handshake or request below `warning`, perhaps with secrets."""


def configure_logs(form: Format = "auto", level: Level = "info") -> None:
    """Set up structlog, and `logging` for the libraries, with the same form and level.

    `auto` means `console` if standard error is a terminal, else `json`. The gateway's own events
    do not pass through `logging`: there is a line for each stream, and most of its cost was
    `logging`.
    """
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,  # the trace of the request, if any
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if sys.stderr is None:  # the parent closed it: else a socket would get its number
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (stays open)
    renderers = _renderers(for_person=form == "console" or (form == "auto" and _is_terminal()))
    stream = _nonblocking(sys.stderr)
    structlog.configure(
        processors=[*shared, *renderers],
        logger_factory=lambda name: _LineLogger(name, stream),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = _Handler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in _VERBOSE_LIBRARIES:
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLogger().level))


def end_by_signal(number: int, _: FrameType | None = None) -> None:
    """Write the rest of the log, then end the process by this signal's default action.

    It is the signal handler before the server runs. The server calls it again when it has stopped.
    """
    logging.shutdown()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
    raise SystemExit  # only PID 1 of a container survives the signal


def _nonblocking(stream: TextIO) -> TextIO | Sink:
    try:
        return Sink(stream.fileno(), _log_lost)
    except OSError:  # no file descriptor, so writes cannot block
        return stream


def _log_lost(lines: int) -> None:
    structlog.get_logger("turnwire.logs").error("lines were lost", lines=lines)


class _Handler(logging.StreamHandler[TextIO | Sink]):
    """`logging.shutdown` closes it, also at the end of the process, and waits `DRAIN_S` at most."""

    def close(self) -> None:
        if isinstance(self.stream, Sink):
            self.stream.drain(DRAIN_S)
        super().close()


class _LineLogger:
    """Writes the gateway's own lines. A line that cannot be written is dropped without an error."""

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


def _is_terminal() -> bool:
    return sys.stderr.isatty()


def _renderers(*, for_person: bool) -> list[Processor]:
    if not for_person:
        return [structlog.processors.format_exc_info, _json]
    # The default formatter of tracebacks also shows local variables.
    return [
        _printable,
        structlog.dev.ConsoleRenderer(colors=_is_terminal(), exception_formatter=_traceback),
    ]


def _json(_logger: WrappedLogger, _name: str, event: EventDict) -> str:
    line = _line(event)
    if len(line) < LINE_BYTES_MAX:
        return line
    return _encode({name: _shortened(name, value) for name, value in event.items()})


def _line(event: EventDict) -> str:
    """The JSON line of an event. For the differences to `_encode` see `_PLAIN_TYPES`.

    An event with plain values in ASCII takes a fast path: the standard library creates an encoder
    for each line, and calls back into Python for each string.
    """
    if _PLAIN_TYPES.issuperset(map(type, event.values())):
        try:
            line = msgspec.json.format(_encode_plain(event), indent=0).decode("ascii")
        except (UnicodeError, OverflowError):  # not ASCII; a lone surrogate; a huge number
            return _encode(event)
        if "\x7f" not in line:
            return line
    return _encode(event)


def _shortened(name: str, value: object) -> object:
    """The value, or, halved until it fits, `_VALUE_BYTES_MAX` bytes of a text or a table."""
    if name == "exception" or len(_encode(value)) <= _VALUE_BYTES_MAX:
        return value
    if isinstance(value, dict):
        return _shortened(name, dict(list(value.items())[: len(value) // 2]))
    kept = (value if isinstance(value, str) else repr(value))[:_VALUE_BYTES_MAX]
    while len(_encode(kept)) > _VALUE_BYTES_MAX:
        kept = kept[: len(kept) // 2]
    return f"{kept}..."


def _printable(_logger: WrappedLogger, _name: str, event: EventDict) -> EventDict:
    """Escape control characters in values, and drop fields whose value is None."""
    shown = {name: value for name, value in event.items() if value is not None}
    for name, value in shown.items():
        if name != "exc_info":
            text = _UNPRINTABLE.sub(_escaped, value if isinstance(value, str) else repr(value))
            shown[name] = text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
    return shown


def _traceback(to: TextIO, exc_info: ExcInfo) -> None:
    text = structlog.processors.ExceptionRenderer()  # no locals
    traceback = text(None, "", {"exc_info": exc_info})["exception"]
    to.write("\n" + _UNPRINTABLE_OF_LINES.sub(_escaped, traceback))


def _escaped(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode()
