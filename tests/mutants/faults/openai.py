"""What an agent does not mean on the wires of OpenAI's APIs: ends, calls, texts taken wrongly."""

import ast
from typing import Final

from mutants.edit import constant, decided, instead, unasked
from mutants.fault import Fault
from mutants.wrong import always, never, nothing, nothing_is_done

_CHAT: Final = "turnwire.dialects.openai_chat"
_RESPONSES: Final = "turnwire.dialects.openai_responses"
_CHAT_TURN: Final = f"{_CHAT}.turn:TurnProtocol"
_TURN: Final = f"{_RESPONSES}.turn:TurnProtocol"

_OF_CHAT: Final = (
    "dialects/openai_chat/test_turn.py",
    "dialects/openai_chat/test_errors.py",
)
_CHAT_CALLS: Final = ("dialects/openai_chat/test_calls.py",)
_CHAT_PROGRESS: Final = ("dialects/openai_chat/test_progress.py",)
_COMMANDS: Final = ("dialects/openai_responses/test_commands.py",)
_OF_RESPONSES: Final = ("dialects/openai_responses/test_turn.py",)
_QUESTIONS: Final = ("dialects/openai_responses/test_questions.py",)
_CONTINUATION: Final = ("dialects/openai_responses/test_continuation.py",)
_ITEMS: Final = (
    "dialects/openai_responses/test_whole_items.py",
    "dialects/openai_responses/test_progress.py",
)
_TEXTS: Final = ("dialects/openai_responses/test_text.py",)
_CALLS: Final = ("dialects/openai_responses/test_calls.py",)
_APPROVALS: Final = ("dialects/openai_responses/test_approvals.py",)


FAULTS: Final = (
    Fault(
        "an answer that a proxy cut is complete",
        f"{_CHAT_TURN}.connection_lost",
        decided(ast.IfExp, outcome=False),
        _OF_CHAT,
    ),
    Fault(
        "`[DONE]` alone completes an answer",
        f"{_CHAT_TURN}._done",
        decided(ast.If, outcome=False, nth=2),
        _OF_CHAT,
    ),
    Fault(
        "an answer that is cut while tools run is complete",
        f"{_CHAT_TURN}.connection_lost",
        unasked(2),
        _OF_CHAT,
    ),
    Fault(
        "the error of an answer that is cut short is its end",
        f"{_CHAT_TURN}._failure",
        decided(ast.If, outcome=True),
        _OF_CHAT,
    ),
    Fault(
        "a server that keeps the connection keeps the turn",
        f"{_CHAT_TURN}._await_end",
        nothing_is_done,
        _OF_CHAT,
    ),
    Fault(
        "a model's calls are what an agent ran",
        f"{_CHAT_TURN}._finish",
        decided(ast.If, outcome=False),
        _OF_CHAT,
    ),
    Fault(
        "an answer that was filtered is an empty one",
        f"{_CHAT_TURN}._finish",
        decided(ast.If, outcome=False, nth=3),
        _OF_CHAT,
    ),
    Fault("an error is a chunk like any other", f"{_CHAT}.frames:is_error", never, _OF_CHAT),
    Fault(
        "another id on a piece is another call",
        f"{_CHAT}.calls:Calls._call_of",
        decided(ast.If, outcome=False, nth=4),
        _CHAT_CALLS,
    ),
    Fault(
        "an empty piece begins a call",
        f"{_CHAT}.calls:Calls._call_of",
        decided(ast.If, outcome=False, nth=-1),
        _CHAT_CALLS,
    ),
    Fault(
        "a whole input goes on with the next one",
        f"{_CHAT}.calls:Calls._relation",
        decided(ast.If, outcome=True, nth=-1),
        _CHAT_CALLS,
    ),
    Fault(
        "a tool that an agent names is one that nobody ran",
        f"{_CHAT}.calls:Calls.settle",
        decided(ast.IfExp, outcome=False),
        _CHAT_CALLS,
    ),
    Fault(
        "an agent that goes on says no more of its tools",
        f"{_CHAT}.calls:Calls.end_unseen",
        instead(ast.UnaryOp, "True"),
        _CHAT_CALLS,
    ),
    Fault(
        "a reason that nobody knows is that of a whole answer",
        f"{_CHAT}.reasons:cut_short",
        constant("other", "length"),
        ("dialects/openai_chat/test_reasons.py",),
    ),
    Fault(
        "the words of a tool are those of the answer",
        f"{_CHAT}.progress:Progress._content",
        decided(ast.If, outcome=False),
        _CHAT_PROGRESS,
    ),
    Fault(
        "a text of a tool is a plain one",
        f"{_CHAT}.progress:Progress.plain_text",
        decided(ast.If, outcome=False, nth=3),
        _CHAT_PROGRESS,
    ),
    Fault(
        "an input is never whole before the end",
        f"{_CHAT}.calls:_is_object",
        never,
        _CHAT_CALLS,
    ),
    Fault(
        "a tool that failed did not",
        f"{_CHAT}.calls:Calls.progress",
        decided(ast.If, outcome=False, nth=5),
        _CHAT_CALLS,
    ),
    Fault(
        "a refusal is in the block of the text",
        f"{_CHAT}.progress:Progress._write",
        unasked(1),
        _CHAT_PROGRESS,
    ),
    Fault(
        "another choice is the answer too",
        f"{_CHAT}.progress:Progress.take",
        decided(ast.If, outcome=False),
        _CHAT_PROGRESS,
    ),
    Fault(
        "a client chooses the thread",
        f"{_RESPONSES}.commands:thread_of",
        instead(ast.Return, "return request.channel.id"),
        _COMMANDS,
    ),
    Fault(
        "a whole text is told again",
        f"{_RESPONSES}.text:Texts.end",
        instead(ast.Subscript, "whole", nth=-1),
        _TEXTS,
    ),
    Fault(
        "a text that contradicts its deltas goes on with them",
        f"{_RESPONSES}.text:Texts.end",
        unasked(2),
        _TEXTS,
    ),
    Fault(
        "an item that is repeated is another call",
        f"{_RESPONSES}.calls:Calls.is_repeated",
        never,
        _ITEMS,
    ),
    Fault("whatever is answered approves", f"{_RESPONSES}.approvals:is_yes", always, _APPROVALS),
    Fault(
        "a turn that waits for an approval is cut",
        f"{_TURN}.connection_lost",
        decided(ast.IfExp, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "the first of two answers begins the next response",
        f"{_TURN}.reply",
        decided(ast.IfExp, outcome=False),
        _QUESTIONS,
    ),
    Fault(
        "the items of the turn are not sent again",
        f"{_RESPONSES}.kept_items:KeptItems.add",
        nothing_is_done,
        _QUESTIONS,
    ),
    Fault(
        "the call that waited is sent as a call",
        f"{_RESPONSES}.messages:is_call_of",
        never,
        _CONTINUATION,
    ),
    Fault(
        "an error and its end are two errors",
        f"{_TURN}.receive_frame",
        instead(ast.Set, "set()"),
        _OF_RESPONSES,
    ),
    Fault(
        "a status of an answer says nothing",
        f"{_TURN}._completed",
        constant("incomplete", "whole"),
        _OF_RESPONSES,
    ),
    Fault(
        "an answer in its end alone is lost",
        f"{_RESPONSES}.progress:Progress.end_response",
        nothing,
        _OF_RESPONSES,
    ),
)
