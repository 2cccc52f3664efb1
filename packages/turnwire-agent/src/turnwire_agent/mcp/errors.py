"""How a server fails, in words that are not of its making."""


class MissingLibraryError(RuntimeError):
    """The extra `mcp` is not installed. The text is one line, for the operator."""

    def __init__(self) -> None:
        super().__init__("MCP servers need pip install 'turnwire-agent[mcp]'")


class GoneError(Exception):
    """The server is not connected, or not any more. Its text may be logged."""


class SilentError(Exception):
    """The server did not answer in time."""


class QuestionError(Exception):
    """The server wants to ask something before it answers, which no tool can do here."""


class ProtocolError(Exception):
    """The server answered with an error of the protocol, or with something else than a result.

    It is no result of the tool, so the model hears generic words. The text names the kind alone;
    that of the server is in `details`, which may hold arguments.
    """

    def __init__(self, kind: str, details: str = "") -> None:
        super().__init__(kind)
        self.details = details
