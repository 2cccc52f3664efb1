"""One turn as a conversation with the gateway: prompt, stream, and what follows a broken line.

What the gateway promises, and what this file makes of it (`docs/resume.md`):

- `GET …/stream` brings the running turn from its start, with the same message id, or 204. So a
  stream is read again after a break, and `Turn` yields what is new.
- After 204 the turn is over, and the history has all of it, with its end.
- A prompt may be sent twice only if the gateway cannot have the first one. So it is repeated only
  if no connection was made; if the line broke before the answer began, the history says whether
  the agent has the message.
"""

from collections.abc import Sequence
from http import HTTPStatus

from turnwire_client.errors import (
    ClientError,
    ConnectionLostError,
    MalformedError,
    RefusedError,
    TurnLostError,
    UnreachableError,
)
from turnwire_client.events import Abort, Event, Finish, ToolOutputAvailable, ToolOutputError
from turnwire_client.limits import Limits
from turnwire_client.message import UIMessage
from turnwire_client.replies import answer_in, end_of, has_prompt, read_messages, read_refusal
from turnwire_client.requests import Place, Request, Verdicts
from turnwire_client.steps import Broken, Close, Open, Read, Reply, Steps, Wait
from turnwire_client.turn import OtherTurn, Turn

_OVERLOADED = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT,
}
"""A resume that is answered so may work a moment later: a gateway restarts, for example."""

_CLOSED = "question_closed"


class Sending:
    """One turn. `send` or `resume` is its conversation, and `turn` what came of it."""

    def __init__(
        self,
        place: Place,
        limits: Limits,
        prompt_id: str | None,
        verdicts: Verdicts,
        conversation: Sequence[UIMessage],
    ) -> None:
        """Begin nothing yet.

        Args:
            place: Where the turn is.
            limits: The bounds.
            prompt_id: The id of the prompt's message; None: a turn is resumed.
            verdicts: What the program decides on approvals, while the turn runs.
            conversation: The prompt, and what goes along before it.
        """
        self.turn = Turn(limits, is_native=place.profile is not None)
        self._verdicts = verdicts
        self._conversation = conversation
        self._place = place
        self._prompt_id = prompt_id
        self._retries = _Retries(limits.waits_s)
        self._failure = _broken()
        """What is raised when no retry is left."""

    def send(self, *, is_repeated: bool) -> Steps[None]:
        """Send the prompt, and read its turn to the end.

        `is_repeated`: the message may be there from before. Then the agent is asked for it first.

        Raises:
            ClientError: see `errors`.

        """
        history = (yield from self._history()) if is_repeated else None
        if history is None or not has_prompt(history, self._prompt_id):
            history = None
            reply = yield from self._post(self._place.messages(self._conversation))
            if reply is not None:
                yield from self._follow()
        yield from self._recover(history)

    def resume(self) -> Steps[None]:
        """Read the turn that runs or waits. Without one there is no event, not even an end.

        Raises:
            ClientError: see `errors`.

        """
        if (yield from self._follow_running()):
            yield from self._recover(None)

    def _post(self, prompt: Request) -> Steps[Reply | None]:
        """Return the open stream; None if the gateway may have the prompt, and did not answer."""
        unreachable = UnreachableError("no connection to the gateway could be made")
        while True:
            reply = yield Open(prompt)
            if isinstance(reply, Reply):
                return _stream(reply)
            if isinstance(reply, Broken) and reply.is_sent:
                return None
            yield Wait(self._retries.next_wait(unreachable))

    def _follow(self) -> Steps[bool]:
        """Read the open stream, which brings the turn from its start. As `_read`."""
        self.turn.connect()
        return (yield from self._read())

    def _read(self) -> Steps[bool]:
        """Yield what the open stream brings, until it ends or breaks. False: of another turn."""
        news, is_ours = self.turn.news, True
        try:
            while self.turn.end is None and not self.turn.is_asking:
                data = yield Read()
                if not isinstance(data, bytes) or not data:
                    yield from self.turn.cut()
                    break
                for event in self.turn.feed(data):
                    self._note(event)
                    yield event
        except OtherTurn:
            is_ours = False
        finally:
            if self.turn.news > news:
                self._retries.brought_news()
        yield Close()
        if is_ours:  # so the turn is not lost, whatever the history lacked before
            self._failure = _broken()
        if self.turn.is_asking or isinstance(self.turn.end, Finish | Abort):
            self._verdicts.keep(self.turn.message)
        return is_ours

    def _note(self, event: Event) -> None:
        """Let no decision outlive the question: the call may ask once more."""
        if isinstance(event, ToolOutputAvailable | ToolOutputError):
            self._verdicts.forget_call(self.turn.message_id or "", event.tool_call_id)

    def _follow_running(self) -> Steps[bool]:
        """Follow the turn that runs or waits. Return False if there is none, or another one."""
        reply = yield from self._ask(self._place.stream())
        if reply.status == HTTPStatus.NO_CONTENT:
            return False
        _stream(reply)
        return (yield from self._follow())

    def _recover(self, history: Sequence[UIMessage] | None) -> Steps[None]:
        """Bring a turn to its end whose connection broke. `history`: None if it is to be read."""
        refused: RefusedError | None = None
        while self.turn.end is None:
            if self.turn.is_asking:
                refused = yield from self._decide()
                continue
            if history is None:
                yield Wait(self._retries.next_wait(refused or self._failure))
                refused = None
            is_unknown = self.turn.message_id is None and self._prompt_id is not None
            if is_unknown:
                # The running turn may be the answer to another prompt.
                history = history or (yield from self._history())
                if history is not None and not has_prompt(history, self._prompt_id):
                    self._failure = TurnLostError("nobody has the prompt", self._prompt_id)
                    history = None
                    continue
                if (yield from self._take_from(history)):
                    return
            history = None
            if (yield from self._follow_running()):
                continue
            history = yield from self._history()
            if (yield from self._take_from(history)):
                return
            self._failure = TurnLostError("nobody has the rest of the turn", self._prompt_id)
            if history is None:
                raise self._failure
            history = None

    def _decide(self) -> Steps[RefusedError | None]:
        """Send what was decided on the approvals; the turn waits if that is not all of it.

        Return the refusal if the turn does not wait for the decisions any more.
        """
        message = self._verdicts.message(self.turn.message)
        if message is None:
            yield from self.turn.leave()
            return None
        request = self._place.messages([*self._conversation, message])
        try:
            reply = yield from self._post(request)
        except RefusedError as refused:
            if refused.code != _CLOSED:
                raise
            # It was decided elsewhere, or is over, or is asked with another input, or was decided
            # too late for its signature. The turn says which.
            self._verdicts.forget(message)
            self.turn.go_on(message, is_answered=True)
            return refused
        if reply is not None:
            self._verdicts.forget(message)
        self.turn.go_on(message, is_answered=reply is not None)
        if reply is not None:
            yield from self._read()
        return None

    def _take_from(self, history: Sequence[UIMessage] | None) -> Steps[bool]:
        """Yield the rest of the answer and its end. Return False if it is not in the history."""
        message = answer_in(history or (), self.turn.message_id, self._prompt_id)
        if message is None:
            return False
        yield from self.turn.take_message(message, end_of(message))
        return True

    def _history(self) -> Steps[Sequence[UIMessage] | None]:
        """Return the history; None if the agent has none."""
        reply = yield from self._ask(self._place.history(finish=True))
        if reply.status == HTTPStatus.NOT_IMPLEMENTED:
            return None
        if reply.status != HTTPStatus.OK:
            raise read_refusal(reply.status, reply.headers, reply.body)
        return read_messages(reply.body)

    def _ask(self, request: Request) -> Steps[Reply]:
        """Send a request that changes nothing, again and again until something answers it."""
        while True:
            reply = yield Open(request)
            if isinstance(reply, Reply) and reply.status not in _OVERLOADED:
                return reply
            if isinstance(reply, Reply):
                refusal = read_refusal(reply.status, reply.headers, reply.body)
                yield Wait(self._retries.next_wait(refusal, refusal.retry_after or 0))
            else:
                yield Wait(self._retries.next_wait(self._failure))


class _Retries:
    """Counts the tries since the last one that brought something new."""

    def __init__(self, waits_s: Sequence[float]) -> None:
        self._waits_s = waits_s
        self._made = 0

    def next_wait(self, failure: ClientError, at_least_s: float = 0.0) -> float:
        """Return the seconds to wait before the next try; raise `failure` if none is left.

        `at_least_s`: what the gateway asked for. More than the longest wait is not waited for.
        """
        longest = max(self._waits_s, default=0.0)
        if self._made >= len(self._waits_s) or at_least_s > longest:
            raise failure
        wait = self._waits_s[self._made]
        self._made += 1
        return max(wait, at_least_s)

    def brought_news(self) -> None:
        """The next try waits all the same: a connection may bring a little each time, for ever."""
        self._made = min(self._made, 1)


def _broken() -> ClientError:
    return ConnectionLostError("the connection broke, and every retry failed")


def _stream(reply: Reply) -> Reply:
    """Return a reply whose body is an open stream.

    Raises:
        RefusedError: the gateway refused the request.
        MalformedError: it is something else.

    """
    if reply.is_open:
        return reply
    if reply.status >= HTTPStatus.BAD_REQUEST:
        raise read_refusal(reply.status, reply.headers, reply.body)
    raise MalformedError("the answer is no event stream: is this a gateway?")
