"""How the parts of a call tell each other of a fault."""

from turnwire_agent.llm.faults import Fault, FaultKind


class FailedError(Exception):
    """There is no answer, or no more of it. `stream` makes an event of it: it never leaves `call`.

    It is raised outside of `except` blocks: the exceptions of an HTTP library hold the request, and
    with it the credential.
    """

    def __init__(self, kind: FaultKind, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.fault = Fault(kind=kind, message=message, status=status)
