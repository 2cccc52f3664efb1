import pytest
from websockets.frames import Frame, Opcode

from turnwire_agent.host.text_frames import text_frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536])
def test_a_frame_is_what_the_library_writes(length: int) -> None:
    text = b"x" * length
    assert text_frame(text) == Frame(Opcode.TEXT, text).serialize(mask=False)
