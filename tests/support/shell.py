"""The lines of a page are run in a shell, as a reader pastes them."""

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL
from tempfile import TemporaryFile
from typing import Final

import pytest

RUN_S: Final = 90.0


def run(code: str, folder: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run these lines up to the first that fails. Nothing that they started is left.

    What they write goes into files: the end of a pipe would come no sooner than that of the last
    process they left behind.
    """
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", code]
    with (
        TemporaryFile("w+", encoding="utf-8") as out,
        TemporaryFile("w+", encoding="utf-8") as err,
        subprocess.Popen(
            command, cwd=folder, env=environ, stdout=out, stderr=err, start_new_session=True
        ) as shell,
    ):
        late = None
        try:
            shell.wait(RUN_S)
        except subprocess.TimeoutExpired as error:
            late = error
        finally:
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, SIGKILL)
        for each in (out, err):
            each.seek(0)
        ran = subprocess.CompletedProcess(code, shell.returncode, out.read(), err.read())
    if late:
        pytest.fail(f"{late}:\n{ran.stdout}\n{ran.stderr}")
    return ran
