"""Text that is lost, or told again."""

from typing import Any, Final

from mutants.fault import Fault, Function
from turnwire.core.told import Told
from turnwire.dialects.v2.spellings import Spellings


def nothing_is_done(_right: Function) -> Function:
    return lambda *_args: None


def everything_is_missing(_missing: Function) -> Function:
    def wrong(_self: Told, final_text: str) -> str:
        return final_text

    return wrong


def nothing_is_missing(_missing: Function) -> Function:
    return lambda *_args: ""


def nowhere(_stands_in: Function) -> Function:
    return lambda *_args: False


def its_space_is_sent_again(tail: Function) -> Function:
    def wrong(self: Told, final_text: str, end: int) -> Any:
        self._space = ""
        return tail(self, final_text, end)

    return wrong


def white_space_is_compared(_past_space: Function) -> Function:
    def wrong(_text: str, at: int) -> int:
        return at

    return wrong


def no_stretch_is_known(_ends: Function) -> Function:
    return lambda *_args: []


def half_a_word_is_one(_parts: Function) -> Function:
    return lambda *_args: False


def both_are_news(_fresh: Function) -> Function:
    def wrong(_self: Spellings, _spelling: int, text: str) -> str:
        return text

    return wrong


def another_story_is_swallowed(_unlike: Function) -> Function:
    return lambda *_args: ""


def its_first_words_are_swallowed(unlike: Function) -> Function:
    def wrong(self: Spellings, spelling: int, said: bytes) -> Any:
        self._seemed = ""
        return unlike(self, spelling, said)

    return wrong


def the_last_delta_is_a_switch(unlike: Function) -> Function:
    def wrong(self: Spellings, spelling: int, said: bytes) -> Any:
        self._last = ""
        return unlike(self, spelling, said)

    return wrong


def nothing_is_kept(take_in: Function) -> Function:
    def wrong(self: Spellings) -> None:
        take_in(self)
        self._beyond += len(self._kept) - self._at
        self._kept, self._at = b"", 0

    return wrong


def halves_are_mended(_utf16: Function) -> Function:
    def wrong(text: str) -> bytes:
        return text.encode("utf-16-le", "replace")

    return wrong


_TOLD: Final = "turnwire.core.told:Told"
_SPELLINGS: Final = "turnwire.dialects.v2.spellings:Spellings"

FAULTS: Final = (
    Fault("a repeated final text is told again", f"{_TOLD}.missing", everything_is_missing),
    Fault("the tail of a final text is lost", f"{_TOLD}.missing", nothing_is_missing),
    Fault(
        "every final text is another story",
        "turnwire.core.told:_Run.stands_in",
        nowhere,
    ),
    Fault(
        "a final text is compared with its white space",
        "turnwire.core.told:_past_space",
        white_space_is_compared,
    ),
    Fault("white space is told again", f"{_TOLD}._tail", its_space_is_sent_again),
    Fault(
        "a final text is always news after a tool",
        "turnwire.core.told:_ends",
        no_stretch_is_known,
    ),
    Fault("half a word is a stretch", "turnwire.core.told:_parts_a_word", half_a_word_is_one),
    Fault("a tool parts no stretches", f"{_TOLD}.tool", nothing_is_done),
    Fault("a turn started over goes on", f"{_TOLD}.start_over", nothing_is_done),
    Fault("both spellings are news", f"{_SPELLINGS}.fresh", both_are_news),
    Fault(
        "a switch of spellings is swallowed", f"{_SPELLINGS}._unlike", another_story_is_swallowed
    ),
    Fault("a switch loses its first words", f"{_SPELLINGS}._unlike", its_first_words_are_swallowed),
    Fault(
        "both from the middle on is a switch", f"{_SPELLINGS}._unlike", the_last_delta_is_a_switch
    ),
    Fault("lengths alone are compared", f"{_SPELLINGS}._take_in", nothing_is_kept),
    Fault(
        "half a pair is compared as none",
        "turnwire.dialects.v2.spellings:_utf16",
        halves_are_mended,
    ),
)
