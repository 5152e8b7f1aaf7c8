"""Fixtures that several test modules use."""

import io
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from cuecard.cli import main

# A machine that runs several tests at once is at times slow.
settings.register_profile("cuecard", deadline=None, print_blob=True)
settings.load_profile("cuecard")

pytest.register_assert_rewrite("tests.running")

from .running import Result, Run  # noqa: E402 - after what is to rewrite its assertions


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Runs the command in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        out, err = capfdbinary.readouterr()
        return Result(ended.value.code, out.decode(), err.decode())

    return call
