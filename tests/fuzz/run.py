"""Runs one target: `python -m tests.fuzz.run TARGET --seconds N`.

What was found once, the seeds and the corpus of earlier runs are tried first, then inputs that
libFuzzer makes of those that reach something new. The first fault ends the run with its
traceback and exit code 77; its input is written to the folder of the corpus. A crash of the
interpreter, more than 2 GiB and an input that takes longer than a minute are faults too.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from importlib import import_module
from pathlib import Path

import atheris  # type: ignore[import-untyped]

HERE = Path(__file__).parent
TARGETS = tuple(sorted(path.stem for path in HERE.glob("targets/[a-z]*.py")))


def main() -> None:
    """Read the command line and run the target. It does not return."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--seconds", type=int, default=60, help="0 tries only what is known")
    parser.add_argument("--seeds", type=int, default=10_000, help="at most so many, evenly chosen")
    parser.add_argument("--corpus", type=Path, default=Path("build", "fuzz"))
    parser.add_argument("inputs", nargs="*", help="files to try, and nothing else")
    options = parser.parse_args()
    with atheris.instrument_imports(include=["cuecard"]):
        target = import_module(f"tests.fuzz.targets.{options.target}")
    corpus = options.corpus / options.target
    corpus.mkdir(parents=True, exist_ok=True)
    known = [str(corpus), *map(str, HERE.glob(f"findings/{options.target}"))]
    seeds = list(target.seeds())
    for seed in seeds[:: len(seeds) // options.seeds + 1]:
        (corpus / f"seed-{hashlib.sha256(seed).hexdigest()[:16]}").write_bytes(seed)
    flags = [
        f"-artifact_prefix={corpus}-",
        f"-dict={HERE / 'template.dict'}",
        "-max_len=4096",
        "-timeout=60",
        "-rss_limit_mb=2048",
        "-print_final_stats=1",
        f"-max_total_time={options.seconds}" if options.seconds else "-runs=0",
    ]
    atheris.Setup([sys.argv[0], *flags, *(options.inputs or known)], target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
