"""Files that settings name: what is read of them, and where nothing can be written."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from turnwire.config.files import (
    SECRET_BYTES_MAX,
    UnreadableError,
    directory_problem,
    file_problem,
    is_open_to_others,
    read_secret,
    read_text,
)


@pytest.mark.parametrize("content", [b"s3cret", b" s3cret\n", b"\r\ns3cret\r\n"])
def test_a_secret_is_read_without_the_space_around_it(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_bytes(content)

    assert read_secret(str(file)) == "s3cret"


def test_a_text_is_read_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"\n a\r\n")

    assert read_text(str(file)) == "\n a\r\n"


def test_a_file_is_open_to_others_by_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "key"
    assert not is_open_to_others(str(file))
    file.touch()
    file.chmod(0o600)
    assert not is_open_to_others(str(file))
    file.chmod(0o640)
    assert is_open_to_others(str(file))
    assert not is_open_to_others(os.devnull), "a device has no contents of its own"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "FileNotFoundError"),
        (b"\xff", "UnicodeDecodeError"),
        (b"x" * (SECRET_BYTES_MAX + 1), f"more than {SECRET_BYTES_MAX} bytes"),
    ],
    ids=["absent", "no text", "too long"],
)
def test_what_is_no_secret_is_told_without_its_contents(
    content: bytes | None, why: str, tmp_path: Path
) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(UnreadableError, match=why) as raised:
        read_secret(str(file))

    assert "xxx" not in str(raised.value)


def test_a_file_can_be_appended_to_or_it_is_said_why_not(tmp_path: Path) -> None:
    (tmp_path / "there").touch()

    assert file_problem(str(tmp_path / "there")) is None
    assert file_problem(str(tmp_path / "new")) is None
    assert file_problem(str(tmp_path)) == "is a directory"
    assert file_problem(str(tmp_path / "none/new")) == (
        f"no file can be made in {tmp_path / 'none'} (No such file or directory)"
    )
    assert file_problem(str(tmp_path / ("x" * 300))) == "cannot be written (File name too long)"


def test_a_directory_is_there_or_can_be_made_or_it_is_said_why_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")

    assert directory_problem(str(tmp_path)) is None
    assert directory_problem(str(tmp_path / "one/two")) is None
    for name in ("file", "file/one", "dangling"):
        problem = directory_problem(str(tmp_path / name))
        assert problem == "is no directory, and none can be made of it", name
    assert directory_problem(str(tmp_path / ("x" * 300))) == (
        "cannot be written (File name too long)"
    )


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no /proc")
@pytest.mark.parametrize("place", ["/proc", "/proc/none/made", "/proc/self/fd"])
def test_a_place_that_takes_no_file_is_refused_though_its_mode_allows_it(place: str) -> None:
    """As root, the modes of /proc allow everything, and nobody can make a file there."""
    problem = directory_problem(place)

    assert problem is not None
    assert problem.startswith("no file can be made in /proc")
    assert "\n" not in problem
    assert file_problem(f"{place}/file") is not None


@pytest.mark.skipif(not Path("/proc/version").is_file(), reason="this system has no /proc")
def test_a_file_that_nobody_can_append_to_is_refused_though_root_may_open_it() -> None:
    problem = file_problem("/proc/version")

    assert problem is not None
    assert problem.startswith("cannot be written (")
    assert "\n" not in problem


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    """To open a pipe without a reader would wait for one."""
    os.mkfifo(tmp_path / "pipe")

    assert file_problem(str(tmp_path / "pipe")) is None
    assert file_problem(os.devnull) is None


def test_the_check_leaves_nothing_behind(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("one line\n")
    os.utime(there, (1, 1))

    assert directory_problem(str(tmp_path / "new")) is None
    assert file_problem(str(tmp_path / "samples")) is None
    assert file_problem(str(there)) is None

    assert list(tmp_path.iterdir()) == [there]
    assert there.read_text() == "one line\n"
    assert there.stat().st_mtime == 1


def test_a_process_without_a_free_descriptor_starts(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.touch()
    with no_descriptors():
        problems = [file_problem(str(there)), file_problem(str(tmp_path / "new"))]
        problems.append(directory_problem(str(tmp_path)))
        with pytest.raises(OSError, match="Too many open files"):
            there.open("ab")

    assert problems == [None, None, None]


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Within it, this process can open nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
