"""`GET /api/sessions/{session_id}/chat/{chat_id}/stream`: the turn under way, from its start."""

from functools import partial
from typing import Final

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Send

from turnwire.core.dialect import Look
from turnwire.core.errand import Recall
from turnwire.core.limits import Hangup
from turnwire.relay.budget import Holder
from turnwire.relay.streams import Streams
from turnwire.web import profile, workflow
from turnwire.web.access import Role
from turnwire.web.endpoint import CHAT_PATH, Visit
from turnwire.web.errands import LIMIT, ErrandEndpoint
from turnwire.web.request import WhileItWaits
from turnwire.web.streaming import STREAM_HEADERS, stream
from turnwire.web.workflow import Run

_NO_STORE: Final = {"cache-control": "no-store"}


class Resume(ErrandEndpoint):
    """Nothing is kept for it: the agent knows what it told, so any replica can tell it again."""

    least = Role.VIEWER
    route = "resume"
    path = f"{CHAT_PATH}/{{chat_id}}/stream"

    @property
    def places(self) -> Streams:
        return self.gateway.streams

    async def serve(self, visit: Visit, receive: Receive, send: Send) -> None:
        self.gateway.admission.admit()
        await super().serve(visit, receive, send)

    async def carry(self, visit: Visit, holder: Holder, receive: Receive, send: Send) -> None:
        gateway = self.gateway
        request = visit.request
        chat_id = request.scope["path_params"]["chat_id"]
        run = workflow.resumed(request, chat_id)
        channel_type, channel_id = self.channel(visit, chat_id if run is None else run.chat_id)
        requests = profile.requests(gateway.settings, visit, counts=run is not None)
        look = Look(
            user_id=visit.user_id,
            channel_type=channel_type,
            channel_id=channel_id,
            init_s=gateway.settings.dial_s,
            prompt_id=None if run is None else run.prompt_id,
        )
        # It asks for nothing, so it has nothing to wait for once its client is gone. And its
        # headers are held a little longer than `init_s`, at which it knows if they are a 204.
        limits = msgspec.structs.replace(
            gateway.limits, on_hangup=Hangup.LET_GO, hold_s=2 * look.init_s
        )
        with gateway.rooms.seat(visit.room) as seat:
            conversation = gateway.dialect.resume(look, seat)
            if not await stream(
                gateway,
                visit,
                conversation,
                limits,
                receive,
                send,
                asked=look,
                seat=seat,
                holder=holder,
                requests=requests,
                run=run,
            ) and (run is None or not await self._retell(visit, holder, run, look, send)):
                nothing = Response(status_code=204, headers=_NO_STORE)
                nothing.headers["x-request-id"] = request.id
                request.trace.answered(nothing.status_code)
                await nothing(request.scope, receive, send)

    async def _retell(self, visit: Visit, holder: Holder, run: Run, look: Look, send: Send) -> bool:
        """Tell the rest of a turn that is over, to a client that lost its connection before.

        False: nobody knows it.
        """
        if run.prompt_id is None:
            return False
        settings = self.gateway.settings
        recall = Recall(
            user_id=look.user_id,
            channel_type=look.channel_type,
            channel_id=look.channel_id,
            limit=LIMIT,
            init_s=settings.dial_s,
            verdict_s=settings.verdict_s,
        )
        make = partial(run.retold, usage=settings.usage, event_lines=settings.event_lines)
        with self.gateway.errands.place(visit.user_id):
            async with WhileItWaits(visit.request):
                body = await self.run(visit, holder, self.gateway.dialect.recall(recall), make)
        if body is None:
            return False
        headers = {name.decode(): value.decode() for name, value in STREAM_HEADERS}
        replying = self.reply(visit, holder, [body], 200, send, headers)
        del body
        await replying
        return True
