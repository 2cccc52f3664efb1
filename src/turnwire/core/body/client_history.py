"""How a conversation that its client keeps is made ready for an agent that keeps none.

Use: `ClientHistory` has what that needs of the wire and of the settings. `prompt` gives one to
`for_prompt_in_steps` or `for_answers_in_steps`, with the messages of the body.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Raw, Struct

from turnwire.core.body.attachments import Attachment
from turnwire.core.body.continuation import Response
from turnwire.core.body.conversation import Conversation, ConversationLimits, Message, Write
from turnwire.core.body.conversion import convert_in_steps
from turnwire.core.steps import Steps


def _no_calls(_: Sequence[Response]) -> Collection[str]:
    """Return the calls that wait, where no approval can be checked."""
    return ()


class ClientHistory(Struct, frozen=True, kw_only=True):
    """How conversations are written, and how much of them."""

    write: Write
    limits: ConversationLimits = ConversationLimits()
    is_whole: bool = True
    """Whether the earlier messages are sent too. False: only what is new, for an agent that keeps
    the conversation on a wire that could send it."""
    prompt_id: str | None = None
    """The id of a new prompt to which the client gave none."""
    pending: Callable[[Sequence[Response]], Collection[str]] = _no_calls
    """Returns the ids of the calls that wait for an approval which one of these answers gives."""

    def for_prompt_in_steps(
        self,
        messages: Sequence[Raw],
        files: Sequence[Attachment],
        replaced: int,
        *,
        texts: Sequence[str] | None = None,
    ) -> Steps[Conversation]:
        """Convert messages whose last one is a new prompt with these files, in steps.

        `texts` are those of a prompt that has nothing else. `replaced` is the number of halves of
        characters that were replaced in the body.

        Raises:
            BadRequest: the wire has no words for a part of the prompt.

        """
        first = 0 if self.is_whole else len(messages) - 1
        return convert_in_steps(
            messages,
            self.write,
            self.limits,
            prompt_files=files,
            prompt_texts=texts,
            prompt_id=self.prompt_id,
            first=first,
            replaced=replaced,
        )

    def for_answers_in_steps(
        self, messages: Sequence[Raw], responses: Sequence[Response], replaced: int
    ) -> Steps[Conversation]:
        """Convert messages whose last one has these answers, in steps."""
        pending = self.pending(responses)
        if self.is_whole:
            return convert_in_steps(
                messages, self.write, self.limits, pending=pending, replaced=replaced
            )
        # The agent has the message. Only the calls that wait are read out of it.
        return convert_in_steps(messages[-1:], _write_nothing, self.limits, pending=pending)


def _write_nothing(_: Message) -> Iterable[bytes]:
    return ()
