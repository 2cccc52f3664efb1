"""Files that a wire does not carry."""

from typing import Final

from turnwire_agent.llm.losses import Loss
from turnwire_agent.llm.shape import UnsendableError
from turnwire_agent.llm.shapes import media
from turnwire_agent.llm.transcript import File, Image

NAME_CHARS: Final = 200
URL_CHARS: Final = 2000


def left_out(part: Image | File, where: str, losses: list[Loss], *, now: bool) -> str:
    """Words that name a file, in its place.

    What a user sends now is refused, and somebody hears of it. What is in the conversation already
    may be there for ever, as what a tool made or what another model took: refused, it would end the
    conversation.

    Args:
        part: The file.
        where: Its place in the transcript.
        losses: Gets one.
        now: It is in what the user sends now.

    Raises:
        UnsendableError: It is.
    """
    by = "" if part.data else " by its URL"
    kind = "picture" if isinstance(part, Image) else "file"
    if now:
        media_type = part.media_type or f"a {kind} of no type"
        raise UnsendableError(f"{where}: {media_type} cannot be sent{by} on this wire")
    why = "the wire has no files of this type" + ("" if part.data else " by their URL")
    losses.append(Loss(where, "named in a text", why))
    name = " ".join(part.name.split())[:NAME_CHARS] if isinstance(part, File) else ""
    size = f"{len(part.data)} bytes" if part.data else part.url[:URL_CHARS]
    about = ", ".join(each for each in (name, media.type_of(part), size) if each)
    return f"[A {kind} was left out, because this model cannot be sent it: {about}]"


def is_empty(part: Image | File, where: str, losses: list[Loss]) -> bool:
    """Whether there is nothing in a file: it is dropped, and the loss is told."""
    if part.data or part.url:
        return False
    losses.append(Loss(where, "dropped", "it is empty"))
    return True
