"""`cuecard mcp`."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from .. import __version__
from ..files import Folder
from ..layout import plural
from ..profile import STRICT
from ..providers import find_zone
from ..renderer import PromptRenderer
from ..source import Diagnostic
from ..stores import open_store
from ..tools import load_tools
from ..workspace import Workspace
from .live_options import add_runtime_arguments
from .output import print_diagnostics, print_line

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]


_PORT = 8000
_OPEN_HOSTS = ("127.0.0.1", "localhost", "::1")

DESCRIPTION = """\
Serve agents as the prompts of an MCP server.

The arguments of a prompt are the inputs that the agent declares, and the variables that its
template reads and no provider gives. MCP knows no system prompts: the text is a message of
the user. Files are read again when they change, and clients are told when the list does."""

EXAMPLES = """\
examples:
  cuecard mcp agents/                   what to enter in a client as command
  cuecard mcp agents/ --workspace . --store sqlite:memory.db --user ann
  cuecard mcp agents/ --transport http         at http://127.0.0.1:8000/mcp
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", help="agent files, and folders of agent files"
    )
    parser.add_argument(
        "--transport",
        choices=("stdio", "http"),
        default="stdio",
        help="how clients speak to it: standard input and output (default), or streamable HTTP",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen at (default: 127.0.0.1, which only this machine reaches)",
    )
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"0 is any that is free (default: {_PORT})"
    )
    group = add_runtime_arguments(parser)
    group.add_argument("--user", metavar="ID", help="the user's id: gives notes and profile")


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Serve until the client goes or the process is ended, and give the exit code."""
    from ..adapters.mcp_server import PromptServer, serve_http, serve_stdio
    from ..catalog import AgentCatalog

    if not 0 <= options.port <= 65535:
        parser.error("--port takes a number from 0 to 65535")
    partials = None if options.partials is None else Folder(options.partials)
    renderer, noticed = _renderer(options, partials)
    catalog = AgentCatalog(options.paths, renderer, partials)
    found = (*noticed, *catalog.diagnostics)
    print_diagnostics(finding for finding in found if finding.severity != "info")
    server = PromptServer(catalog, renderer, user=options.user, version=__version__)
    if options.transport == "stdio":
        _run(partial(serve_stdio, server))
        return 0
    with _listener(options, parser) as listener:
        _announce(options.host, listener, len(catalog.offers))
        _run(partial(serve_http, server, listener, options.host))
    return 0


def _run(serve: Callable[[], Coroutine[Any, Any, None]]) -> None:
    import anyio

    anyio.run(serve)


def _renderer(
    options: argparse.Namespace, partials: Folder | None
) -> tuple[PromptRenderer, tuple[Diagnostic, ...]]:
    tools = load_tools(options.tools) if options.tools is not None else None
    renderer = PromptRenderer(
        entry_points=not options.no_entry_points,
        store=None if options.store is None else open_store(options.store),
        tools=tools or (),
        workspace=None if options.workspace is None else Workspace(options.workspace),
        profile=STRICT,
        zone=None if options.zone is None else find_zone(options.zone),
        partials=partials,
    )
    return renderer, () if tools is None else tools.diagnostics


def _listener(options: argparse.Namespace, parser: argparse.ArgumentParser) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family)
    except OSError as error:
        parser.error(f"cannot listen at {options.host}:{options.port}: {error.strerror or error}")


def _announce(host: str, listener: socket.socket, offered: int) -> None:
    name = f"[{host}]" if ":" in host else host
    port = listener.getsockname()[1]
    print_line(f"Serving {plural(offered, 'prompt')} at http://{name}:{port}/mcp")
    if host not in _OPEN_HOSTS:
        print_line("Whoever reaches this address can read the prompts: nobody is asked who he is.")
