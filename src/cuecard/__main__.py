"""`python -m cuecard`: the command."""

from .cli import main

main()
