"""`GET /api/sessions/{session_id}/chat/{chat_id}/stream`: the running turn, from its start."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Send

from turnwire.core.operations import OperationName
from turnwire.core.requests import HistoryRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.core.turn.headers import hold_for_init
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn_log.protocol import ReaderProtocol
from turnwire.core.ui_stream.output import HEADERS
from turnwire.relay.memory_budget import Holder
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.turn_log.port import chat_key
from turnwire.relay.turn_log.reader import LogTransport
from turnwire.web.auth.access import Role
from turnwire.web.context import reader_limits
from turnwire.web.request import WhileClientWaits
from turnwire.web.routes import approval_profile, workflow_transport
from turnwire.web.routes.endpoint import CHAT_PATH, RequestContext
from turnwire.web.routes.operations import LIMIT, OperationEndpoint
from turnwire.web.routes.stream_response import stream
from turnwire.web.routes.workflow_transport import WorkflowClient

_NO_STORE: Final = {"cache-control": "no-store"}


class Resume(OperationEndpoint):
    """Streams a turn again. The agent keeps the turn, so any replica can serve it."""

    min_role = Role.VIEWER
    route = "resume"
    operation = OperationName.RESUME
    is_logged = True
    path = f"{CHAT_PATH}/{{chat_id}}/stream"

    @property
    def _has_history(self) -> bool:
        return OperationName.HISTORY in self.app_context.dialect.operations

    @property
    def registry(self) -> RequestRegistry:
        return self.app_context.streams

    async def serve(self, context: RequestContext, receive: Receive, send: Send) -> None:
        self.app_context.admission.admit()
        await super().serve(context, receive, send)

    async def respond(
        self, context: RequestContext, holder: Holder, receive: Receive, send: Send
    ) -> None:
        app_context = self.app_context
        request = context.request
        chat_id = request.scope["path_params"]["chat_id"]
        workflow = workflow_transport.detect_resume(request, chat_id)
        channel = self.channel(context, chat_id if workflow is None else workflow.chat_id)
        approvals = approval_profile.approvals(
            app_context, context, counts_chunks=workflow is not None
        )
        resume_request = ResumeRequest(
            user_id=context.user_id,
            session_id=context.request.session_id,
            channel=channel,
            init_s=app_context.settings.dial_s,
            prompt_id=None if workflow is None else workflow.prompt_id,
        )
        # A resume sends no prompt: when its client leaves, the stream ends and the turn goes on.
        limits = msgspec.structs.replace(app_context.limits, on_disconnect=DisconnectPolicy.LET_GO)
        limits = hold_for_init(limits, resume_request.init_s)
        options = msgspec.structs.replace(
            app_context.stream_options,
            approvals=approvals,
            resets=approval_profile.knows_resets(context, counts_chunks=workflow is not None),
            skip=None if workflow is None else workflow.skip,
        )
        headers = () if workflow is None else workflow.headers
        with app_context.session_groups.member(context.session_key) as member:
            follow = partial(
                stream,
                app_context,
                context,
                receive=receive,
                send=send,
                agent_request=resume_request,
                member=member,
                holder=holder,
                options=options,
                headers=headers,
            )
            if (
                not await self._follow_in_log(context, resume_request, member, follow)
                and not await self._follow_at_agent(resume_request, limits, member, follow)
                and (
                    workflow is None
                    or not await self._send_missing(context, holder, workflow, resume_request, send)
                )
            ):
                no_content = Response(status_code=204, headers=_NO_STORE)
                no_content.headers["x-request-id"] = request.id
                request.trace.answered(no_content.status_code)
                await no_content(request.scope, receive, send)

    async def _follow_in_log(
        self,
        context: RequestContext,
        resume_request: ResumeRequest,
        member: Member,
        follow: Callable[..., Awaitable[bool]],
    ) -> bool:
        """Stream the turn from the turn log. Return False if the log has none."""
        app_context = self.app_context
        if app_context.turn_log is None:
            return False
        key = chat_key(context.session_key, resume_request.channel)
        return await follow(
            ReaderProtocol(resume_request, member),
            reader_limits(app_context.limits),
            log_reader=LogTransport(app_context.turn_log, key),
        )

    async def _follow_at_agent(
        self,
        resume_request: ResumeRequest,
        limits: Limits,
        member: Member,
        follow: Callable[..., Awaitable[bool]],
    ) -> bool:
        """Stream the turn as the agent repeats it. Return False if it does not, or has none."""
        dialect = self.app_context.dialect
        if OperationName.RESUME not in dialect.operations:
            return False
        return await follow(dialect.resume(resume_request, member), limits)

    async def _send_missing(
        self,
        context: RequestContext,
        holder: Holder,
        workflow: WorkflowClient,
        resume_request: ResumeRequest,
        send: Send,
    ) -> bool:
        """Send the missing chunks of a turn that is over to a client that lost its connection.

        Return False, and send nothing, if the agent's history does not have the turn.
        """
        if workflow.prompt_id is None or not self._has_history:
            return False
        settings = self.app_context.settings
        history_request = HistoryRequest(
            user_id=resume_request.user_id,
            session_id=context.request.session_id,
            channel=resume_request.channel,
            limit=LIMIT,
            init_s=settings.dial_s,
            verdict_s=settings.verdict_s,
        )
        convert = partial(workflow.missing_records, options=self.app_context.stream_options)
        with self.app_context.operations.slot(context.user_id):
            async with WhileClientWaits(context.request):
                body = await self.run_operation(
                    context, holder, self.app_context.dialect.read_history(history_request), convert
                )
        if body is None:
            return False
        headers = {name.decode(): value.decode() for name, value in HEADERS}
        response = self.reply(context, holder, [body], 200, send, headers)
        del body
        await response
        return True
