"""Conversations of clients that are sent in another shape, or believed too much."""

import ast
from collections.abc import Collection, Sequence
from typing import Any, Final

from msgspec import Raw, structs

from mutants.edit import decided, without
from mutants.fault import Fault, Function
from mutants.wrong import never
from turnwire.config.settings import Settings
from turnwire.core.body.continuation import Response
from turnwire.core.body.conversation import ConversationLimits, Write
from turnwire.core.body.ui_message import Outcome, UIPart
from turnwire.core.steps import Steps, done
from turnwire.web.routes.endpoint import RequestContext


def whatever_was_approved(_pending_calls: Function) -> Function:
    def wrong(
        _settings: Settings, _context: RequestContext, responses: Sequence[Response]
    ) -> Collection[str]:
        return {response.call_id or "" for response in responses}

    return wrong


def all_went_well(_outcome_in_steps: Function) -> Function:
    def wrong(_part: UIPart) -> Steps[Outcome]:
        return done(Outcome(Raw(b"null")))

    return wrong


def with_the_systems_words(convert_in_steps: Function) -> Function:
    def wrong(
        messages: Sequence[Raw],
        write: Write,
        limits: ConversationLimits,
        *,
        pending: Collection[str] = (),
        prompt_files: Any = None,
        prompt_texts: Sequence[str] | None = None,
        prompt_id: str | None = None,
        first: int = 0,
        replaced: int = 0,
    ) -> Any:
        limits = structs.replace(limits, with_system=True)
        more = {"pending": pending, "prompt_files": prompt_files, "prompt_id": prompt_id}
        more["prompt_texts"] = prompt_texts
        return convert_in_steps(messages, write, limits, first=first, replaced=replaced, **more)

    return wrong


def as_it_is(_unused: Function) -> Function:
    def wrong(wanted: str, _used: dict[str, int]) -> str:
        return wanted

    return wrong


def in_the_middle_of_a_turn(_first_kept: Function) -> Function:
    def wrong(messages: Sequence[Raw], most: int) -> Steps[int]:
        return done(max(0, len(messages) - most))

    return wrong


def to_its_end(_last_prompt: Function) -> Function:
    def wrong(messages: Sequence[Raw], *, _is_lenient: bool) -> Steps[int]:
        return done(len(messages) - 1)

    return wrong


def no_bytes(_size: Function) -> Function:
    return lambda _self: 0


def as_json(_as_string: Function) -> Function:
    def wrong(raw: Raw) -> Any:
        return raw
        yield

    return wrong


_CONVERSION: Final = "turnwire.core.body.conversion"
_PROMPT: Final = "turnwire.core.body.prompt"
_CONVERSION_TESTS: Final = ("core/body/test_conversion.py",)
_HISTORY_TESTS: Final = ("core/body/test_client_history.py",)
_ROUTE_TESTS: Final = ("web/routes/test_client_history.py",)

FAULTS: Final = (
    Fault(
        "a call waits for an approval that nobody signed",
        "turnwire.web.routes.approval_profile:pending_calls",
        whatever_was_approved,
        _ROUTE_TESTS,
    ),
    Fault(
        "a call without an outcome went well",
        "turnwire.core.body.ui_message:outcome_in_steps",
        all_went_well,
        _CONVERSION_TESTS,
    ),
    Fault(
        "a client instructs the agent",
        f"{_CONVERSION}:convert_in_steps",
        with_the_systems_words,
        ("attacks/test_prompt_roles.py",),
    ),
    Fault("two calls have one id", f"{_CONVERSION}:_unused", as_it_is, _CONVERSION_TESTS),
    Fault(
        "half a turn is sent",
        f"{_CONVERSION}:_first_kept",
        in_the_middle_of_a_turn,
        _CONVERSION_TESTS,
    ),
    Fault(
        "text behind a call goes before it",
        f"{_CONVERSION}:_Converter._assistant",
        decided(ast.If, outcome=False),
        _CONVERSION_TESTS,
    ),
    Fault(
        "what a wire cannot say of a prompt is left out",
        f"{_CONVERSION}:_Converter._add",
        without(ast.Raise),
        _CONVERSION_TESTS,
    ),
    Fault("the old answer is sent too", f"{_PROMPT}:_last_prompt", to_its_end, _HISTORY_TESTS),
    Fault("half of a character is sent", f"{_PROMPT}:_Repaired.cuts", never, _HISTORY_TESTS),
    Fault(
        "a conversation takes no memory",
        "turnwire.core.body.conversation:Conversation.size",
        no_bytes,
        _ROUTE_TESTS,
    ),
    Fault(
        "a result is no text",
        "turnwire.core.wire.json_text:as_string",
        as_json,
        ("dialects/ag_ui/test_messages.py",),
    ),
)
