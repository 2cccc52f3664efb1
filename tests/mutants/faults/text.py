"""Text that is lost, or told again."""

from typing import Any, Final

from mutants.fault import Fault, Function
from mutants.wrong import never, nothing, nothing_is_done
from turnwire.core.ui_stream.sent_text import SentText
from turnwire.dialects.v2.delta_dedup import DeltaDeduplicator


def everything_is_missing(_unsent_suffix: Function) -> Function:
    def wrong(_self: SentText, final_text: str) -> str:
        return final_text

    return wrong


def nothing_is_missing(_unsent_suffix: Function) -> Function:
    return lambda *_args: ""


def its_space_is_sent_again(tail: Function) -> Function:
    def wrong(self: SentText, final_text: str, end: int) -> Any:
        self._space = ""
        return tail(self, final_text, end)

    return wrong


def white_space_is_compared(_skip_space: Function) -> Function:
    def wrong(_text: str, at: int) -> int:
        return at

    return wrong


def both_are_news(_new_text: Function) -> Function:
    def wrong(_self: DeltaDeduplicator, _frame_type: int, text: str) -> str:
        return text

    return wrong


def another_story_is_swallowed(_mismatch: Function) -> Function:
    return lambda *_args: ""


def its_first_words_are_swallowed(mismatch: Function) -> Function:
    def wrong(self: DeltaDeduplicator, frame_type: int, data: bytes) -> Any:
        self._matched = ""
        return mismatch(self, frame_type, data)

    return wrong


def the_last_delta_is_a_switch(mismatch: Function) -> Function:
    def wrong(self: DeltaDeduplicator, frame_type: int, data: bytes) -> Any:
        self._last_delta = ""
        return mismatch(self, frame_type, data)

    return wrong


def nothing_is_kept(keep_pending: Function) -> Function:
    def wrong(self: DeltaDeduplicator) -> None:
        keep_pending(self)
        self._unkept_bytes += len(self._kept) - self._position
        self._kept, self._position = b"", 0

    return wrong


def halves_are_mended(_utf16: Function) -> Function:
    def wrong(text: str) -> bytes:
        return text.encode("utf-16-le", "replace")

    return wrong


_SENT_TEXT: Final = "turnwire.core.ui_stream.sent_text:SentText"
_DEDUPLICATOR: Final = "turnwire.dialects.v2.delta_dedup:DeltaDeduplicator"

FAULTS: Final = (
    Fault(
        "a repeated final text is told again", f"{_SENT_TEXT}.unsent_suffix", everything_is_missing
    ),
    Fault("the tail of a final text is lost", f"{_SENT_TEXT}.unsent_suffix", nothing_is_missing),
    Fault(
        "every final text is another story",
        "turnwire.core.ui_stream.sent_text:_Run.occurs_in",
        never,
    ),
    Fault(
        "a final text is compared with its white space",
        "turnwire.core.ui_stream.sent_text:_skip_space",
        white_space_is_compared,
    ),
    Fault("white space is told again", f"{_SENT_TEXT}._tail", its_space_is_sent_again),
    Fault(
        "a final text is always news after a tool",
        "turnwire.core.ui_stream.sent_text:_ends",
        nothing,
    ),
    Fault(
        "half a word is a stretch",
        "turnwire.core.ui_stream.sent_text:_splits_word",
        never,
    ),
    Fault("a tool parts no stretches", f"{_SENT_TEXT}.mark_tool", nothing_is_done),
    Fault("a turn started over goes on", f"{_SENT_TEXT}.start_over", nothing_is_done),
    Fault("both spellings are news", f"{_DEDUPLICATOR}.new_text", both_are_news),
    Fault(
        "a switch of spellings is swallowed",
        f"{_DEDUPLICATOR}._mismatch",
        another_story_is_swallowed,
    ),
    Fault(
        "a switch loses its first words",
        f"{_DEDUPLICATOR}._mismatch",
        its_first_words_are_swallowed,
    ),
    Fault(
        "both from the middle on is a switch",
        f"{_DEDUPLICATOR}._mismatch",
        the_last_delta_is_a_switch,
    ),
    Fault("lengths alone are compared", f"{_DEDUPLICATOR}._keep_pending", nothing_is_kept),
    Fault(
        "half a pair is compared as none",
        "turnwire.dialects.v2.delta_dedup:_utf16",
        halves_are_mended,
    ),
)
