"""What features answer where they lack a package: `python -I probe.py`.

Reads a JSON object of a line of code for each from standard input, and writes what it ends
with: the name of an error, its code and its hint.
"""

import asyncio
import json
import sys

import cuecard


def documented(number: int) -> None:
    """Find a repair.

    Args:
        number: as it stands on the ticket.
    """


def answer(code: str) -> str:
    """What a line of code answers."""
    try:
        exec(code, {"cuecard": cuecard, "asyncio": asyncio, "documented": documented})
    except cuecard.PromptError as error:
        return f"{type(error).__name__} {error.code} {error.hint}"
    except Exception as error:
        return type(error).__name__
    return "works"


if __name__ == "__main__":
    features = json.load(sys.stdin)
    json.dump({name: answer(code) for name, code in features.items()}, sys.stdout)
