"""The process of one attack: bounds, what is planted, the attempt, and the report of it."""

from __future__ import annotations

import io
import logging
import os
import resource
import secrets
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import cuecard

from .attacks import Attack, joined
from .engines import bare_minijinja, sandboxed_jinja2
from .makers import make
from .marks import Observers, Planted
from .surfaces import RENDERS, SURFACES, Attempt, Output

__all__ = ["Bounds", "attempt"]


class Bounds(NamedTuple):
    """What one attempt may take: seconds of the processor, mebibytes, seconds by the clock.

    With `quick`, what makes much work is tried in one of the ways, by chance of its name.
    """

    cpu: float = 1.0
    memory: int = 512
    wall: float = 60.0
    quick: bool = False


def attempt(engine: str, attack: Attack, bounds: Bounds) -> list[dict[str, Any]]:
    """Try an attack in this process, in every way that there is.

    Returns:
        What each way ended with. An attempt over its bounds ends the process instead.
    """
    ways = _ways(engine, attack, bounds)
    os.environ["HOSTILE_TOKEN"] = secret = f"secret-{secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="hostile-") as place:
        planted = _plant(Path(place), secret)
        os.chdir(planted.folder)
        _write_files(planted, attack)
        observers = Observers(planted)
        reports = []
        for number, way in enumerate(ways):
            # Each way gets objects of its own, which no other has used up.
            planted.watched.clear()
            context = make(planted, attack.context)
            template = planted.fill(joined(attack.template))
            call = _call(engine, way, attack, planted, template)
            _bound(bounds, memory=number == 0)
            # Isolation starts processes of its own, in which nothing can be watched.
            observers.arm(starts=way != "isolated")
            report = _report(call, context)
            signal.setitimer(signal.ITIMER_PROF, 0)
            failure = report.pop("failure")
            report["marks"] = observers.marks(report["text"] + failure, failure)
            report["text"] = report["text"][:400]
            report["way"] = way
            reports.append(report)
        return reports


def _ways(engine: str, attack: Attack, bounds: Bounds) -> tuple[str, ...]:
    if not attack.for_engines or engine != "cuecard":
        return (attack.surface,)
    if bounds.quick and attack.group == "work":
        return (RENDERS[crc32(attack.id.encode()) % len(RENDERS)],)
    return RENDERS


def _plant(place: Path, secret: str) -> Planted:
    folder, outside = place / "templates", place / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text(secret, encoding="utf-8")
    value = f"value-{secrets.token_hex(8)}"
    return Planted(secret, value, folder, outside, [], [])


def _write_files(planted: Planted, attack: Attack) -> None:
    for name, content in attack.files.items():
        if isinstance(content, dict) and "many" in content:
            for number in range(content["many"]):
                text = content["text"].replace("@n@", str(number))
                _write(planted.folder / name.replace("@n@", str(number)), planted.fill(text))
        elif isinstance(content, dict) and "link" in content:
            path = planted.folder / planted.fill(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(planted.fill(content["link"]))
        elif isinstance(content, dict):
            path = planted.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if "pipe" in content:
                os.mkfifo(path)
            else:
                path.write_bytes(bytes.fromhex(content["bytes"]))
        else:
            _write(planted.folder / planted.fill(name), planted.fill(joined(content)))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")


def _call(
    engine: str, way: str, attack: Attack, planted: Planted, template: str
) -> Callable[[Any], Output]:
    """What makes the attempt: reading the template is part of it."""
    if engine == "cuecard":
        files = bool(attack.files)

        def run(context: Any) -> Output:
            tried = Attempt(template, context, attack.profile, planted.folder, files)
            return SURFACES[way](tried)

        return run
    make_render = bare_minijinja if engine == "minijinja" else sandboxed_jinja2
    return lambda context: Output(make_render(template, planted.folder)(context))


def _bound(bounds: Bounds, *, memory: bool) -> None:
    """From here on, more than the bounds ends the process."""
    if memory:
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit = mapped + (bounds.memory << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # The system ends the process: a program that holds Python's lock cannot be interrupted.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, bounds.cpu)


def _report(call: Callable[[Any], Output], context: Any) -> dict[str, Any]:
    """What an attempt ended with, and all that it wrote to logs and warnings."""
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    report: dict[str, Any] = {"ending": "text", "text": "", "failure": ""}
    # A text is looked at; of a long one, that it is there is enough.
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            output = call(context)
            report["text"] = str(output.text)
            report["characters"] = len(output.text)
            report["codes"] = [code for code, _ in output.diagnostics]
            report["failure"] = "\n".join(message for _, message in output.diagnostics)
        except BaseException as error:
            report.update(_error_report(error))
    report["failure"] += log.getvalue() + "\n".join(str(found.message) for found in warned)
    report["warned"] = [str(found.message) for found in warned]
    logging.getLogger().removeHandler(handler)
    return report


def _error_report(error: BaseException) -> dict[str, Any]:
    report: dict[str, Any] = {"ending": "error", "type": type(error).__name__}
    shown = [str(error), repr(error), *traceback.format_exception(error)]
    if isinstance(error, cuecard.PromptError):
        span = error.span
        report["code"] = error.code
        report["at"] = f"{span.line}:{span.column}" if span is not None else None
        if isinstance(error, cuecard.ContextError):
            report["at"] = error.path
        report["named"] = error.template
        shown.append(error.report())
    report["message"] = str(error)[:400]
    report["failure"] = "\n".join(shown)
    return report
