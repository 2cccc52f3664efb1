"""`POST /api/sessions/{session_id}/chat`: one turn.

Read from here to follow a request: this file (who is asking is `endpoint`'s),
then `core.prompt`, then `relay.stream`, `core.turn` and `core.translate`.
Refusals end with a status; once the stream has begun, how it ends is the
`Turn`'s outcome.
"""

import os
from collections.abc import Awaitable

import msgspec
from starlette.types import Receive, Send

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.continuation import Continuation
from turnwire.core.dialect import Ask, Look
from turnwire.core.prompt import Prompt, extract, reading
from turnwire.core.refusal import Refusal
from turnwire.errors import Unavailable
from turnwire.relay.budget import SMALL_BYTES, Holder
from turnwire.relay.interrupted import Interruptible
from turnwire.relay.rounds import done
from turnwire.web import profile, workflow
from turnwire.web.access import Role
from turnwire.web.calling import refused
from turnwire.web.endpoint import CHAT_PATH, Endpoint, Visit
from turnwire.web.gateway import hangup
from turnwire.web.request import NO_ROOM, WhileItWaits, keep
from turnwire.web.streaming import stream


class Chat(Endpoint):
    least = Role.COLLABORATOR
    route = "chat"
    path = CHAT_PATH

    async def serve(self, visit: Visit, receive: Receive, send: Send) -> None:
        gateway = self.gateway
        gateway.admission.admit()
        with (
            gateway.streams.place(visit.user_id),  # before the body, whose bytes it bounds
            gateway.budget.holder(visit.user_id) as holder,
        ):
            asked = await self._read(visit, receive, holder)
            answering: Awaitable[None]
            if isinstance(asked, Prompt):
                answering = self._prompt(visit, asked, holder, receive, send)
            else:
                answering = self._go_on(visit, asked, holder, receive, send)
            del asked  # a stream may last for hours
            await answering

    async def _read(self, visit: Visit, receive: Receive, holder: Holder) -> Prompt | Continuation:
        """What the body asks. A long one is read in steps, one at a time of each user."""
        gateway = self.gateway
        body = await visit.request.body(receive, gateway.settings.body_bytes, holder)
        if len(body) <= LONG_BYTES:
            return extract(body, gateway.attachments)
        keep(holder, 0)
        hold = holder.hold()
        if not hold.set(len(body)):
            raise Unavailable(NO_ROOM)
        try:
            async with WhileItWaits(visit.request), Interruptible(Unavailable(NO_ROOM)) as work:
                hold.on_end = work.end
                async with holder.user.one_by_one():
                    return await done(gateway.dialler.rounds, reading(body, gateway.attachments))
        finally:
            hold.drop()

    async def _prompt(
        self,
        visit: Visit,
        prompt: Prompt,
        holder: Holder,
        receive: Receive,
        send: Send,
    ) -> None:
        gateway = self.gateway
        if prompt.size > SMALL_BYTES or holder.asked is not None:
            keep(holder, prompt.size)
        channel_type, channel_id = self.channel(visit, prompt.chat_id)
        if holder.asked is None:
            await gateway.rates.take(visit.user_id)
        else:
            async with Interruptible(Unavailable(NO_ROOM)) as work:
                holder.asked.on_end = work.end
                await gateway.rates.take(visit.user_id)
        ask = Ask(
            text=prompt.text,
            prompt_id=os.urandom(16).hex(),
            client_message_id=prompt.message_id,
            channel_type=channel_type,
            channel_id=channel_id,
            user_id=visit.user_id,
            attachments=prompt.attachments,
            regenerates=prompt.regenerates,
            replaces=prompt.replaces,
        )
        run = workflow.begun(visit.request, ask.prompt_id, prompt.chat_id)
        limits = gateway.limits if run is None else run.limits(gateway.limits)
        limits = hangup(gateway.settings, limits, visit.request.query.get("onDisconnect"))
        requests = profile.requests(gateway.settings, visit, counts=run is not None)
        with gateway.rooms.seat(visit.room) as seat:
            conversation = gateway.dialect.prompt(ask, seat)
            streaming = stream(
                gateway,
                visit,
                conversation,
                limits,
                receive,
                send,
                asked=ask,
                seat=seat,
                holder=holder,
                prompt=holder.asked,
                taken_id=ask.client_message_id,
                requests=requests,
                run=run,
            )
            # From here on the conversation alone has the files and the text, until it sent them.
            del ask, prompt
            await streaming

    async def _go_on(
        self,
        visit: Visit,
        continuation: Continuation,
        holder: Holder,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer what the turn waits for, and stream how it goes on."""
        gateway = self.gateway
        keep(holder, 0)
        settings = gateway.settings
        channel_type, channel_id = self.channel(visit, continuation.chat_id)
        requests = profile.requests(settings, visit)
        look = Look(
            user_id=visit.user_id,
            channel_type=channel_type,
            channel_id=channel_id,
            init_s=settings.dial_s,
            replies=profile.replies(settings, visit, continuation),
            terms=profile.terms(settings),
        )
        limits = hangup(settings, gateway.limits, visit.request.query.get("onDisconnect"))
        # The headers are held a little longer than `init_s`, at which it knows if it is refused.
        limits = msgspec.structs.replace(limits, hold_s=2 * look.init_s)
        with gateway.rooms.seat(visit.room) as seat:
            if not await stream(
                gateway,
                visit,
                gateway.dialect.resume(look, seat),
                limits,
                receive,
                send,
                asked=look,
                seat=seat,
                holder=holder,
                known=continuation.known,
                requests=requests,
            ):
                raise refused(Refusal.NOTHING)
