"""A recording that is the body of a response: server-sent events, as an HTTP agent sent them.

`as_lines(data)` returns the lines of the recording that the same frames would be.
"""

import re
from typing import Final

from turnwire.core.recording.input_lines import encode
from turnwire.core.turn.inputs import Frames
from turnwire.core.wire.event_stream import EventStreamReader

_FIRST_FIELD: Final = re.compile(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:data|event|id|retry)?:")


def is_body(data: bytes) -> bool:
    """Whether a file is such a body: it begins with a field or a comment of an event."""
    return _FIRST_FIELD.match(data) is not None


def as_lines(data: bytes) -> list[bytes]:
    """Return the events as lines of a recording. One that is not ended by a blank line is left out.

    Raises:
        UnicodeDecodeError: an event is not UTF-8.

    """
    events = EventStreamReader(len(data)).read(data)
    return [line for event in events for line in encode(Frames((event,)))]
