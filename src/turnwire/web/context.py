"""What all requests share. The composition root makes one `AppContext` and passes it down."""

import msgspec
from msgspec import Struct

from turnwire.config.effective import agent_request, history_keeper, turn_log_place
from turnwire.config.lists import listed, policies
from turnwire.config.settings import Settings
from turnwire.config.values import SECONDS_MAX
from turnwire.core.agent import Dialect, Feature
from turnwire.core.body.attachments import AttachmentLimits
from turnwire.core.body.client_history import ClientHistory
from turnwire.core.body.conversation import ConversationLimits
from turnwire.core.operations import OperationName
from turnwire.core.requests import DialectOptions, StateMode
from turnwire.core.session_group import SessionGroups
from turnwire.core.turn.limits import POLICIES, DisconnectPolicy, Limits
from turnwire.core.ui_stream.output import StreamOptions
from turnwire.errors import BadRequest
from turnwire.metrics import Telemetry
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import Transport
from turnwire.relay.memory_budget import Budget
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.turn_log.patient_claims import PatientClaims
from turnwire.relay.turn_log.port import TurnLog
from turnwire.web.auth.access import Access
from turnwire.web.auth.identity import Identity
from turnwire.web.load_shedding import Admission
from turnwire.web.observe.observers import Observers
from turnwire.web.observe.tracing import Tracing
from turnwire.web.rate_limit import Rates
from turnwire.web.trusted_proxies import Proxies
from turnwire.web.used_approvals import UsedApprovals


class AppContext(Struct, frozen=True):
    """The objects of one application, and the values that follow from its settings."""

    settings: Settings
    dialect: Dialect
    limits: Limits
    stream_options: StreamOptions
    """Those of the settings; a route adds those of its request."""
    attachments: AttachmentLimits
    history: ClientHistory | None
    """How messages are written for the agent; None if its wire has no words for them."""
    dialect_options: DialectOptions
    identity: Identity
    access: Access
    dialler: Dialler
    transport: Transport
    """It carries the dialect, and dials with the dialler."""
    streams: RequestRegistry
    operations: RequestRegistry
    """Operations have a registry of their own, with the same limits: a user at the limit of streams
    can still stop one."""
    session_groups: SessionGroups
    turn_log: TurnLog | None
    """Keeps running turns for their readers; None: nobody does, or the agent repeats them."""
    patient_claims: PatientClaims
    used_approvals: UsedApprovals
    rates: Rates
    proxies: Proxies
    admission: Admission
    telemetry: Telemetry
    observers: Observers
    tracing: Tracing

    @property
    def continues_in_log(self) -> bool:
        """Whether a turn that waits for its client waits in the turn log: the agent keeps none."""
        return self.turn_log is not None and OperationName.RESUME not in self.dialect.operations

    @property
    def budget(self) -> Budget:
        """The memory budget of all requests together."""
        return self.dialler.budget


def attachment_limits(settings: Settings, dialect: Dialect) -> AttachmentLimits:
    """Return the bounds of a prompt's attachments, from the settings.

    An agent that is sent no files on its wire has none: a file would be dropped in silence.
    """
    return AttachmentLimits(
        count=settings.attachments if Feature.FILES_SENT in dialect.features else 0,
        characters=settings.attachment_bytes,
        types=listed(settings.attachment_types),
        hosts=listed(settings.attachment_hosts),
    )


def client_history(settings: Settings, dialect: Dialect) -> ClientHistory | None:
    """Return how messages are written for the agent; None if its wire has no words for them."""
    if dialect.keeps_history:
        return None
    return ClientHistory(
        write=dialect.write_message,
        limits=ConversationLimits(
            messages=settings.history_messages,
            with_system=settings.client_system,
            attachments=attachment_limits(settings, dialect),
        ),
        is_whole=history_keeper(settings) == "client",
    )


def dialect_options(settings: Settings) -> DialectOptions:
    """Return what the settings change in the dialect."""
    return DialectOptions(
        state=StateMode(settings.state),
        sends_history=history_keeper(settings) == "client",
        names_previous_response=settings.agent_thread == "previous-response",
        has_turn_log=turn_log_place(settings) != "off",
        model=settings.agent_model,
        fields=agent_request(settings),
        cwd=settings.agent_cwd,
    )


def limits(settings: Settings, dialect: Dialect) -> Limits:
    """Return the limits of a stream, from the settings and the dialect."""
    return Limits(
        idle_s=dialect.idle_s if settings.idle_s is None else settings.idle_s,
        tool_silence_s=settings.tool_silence_s,
        question_wait_s=settings.question_wait_s,
        queue_wait_s=settings.queue_wait_s,
        turn_s=settings.turn_s,
        keepalive_s=settings.keepalive_s,
        stall_s=settings.stall_s,
        drain_s=settings.drain_s,
        hold_s=settings.dial_s,  # the headers wait for the agent as long as a dial does
        backlog_bytes=settings.backlog_bytes,
        on_disconnect=POLICIES[settings.on_disconnect],
        grace_s=settings.grace_s,
        holds_turn=OperationName.RESUME not in dialect.operations,
    )


def reader_limits(limits: Limits) -> Limits:
    """Return the limits of a stream that only reads in the turn log.

    It ends with its turn, which has limits of its own, and it leaves the turn alone.
    """
    return msgspec.structs.replace(
        limits,
        on_disconnect=DisconnectPolicy.LET_GO,
        idle_s=SECONDS_MAX,
        tool_silence_s=SECONDS_MAX,
        question_wait_s=SECONDS_MAX,
        queue_wait_s=SECONDS_MAX,
        turn_s=SECONDS_MAX,
        # The log says at once what there is, or within this time that it has nothing.
        hold_s=2 * limits.hold_s,
    )


def disconnect_limits(settings: Settings, limits: Limits, requested: str | None) -> Limits:
    """Return `limits` with the policy that the request asks for by `onDisconnect`.

    A request may always ask for the configured policy and for a stricter one. `requested` is None
    where the request names no policy.

    Raises:
        BadRequest: the policy is unknown, or the settings do not allow a request to ask for it.

    """
    if requested is None:
        return limits
    policy = POLICIES.get(requested)
    if policy is None:
        raise BadRequest("onDisconnect is abort, continue or grace")
    strictest_first = list(POLICIES.values())
    is_stricter = strictest_first.index(policy) <= strictest_first.index(limits.on_disconnect)
    if not is_stricter and requested not in policies(settings):
        raise BadRequest("This onDisconnect is not allowed here")
    return msgspec.structs.replace(limits, on_disconnect=policy)
