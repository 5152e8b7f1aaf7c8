"""Asks the public database of vulnerabilities about the locked versions, with `pip-audit`.

Where that cannot be reached, it says so, and the check goes on: a desk may be offline.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent / "dev.lock"
PROBE = "pip-audit"
"""The package that is asked about first, to see whether anybody answers."""


def audit(requirements: Path, seconds: int) -> list[dict[str, Any]]:
    """What the database says of the packages that it knows; nothing when it is out of reach."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command: list[str | Path] = [
            *(sys.executable, "-m", "pip_audit", "--disable-pip", "--no-deps"),
            *("--requirement", requirements, "--format", "json", "--output", report),
            *("--timeout", "5", "--progress-spinner", "off"),
        ]
        try:
            subprocess.run(command, capture_output=True, timeout=seconds)
            found = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
        except (subprocess.TimeoutExpired, OSError, ValueError):
            return []
    return [each for each in found if "skip_reason" not in each]


def say(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{line}\n")


def main() -> int:
    """Audit the lock; 1 when a version has a known vulnerability."""
    lines = LOCK.read_text(encoding="utf-8").splitlines()
    (pinned,) = [line.split()[0] for line in lines if line.startswith(f"{PROBE}==")]
    with tempfile.TemporaryDirectory() as folder:
        probe = Path(folder, "probe.txt")
        probe.write_text(f"{pinned}\n", encoding="utf-8")
        found = audit(probe, 15) and audit(LOCK, 300)
    if not found:
        say("The database of vulnerabilities cannot be reached: nothing is audited.")
        return 0
    vulnerable = [each for each in found if each["vulns"]]
    for each in vulnerable:
        ids = ", ".join(entry["id"] for entry in each["vulns"])
        say(f"{each['name']} {each['version']}: {ids}")
    say(f"Audited {len(found)} packages: {len(vulnerable)} with known vulnerabilities.")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main())
