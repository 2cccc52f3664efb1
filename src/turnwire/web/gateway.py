"""What requests share: frozen, made once by the composition root, passed down."""

from msgspec import Struct

from turnwire.core.dialect import Dialect
from turnwire.core.limits import Limits
from turnwire.relay.dialler import Dialler
from turnwire.relay.streams import Streams
from turnwire.settings import Settings
from turnwire.telemetry import Telemetry
from turnwire.web.access import Access
from turnwire.web.identity import Identity


class Gateway(Struct, frozen=True):
    settings: Settings
    dialect: Dialect
    limits: Limits
    identity: Identity
    access: Access
    dialler: Dialler
    streams: Streams
    telemetry: Telemetry


def limits(settings: Settings, dialect: Dialect) -> Limits:
    """The numbers a stream lives by, from the settings."""
    return Limits(
        idle_s=dialect.idle_s if settings.idle_s is None else settings.idle_s,
        tool_silence_s=settings.tool_silence_s,
        question_wait_s=settings.question_wait_s,
        queue_wait_s=settings.queue_wait_s,
        turn_s=settings.turn_s,
        keepalive_s=settings.keepalive_s,
        stall_s=settings.stall_s,
        drain_s=settings.drain_s,
        hold_s=settings.dial_s,
        backlog_bytes=settings.backlog_bytes,
        abort_on_hangup=settings.on_disconnect == "abort",
    )
