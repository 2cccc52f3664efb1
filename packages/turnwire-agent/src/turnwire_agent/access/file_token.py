"""One token that all callers share: the line of a file."""

from http import HTTPStatus
from typing import Final

from turnwire_agent.access.access import CHALLENGE, NOBODY, Caller
from turnwire_agent.access.refusal import Refusal, RefusedError
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.secret import Secret

WRONG_TOKEN: Final = Refusal(HTTPStatus.UNAUTHORIZED, "The bearer token is wrong.", CHALLENGE)
UNREADABLE: Final = Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "The server cannot read its token.")


class FileToken:
    """The token that is in a file, which is read again when it changes."""

    def __init__(self, file: KeyFile) -> None:
        self._file = file

    async def caller(self, token: str) -> Caller:
        """Nobody in particular, if it is the token of the file."""
        try:
            own = await self._file.read()
        except CredentialError:
            raise RefusedError(UNREADABLE) from None
        if Secret(token) != own:
            raise RefusedError(WRONG_TOKEN)
        return NOBODY
