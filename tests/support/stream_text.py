"""What an agent said, block by block, to compare with what its client shows."""

from turnwire.testing.client_model import Client, need


def mend(text: str) -> str:
    """Join the surrogate pairs of a text; a half alone becomes U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class StreamText:
    """Follows a client: text belongs to the block that was entered, or to one that it opens."""

    def __init__(self, client: Client, blocks: dict[str, str]) -> None:
        self._client = client
        self._shown = blocks
        self._said: dict[str, str] = {}
        self._block: str | None = None
        self._left: dict[str, str] = {}
        """The blocks that were left, by their keys. Some may be over by now."""

    def add(self, text: str) -> None:
        """Note text that the agent said just now."""
        if not text:
            return
        if self._block not in self._client.open_blocks:
            self._block = next(reversed(self._client.open_blocks), None)
            need(self._block not in self._said, f"{text!r} was said, and no block began")
        need(self._block in self._shown, f"{text!r} was said, and no block is open")
        assert self._block is not None
        self._said[self._block] = self._said.get(self._block, "") + text

    def switch(self, left: str, entered: str) -> None:
        """Note that other text follows, of the block with the key `entered`."""
        if self._block is not None and self._block in self._client.open_blocks:
            self._left[left] = self._block
        self._block = self._left.pop(entered, None)

    @property
    def whole(self) -> str:
        return mend("".join(map(mend, self._said.values())))

    @property
    def since_last_block(self) -> str:
        return mend(list(self._said.values())[-1]) if self._said else ""

    def check(self) -> None:
        """The text shown is the text said; at most half a pair at the end waits for the other."""
        need(self._shown.keys() == self._said.keys(), f"{self._shown} for {self._said}")
        for block, said in self._said.items():
            waits = block in self._client.open_blocks and "\ud800" <= said[-1] <= "\udbff"
            expected = mend(said[:-1] if waits else said)
            need(self._shown[block] == expected, f"{self._shown[block]!r} for {said!r}")
