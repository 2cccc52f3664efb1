"""What requests share: frozen, made once by the composition root, passed down."""

from typing import Final

import msgspec
from msgspec import Struct

from turnwire.core.attachments import AttachmentLimits
from turnwire.core.dialect import Dialect
from turnwire.core.limits import POLICIES, Hangup, Limits
from turnwire.core.room import Rooms
from turnwire.errors import BadRequest
from turnwire.hang_ups import policies
from turnwire.relay.budget import Budget
from turnwire.relay.dialler import Dialler
from turnwire.relay.streams import Streams
from turnwire.settings import Settings, listed
from turnwire.telemetry import Telemetry
from turnwire.web.access import Access
from turnwire.web.admission import Admission
from turnwire.web.forwarded import Proxies
from turnwire.web.identity import Identity
from turnwire.web.observing import Observers
from turnwire.web.rates import Rates
from turnwire.web.tracing import Tracing


class Gateway(Struct, frozen=True):
    settings: Settings
    dialect: Dialect
    limits: Limits
    attachments: AttachmentLimits
    identity: Identity
    access: Access
    dialler: Dialler
    streams: Streams
    errands: Streams
    """Counted apart: who has as many streams as may be can still stop one."""
    rooms: Rooms
    rates: Rates
    proxies: Proxies
    admission: Admission
    telemetry: Telemetry
    observers: Observers
    tracing: Tracing

    @property
    def budget(self) -> Budget:
        """What is held for all requests together."""
        return self.dialler.budget


def attachment_limits(settings: Settings) -> AttachmentLimits:
    """What may come with a prompt, from the settings."""
    return AttachmentLimits(
        count=settings.attachments,
        characters=settings.attachment_bytes,
        types=listed(settings.attachment_types),
        hosts=listed(settings.attachment_hosts),
    )


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
        on_hangup=Hangup(settings.on_disconnect),
        grace_s=settings.grace_s,
    )


_POLICIES: Final = {policy.value: policy for policy in POLICIES}


def hangup(settings: Settings, limits: Limits, asked: str | None) -> Limits:
    """The numbers of a request that says itself what a hang-up means.

    It may always ask for what holds without its asking, and for what is stricter.

    Raises:
        BadRequest: it says something else, or something that it may not ask for here.

    """
    if asked is None:
        return limits
    policy = _POLICIES.get(asked)
    if policy is None:
        raise BadRequest("onDisconnect is abort, continue or grace")
    is_stricter = POLICIES.index(policy) <= POLICIES.index(limits.on_hangup)
    if not is_stricter and asked not in policies(settings):
        raise BadRequest("This onDisconnect is not allowed here")
    return msgspec.structs.replace(limits, on_hangup=policy)
