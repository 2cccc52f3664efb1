"""What the last chunk says of why the model stopped."""

import pytest
from msgspec import Raw

from support.shown import shown
from turnwire.core.events import Reason, TurnFinished, TurnStarted
from turnwire.core.ui_stream.finish import RELEASED, TURN_FAILED, last_chunks
from turnwire.core.ui_stream.translator import Translator
from turnwire.testing.client_model import FINISH_REASONS


@pytest.mark.parametrize("wanted", [False, True])
def test_why_an_answer_is_not_whole_always_stands_in_the_metadata(*, wanted: bool) -> None:
    translator = Translator(usage=wanted)
    translator.feed(TurnStarted("t1"))
    end = TurnFinished(reason=Reason.END_TURN, usage=Raw(b'{"n":1}'), cut_short="length\ud83d")

    *_, finish = shown(translator.feed(end))

    usage = {"usage": {"n": 1}} if wanted else {}
    assert finish == {
        "type": "finish",
        "messageMetadata": {"finishReason": "length\ufffd", **usage},
    }


@pytest.mark.parametrize(
    ("word", "told"),
    [
        *((word, word) for word in sorted(RELEASED)),
        *(("context", "length"), ("max-tokens", "length"), ("refusal", "content-filter")),
        *(("max-steps", "other"), ("unknown", "other"), ("interrupted", "other")),
        *(("Stop", "other"), ("\ud83d", "other"), ("", None), (None, None)),
    ],
)
@pytest.mark.parametrize("reason", Reason)
def test_a_client_gets_only_words_that_all_releases_know_that_know_any(
    word: str | None, told: str | None, reason: Reason
) -> None:
    def last(**fields: str | None) -> tuple[str | None, str | None]:
        end = TurnFinished(reason=reason, **fields)  # type: ignore[arg-type]
        return tuple(
            shown(last_chunks(end, usage=True, native=native))[-1].get("finishReason")
            for native in (True, False)
        )  # type: ignore[return-value]

    assert last(finish_reason=word) == (told, None)
    assert last(cut_short=word, finish_reason="stop") == (told or "stop", None)


def test_it_knows_the_words_of_the_releases() -> None:
    assert RELEASED == FINISH_REASONS


@pytest.mark.parametrize(
    ("reason", "types"),
    [
        (Reason.END_TURN, ["finish"]),
        (Reason.CANCELED, ["abort", "finish"]),
        (Reason.ERROR, ["error", "finish"]),
    ],
)
def test_the_verdict_comes_before_it(reason: Reason, types: list[str]) -> None:
    chunks = shown(last_chunks(TurnFinished(reason=reason), usage=False, native=False))

    assert [chunk["type"] for chunk in chunks] == types
    assert [chunk["errorText"] for chunk in chunks if "errorText" in chunk] == [
        *([TURN_FAILED] if reason is Reason.ERROR else [])
    ]
