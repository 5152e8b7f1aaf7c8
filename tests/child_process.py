"""Python in a process of its own, for what could hang or end the process of the tests."""

import subprocess
import sys

MEMORY = 2 << 30
"""Bytes that the process may map: what is not bounded fails here and spares the machine."""

PRELUDE = f"""
import resource
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
import cuecard
"""


def run_python(code: str, *, given: str = "", timeout: float = 20) -> str:
    """What the code prints, `cuecard` being imported; it must end by itself, and in time."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PRELUDE + code],
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=timeout,
    )
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout


def code_of_render(template: str, context: str = "None", *, timeout: float = 20) -> str:
    """The code of the error that a render ends with, or `text` and its length."""
    code = f"""
import sys
try:
    print("text", len(cuecard.render(sys.stdin.read(), {context})))
except cuecard.PromptError as error:
    print(error.code)
"""
    return run_python(code, given=template, timeout=timeout).strip()
