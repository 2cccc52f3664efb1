"""The text of an answer: in pieces, each of them once, with every character whole."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from turnwire.conform.bench import Bench, expect_completed
from turnwire.conform.given import FailedError, NotApplicableError, Shared
from turnwire.conform.play import Play
from turnwire.conform.scenario import Scenario, operation
from turnwire.conform.scenarios.beginning import ONE_TURN
from turnwire.core.events import TextDelta
from turnwire.core.operations import History, HistoryTurn, OperationName
from turnwire.core.rejection import Rejection
from turnwire.relay.agent.failures import DisconnectReason

DELTAS_MIN: Final = 20
UNICODE: Final = "Grüße, 漢字, e\u0301, 👩🏽‍🚀, \u2028, שלום"
_REPLACED: Final = "\ufffd"
_MOJIBAKE: Final = tuple(word.encode().decode("latin-1") for word in ("Grüße", "漢字", "שלום"))
_SURROGATES: Final = range(0xD800, 0xE000)


async def tells_in_pieces(bench: Bench) -> Sequence[str]:
    """Count the deltas of a long answer."""
    play = await bench.shared(Shared.LONG)
    expect_completed(play, "the long turn")
    count = len(play.events(TextDelta))
    if count < DELTAS_MIN:
        raise FailedError(
            f"{len(play.text)} characters came in {count} {'delta' if count == 1 else 'deltas'}"
        )
    return ()


async def tells_each_piece_once(bench: Bench) -> Sequence[str]:
    """Compare the deltas with each other, and with the whole text if the agent tells that too."""
    play = await bench.shared(Shared.LONG)
    expect_completed(play, "the long turn")
    texts = [event.text for event in play.events(TextDelta)]
    # Of equal words, as in an answer to "say la forty times", nobody can tell.
    if len(set(texts)) > 1 and texts[0::2] == texts[1::2]:
        raise FailedError("every delta came twice")
    finish = play.finish
    whole = None if finish is None else finish.final_text
    if whole is None:
        same = sum(one == other for one, other in pairwise(texts))
        return [f"{same} deltas repeat the one before: look whether they should"] * (
            same > len(texts) / 4
        )
    if not play.text.endswith(whole) and not whole.startswith(play.text):
        raise FailedError(
            f"the deltas have {len(play.text)} characters, and the text at the end of the turn, "
            f"which has {len(whole)}, is another"
        )
    return ()


async def keeps_characters_whole(bench: Bench) -> Sequence[str]:
    """Ask for characters of several bytes, and of several code points."""
    with bench.playing(bench.given.prompts.unicode) as play:
        await play.to_end(bench.patience.turn_s)
    if play.left is DisconnectReason.NOT_UTF8:
        raise FailedError("a frame was not valid UTF-8, and the connection had to be closed")
    expect_completed(play)
    text = _joined(play)
    if any(ord(character) in _SURROGATES for character in text):
        raise FailedError("half of a character was left, whose other half never came")
    if _REPLACED in text:
        raise FailedError("the text has U+FFFD, the mark of a character that was lost")
    if any(word in text for word in _MOJIBAKE):
        raise FailedError("the text is UTF-8 that was read as Latin-1")
    if text != play.text:
        return ["characters come in halves, one in each of two deltas"]
    if text.isascii():
        return ["the answer had ASCII alone, so it shows nothing: see --unicode-prompt"]
    return ()


async def history_tells_the_same(bench: Bench) -> Sequence[str]:
    """Read the history, and compare its last turn with what was streamed."""
    play = await bench.shared(Shared.PLAIN)
    expect_completed(play)
    bench.expect_greeting()
    history = await bench.history()
    if history is Rejection.UNSUPPORTED:
        raise NotApplicableError("this agent does not offer its history")
    if not isinstance(history, History):
        raise FailedError(f"the history was not told: {history.value}")
    texts = [_text_of(entry) for entry in history.entries if isinstance(entry, HistoryTurn)]
    if not texts:
        raise FailedError("the history has no turn")
    if play.text.strip() not in [text.strip() for text in texts]:
        raise FailedError("no turn of the history has the text that was streamed")
    return ()


def _joined(play: Play) -> str:
    """The text, with halves of characters joined that came in two deltas."""
    return play.text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _text_of(turn: HistoryTurn) -> str:
    return "".join(event.text for event in turn.events if isinstance(event, TextDelta))


SCENARIOS: Final = (
    Scenario(
        name="many-deltas",
        tries="send the long prompt",
        expects=f"at least {DELTAS_MIN} deltas",
        matters="The user sees an empty page until the whole text comes at once.",
        mend="Send each piece of the model as it comes: no buffer, no template around the stream."
        " If the answer is short, give a longer `--long-prompt`.",
        play=tells_in_pieces,
        looks_at=frozenset({Shared.LONG}),
        after=(ONE_TURN,),
    ),
    Scenario(
        name="each-delta-once",
        tries="compare the deltas of a long answer with its whole text",
        expects="each piece of the text once, none left out",
        matters="The user reads words twice, or misses some.",
        mend="See that one place alone writes deltas, and that no retry sends one again.",
        play=tells_each_piece_once,
        looks_at=frozenset({Shared.LONG}),
        after=(ONE_TURN, "many-deltas"),
    ),
    Scenario(
        name="unicode",
        tries="ask for characters of several bytes",
        expects="valid UTF-8 in every frame, no half of a character, none replaced",
        matters="Text in most languages of the world is broken, or ends the turn.",
        mend="Cut texts between characters, never bytes; decode what comes from a model in steps.",
        play=keeps_characters_whole,
        turns=1,
        after=(ONE_TURN,),
    ),
    Scenario(
        name="history",
        tries="read the history after a turn",
        expects="the turn, with the text that was streamed",
        matters="After a reload the user sees another answer than before it.",
        mend="Keep what was sent, and keep it before the frame that ends the turn.",
        play=history_tells_the_same,
        looks_at=frozenset({Shared.PLAIN}),
        needs=(operation(OperationName.HISTORY),),
        after=(ONE_TURN,),
    ),
)
