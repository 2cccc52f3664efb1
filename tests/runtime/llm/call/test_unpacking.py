import gzip
import zlib

import pytest

from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.unpacking import Unpacking


@pytest.mark.parametrize("encoding", ["", "identity", " GZIP ", "x-gzip", "deflate"])
def test_a_body_comes_out_as_it_went_in(encoding: str) -> None:
    body = b"hello " * 100
    packed = body
    if "gzip" in encoding.lower():
        packed = gzip.compress(body, mtime=0)
    elif encoding == "deflate":
        packed = zlib.compress(body)
    unpacking = Unpacking(encoding, len(body))

    assert b"".join(unpacking.feed(packed[n : n + 1]) for n in range(len(packed))) == body
    assert not unpacking.cut


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_is_cut_at_the_bound(encoding: str) -> None:
    body = b"hello " * 100_000
    packed = gzip.compress(body, mtime=0) if encoding else body
    unpacking = Unpacking(encoding, 1000)

    assert unpacking.feed(packed) == body[:1000]
    assert unpacking.cut
    assert unpacking.feed(packed) == b""


def test_packed_bytes_that_unpack_to_nothing_are_counted_too() -> None:
    unpacking = Unpacking("gzip", 1000)
    packing = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    unpacking.feed(packing.compress(b"") + packing.flush(zlib.Z_FULL_FLUSH))
    empty = packing.flush(zlib.Z_FULL_FLUSH) or b"\0\0\0\xff\xff"
    for _ in range(1000):
        assert unpacking.feed(empty) == b""

    assert unpacking.cut


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "?"])
def test_an_unknown_encoding_is_a_fault(encoding: str) -> None:
    with pytest.raises(FailedError) as caught:
        Unpacking(encoding, 1000)

    assert caught.value.fault.kind == "malformed"


def test_what_is_not_packed_as_it_says_is_a_fault() -> None:
    with pytest.raises(FailedError) as caught:
        Unpacking("gzip", 1000).feed(b"hello")

    assert caught.value.fault.kind == "malformed"
    assert caught.value.__context__ is None
