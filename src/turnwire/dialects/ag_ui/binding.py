"""Which run is ours: what the begin and the end of a run name.

All agents repeat the ids of the request. A run that names another run than the requested one is
not ours, whatever its thread is: a proxy or the agent mixed two streams, or an earlier run of the
thread is repeated. One that names ours is ours: the id was made for this request alone. So an
agent may have other names for its threads. If a run names no run, its thread decides.
"""

from typing import Final

from msgspec import Raw

from turnwire.core import safe_json
from turnwire.dialects.ag_ui.frames import RunFinished, RunStarted

_NULL: Final = b"null"


def is_ours(event: RunStarted | RunFinished, thread_id: str | None, run_id: str) -> bool | None:
    """Whether the run of an event is ours; None: the event does not say.

    `thread_id` is None if nobody knows it, as in a recording.
    """
    named = _named(event.run_id)
    if named != "":
        return named == run_id
    is_elsewhere = thread_id is not None and _named(event.thread_id) not in {"", thread_id}
    return False if is_elsewhere else None


def _named(raw: Raw) -> str | None:
    """The id that stands there, or `""` if none does. None: it can be no id of ours."""
    return "" if bytes(raw) in {b"", _NULL} else safe_json.short_string(raw)
