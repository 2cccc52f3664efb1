"""The records of a stream, from the pieces in which they came."""

from turnwire.doctor.capture import Capture, Piece

START = b'event: message-start\ndata: {"type":"start"}\n\n'
DELTA = b'data: {"type":"text-delta","id":"t0","delta":"x"}\n\n'


def test_a_record_may_come_in_pieces() -> None:
    capture = Capture(0.0, 0.1)
    capture.pieces = [Piece(0.1, START[:20]), Piece(0.2, START[20:] + DELTA[:5])]

    assert [(record.arrived_at, record.kind) for record in capture.records] == [(0.2, "start")]


def test_the_text_of_an_error() -> None:
    capture = Capture(0.0, 0.1)
    assert capture.error is None
    capture = Capture(0.0, 0.1)
    capture.pieces = [Piece(0.1, START + b'data: {"type":"error","errorText":"No"}\n\n')]
    assert capture.error == "No"

    capture = Capture(0.0, 0.1)
    capture.pieces = [Piece(0.1, b'data: {"type":"error","errorText":7}\n\n')]
    assert capture.error == ""
