"""How a call can fail. No text of an exception has the token, or what the user wrote.

    ClientError
     +-- RefusedError          the gateway answered with an HTTP error: `status`, `code`, `text`
     +-- UnreachableError      no connection could be made: nothing was sent
     +-- ConnectionLostError   the connection broke, and every retry failed
     +-- TurnLostError         the turn is over or unknown, and nobody has the rest of its events
     +-- MalformedError        the answer is not what a gateway sends
          +-- TooLargeError    the answer is larger than a bound of `Limits`

A turn that fails raises nothing: its stream ends with the event `Error`.
"""


class ClientError(Exception):
    """Base class of the exceptions of this package."""


class RefusedError(ClientError):
    """The gateway refused the request.

    `code` and `text` are the gateway's own (`docs/outcomes.md`), and empty if something else
    answered, such as a proxy. `retry_after` is in seconds, or None. `request_id` is the id that the
    gateway's log has, or None.
    """

    def __init__(
        self,
        status: int,
        code: str = "",
        text: str = "",
        *,
        retry_after: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {text}" if code else f"{status}: no gateway's answer")
        self.status = status
        self.code = code
        self.text = text
        self.retry_after = retry_after
        self.request_id = request_id


class UnreachableError(ClientError):
    """No connection to the gateway could be made."""


class ConnectionLostError(ClientError):
    """The connection broke, and could not be made again. `resume()` may bring the turn later."""


class TurnLostError(ClientError):
    """The rest of a turn is nowhere.

    `message_id` is the id of the prompt's message: with it the prompt can be sent again
    (`send(…, message_id=…)`), which looks first whether the agent has the message.
    """

    def __init__(self, text: str, message_id: str | None) -> None:
        super().__init__(text)
        self.message_id = message_id


class MalformedError(ClientError):
    """The answer is no stream, history or receipt of a gateway."""


class TooLargeError(MalformedError):
    """The answer is larger than a bound of `Limits`."""
