"""No credential, for servers that ask for none."""

from turnwire_agent.llm.credentials.port import Granted


class NoKey:
    """Sends nothing. A refusal is the server's last word."""

    async def headers(self) -> Granted:
        return Granted({}, "")

    async def refused(self, version: str) -> bool:
        del version
        return False
