from collections.abc import Sequence

import pytest

from turnwire.core.ui_stream.sent_text import SentText

TOOL = None
"""A tool between two texts."""


def sent_text_of(*said: str | None) -> SentText:
    noted = SentText()
    note(noted, said)
    return noted


def note(noted: SentText, said: Sequence[str | None]) -> None:
    for text in said:
        if text is TOOL:
            noted.mark_tool()
        else:
            noted.add(text)


@pytest.mark.parametrize(
    ("said", "final", "missing"),
    [
        pytest.param([], "", "", id="nothing at all"),
        pytest.param([], "all", "all", id="all of it"),
        pytest.param(["a", "b"], "ab", "", id="nothing is missing"),
        pytest.param(["a", "b"], "abcd", "cd", id="a tail is missing"),
        pytest.param(["ab"], "a", "", id="shorter than what was streamed"),
        pytest.param(["ab"], "xbcd", "", id="another story"),
        pytest.param(["é\U0001f600"], "é\U0001f600!", "!", id="lengths are in characters"),
        pytest.param(["a", TOOL, "b"], "abc", "c", id="the whole turn"),
        pytest.param(["a", TOOL, "b"], "bc", "c", id="the text after the last tool"),
        pytest.param(["a", TOOL, "b"], "ac", "", id="the text before a tool"),
        pytest.param(["a", TOOL], "a", "", id="the last words again, after a tool"),
        pytest.param(["a", TOOL, TOOL], "a", "", id="the last words again, after two tools"),
        pytest.param(["a", TOOL, "b", TOOL], "b", "", id="the last words before the last tool"),
        pytest.param(["is 84.\n", TOOL], "is 84.", "", id="the last words again, trimmed"),
        pytest.param(["\n\nDone. ", " ", TOOL], "Done.", "", id="trimmed at both ends"),
        pytest.param(["A.", TOOL, "B.", TOOL], "A.\n\nB.", "", id="all that was said, joined"),
        pytest.param(["Hello", TOOL, "World", TOOL], "Hello", "", id="the first words again"),
        pytest.param(["a b", TOOL, " ", TOOL], "a b", "", id="white space alone is no stretch"),
        pytest.param(
            ["x", TOOL, "It", TOOL], "Items are three.", "Items are three.", id="half a word alike"
        ),
        pytest.param(
            ["x", TOOL, "a" * 20_000, "  ", TOOL], "a" * 20_000, "", id="a batch of white space"
        ),
        pytest.param([" ", TOOL], "new", "new", id="white space was said before the tool"),
        pytest.param(["a", TOOL], "new", "new", id="words that only the end has"),
        pytest.param(["x" * 20_000, "y"], "x" * 20_000 + "yz", "z", id="more than one batch"),
        pytest.param(
            ["x" * 20_000 + " ", "y"], "x" * 20_000 + " yz", "z", id="white space between batches"
        ),
        pytest.param(
            ["Let me check.", TOOL, "Now editing.\n", TOOL],
            "Let me check.Now editing.",
            "",
            id="all of it, joined and trimmed, after a tool",
        ),
        pytest.param(
            ["\nLet me check.", TOOL, "Now editing.", TOOL],
            "Let me check.Now editing.",
            "",
            id="all of it without its first line break",
        ),
        pytest.param(
            ["\nA.", TOOL, "B.\n", TOOL], "A.\n\nB.\n\nC.", "\nC.", id="all of it, and a tail"
        ),
        pytest.param(["\nOK", TOOL, "OK"], "OKOK", "", id="all of it goes before its end"),
        pytest.param(["A. ", TOOL, "\nB."], "B. C", " C", id="the end, trimmed, and a tail"),
        pytest.param(
            ["A.", TOOL, "B.", TOOL, "C."], "B.\nC. D", " D", id="what was said since another tool"
        ),
        pytest.param(
            ["A.", TOOL, "B.", TOOL, "C."], "B.\nD.", "", id="some of it, and another end"
        ),
        pytest.param(
            ["A.", TOOL, "B.", TOOL], "A. C.", "", id="some of it, and another end, later"
        ),
        pytest.param(["A.", TOOL, "B", TOOL], "B. C", ". C", id="the last words go on"),
        pytest.param(["A.", TOOL, "\n"], "B.", "B.", id="white space alone after the tool"),
        pytest.param(["\n"], "\n\nB.", "\nB.", id="white space alone, and more of it"),
        pytest.param(["A.\n\n"], " A.\nB", "B", id="white space that was sent"),
        pytest.param(["\u3000Ä.\u2028"], "Ä. é", " é", id="white space that ASCII lacks"),
        pytest.param(["a \n b"], "a b c", "", id="white space within a text is compared"),
        pytest.param([" a", TOOL], "a \n ", "", id="white space alone is no tail after a tool"),
        pytest.param(["a"], "a\n", "\n", id="a tail of white space"),
        pytest.param(["a\n"], "a\n", "", id="white space that was sent is no tail"),
    ],
)
def test_what_of_a_final_text_is_missing(said: list[str | None], final: str, missing: str) -> None:
    assert sent_text_of(*said).unsent_suffix(final) == missing


@pytest.mark.parametrize(
    ("said", "final", "chars"),
    [
        pytest.param(["ab"], " xbcd\n", 4, id="another story"),
        pytest.param(["ab"], "a", 1, id="less than was streamed"),
        pytest.param(
            ["A.", TOOL, "B.", TOOL], "A. C.", 5, id="a text before a tool, and another end"
        ),
        pytest.param(["ab"], "abc", 0, id="it goes on"),
        pytest.param(["ab"], "ab", 0, id="it is the same"),
        pytest.param(["ab"], " \n", 0, id="it says nothing"),
        pytest.param(["a", TOOL], "new", 0, id="the text after a tool"),
        pytest.param([], "all", 0, id="nothing was streamed"),
    ],
)
def test_a_final_text_that_contradicts_what_was_streamed_is_told(
    said: list[str | None], final: str, chars: int
) -> None:
    noted = sent_text_of(*said)

    noted.unsent_suffix(final)

    assert noted.contradicted_chars == chars


@pytest.mark.parametrize(
    ("before", "after", "final", "missing"),
    [
        pytest.param(["a"], ["b"], "bc", "c", id="the tail of the new turn"),
        pytest.param(["a"], ["b"], "b", "", id="nothing is missing"),
        pytest.param(["a", TOOL, "b"], ["c", TOOL, "d"], "de", "e", id="after its last tool"),
        pytest.param(["a"], ["b", TOOL, "c"], "bcd", "d", id="all of the new turn"),
        pytest.param(["a", TOOL], ["b", TOOL], "a", "a", id="what an earlier turn said is new"),
        pytest.param(["a"], [], "new", "new", id="the new turn streamed nothing"),
        pytest.param(["a"], [], "a", "", id="it repeats what was said under the former id"),
        pytest.param(["a"], [], "ab", "b", id="it goes on with that"),
        pytest.param(["a"], ["b"], "abc", "c", id="all that was said, under both ids"),
        pytest.param([], ["b"], "bc", "c", id="nothing was said before"),
        pytest.param(["a" * 20_000], ["b"], "bc", "c", id="what waited for its batch is no part"),
    ],
)
def test_what_is_missing_once_the_turn_was_started_over(
    before: list[str | None], after: list[str | None], final: str, missing: str
) -> None:
    noted = sent_text_of(*before)

    noted.start_over()
    note(noted, after)

    assert noted.unsent_suffix(final) == missing


def test_a_turn_may_start_over_again_before_it_says_anything() -> None:
    noted = sent_text_of("a")

    noted.start_over()
    noted.start_over()

    assert noted.unsent_suffix("ab") == "b"


def test_what_was_streamed_is_not_kept() -> None:
    noted = SentText()

    for _ in range(1_000):
        noted.add("x" * 1_000)

    assert sum(map(len, noted._batch)) < 20_000


def test_the_oldest_stretch_is_forgotten_when_there_are_too_many() -> None:
    told = SentText()
    for number in range(66):
        told.add(f"stretch {number}.")
        told.mark_tool()

    assert told.unsent_suffix("stretch 65. And more") == " And more"
    assert told.unsent_suffix("stretch 1. And more") == "stretch 1. And more", "it is forgotten"
    assert len(told._earlier) == 64
