"""The store that commands read and write, and what they put into it."""

from __future__ import annotations

import argparse
import os

from ..errors import StoreError
from ..files import name_of, read_json, read_text
from ..stores import TodoItem, open_store, read_todos
from ..stores.text_store import TextStore
from .arguments import STORE_VARIABLE
from .inputs import UsageError

__all__ = ["asked_store", "read_given_text", "read_todo_file"]


def asked_store(options: argparse.Namespace) -> TextStore:
    """The store that the option names, or else the environment.

    Raises:
        UsageError: neither names one.
        StoreError: the address is none (P602).
        MissingExtraError: the packages of that store are not installed (P807).
    """
    address = options.store or os.environ.get(STORE_VARIABLE)
    if not address:
        raise UsageError(f"no store: give --store file:FOLDER, or set {STORE_VARIABLE}")
    return open_store(address)


def read_given_text(text: str) -> str:
    """A text of the command line; `-` is standard input."""
    return read_text("-") if text == "-" else text


def read_todo_file(file: str) -> tuple[TodoItem, ...]:
    """The todo list in a JSON file; `-` is standard input.

    Raises:
        PromptError: the file cannot be read (P801, P802) or is no JSON (P806).
        StoreError: it is no todo list (P605).
    """
    value = read_json(file)
    try:
        return read_todos(value)
    except StoreError as error:
        error.template = name_of(file)
        raise
