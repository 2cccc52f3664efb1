"""A wire that is sent the conversation: `v2`, with the messages of AG-UI as the text of a prompt.

Its agent keeps nothing. Answers go into a new prompt, beside the messages.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from turnwire.core.agent import Feature
from turnwire.core.body.conversation import Conversation, Message
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member
from turnwire.dialects.ag_ui.messages import write
from turnwire.dialects.v2 import V2
from turnwire.dialects.v2.turn import PromptProtocol


def content(conversation: Conversation | None, **more: Any) -> str:
    assert conversation is not None
    messages = [json.loads(message) for message in conversation.written]
    return json.dumps({"messages": messages, **more})


class Telling(V2):
    """The dialect."""

    name = "telling"
    operations = frozenset()
    keeps_history = False
    features = frozenset({Feature.FILES_SENT})
    names_sessions = False
    needs = frozenset[str]()
    request_fields = frozenset[str]()

    def write_message(self, message: Message) -> Iterable[bytes]:
        return write(message)

    def prompt(self, request: PromptRequest, member: Member | None = None) -> PromptProtocol:
        assert request.attachments == ()
        text = content(request.conversation, sendsHistory=request.options.sends_history)
        told = msgspec.structs.replace(request, text=text, conversation=None)
        return PromptProtocol(told, member or Member())

    def resume(self, request: ResumeRequest, member: Member | None = None) -> Any:
        assert request.conversation is not None
        replies = {each.question_id: json.loads(bytes(each.answer)) for each in request.replies}
        pending = [each.call_id for each in request.conversation.pending]
        text = content(
            request.conversation,
            replies=replies,
            pending=pending,
            sendsHistory=request.options.sends_history,
        )
        prompt = PromptRequest(text=text, prompt_id="again", channel=request.channel)
        return PromptProtocol(prompt, member or Member())
