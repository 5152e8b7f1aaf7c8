"""Run programs in one process: `python -I run.py FILE...`. Each that ends well is told as ok."""

import runpy
import sys
from pathlib import Path

import cuecard

installed = Path(cuecard.__file__)
if not installed.is_relative_to(sys.prefix):
    sys.exit(f"not the installed package: {installed}")
# Programs that start processes are run again by these, under another name.
if __name__ == "__main__":
    for file in sys.argv[1:]:
        runpy.run_path(file, run_name="__main__")
        sys.stdout.write(f"{Path(file).stem} ok\n")
        sys.stdout.flush()
