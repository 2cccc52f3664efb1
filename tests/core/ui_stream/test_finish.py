"""What the last chunk says of an answer that is not whole."""

import pytest
from msgspec import Raw

from support.shown import shown
from turnwire.core.events import Reason, TurnFinished, TurnStarted
from turnwire.core.ui_stream.translator import Translator


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
