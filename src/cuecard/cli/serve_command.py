"""`cuecard serve`."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
from pathlib import Path

from ..layout import plural
from .live_options import add_runtime_arguments
from .output import print_diagnostics, print_line

__all__ = ["DESCRIPTION", "EXAMPLES", "add_arguments", "run"]

_PORT = 8321
_LONGEST_LINE = 1_000

DESCRIPTION = """\
Serve agents over HTTP, with a page to look at their prompts and to change them.

Programs ask for prompts at /v1/agents/NAME/render; /openapi.json describes all that can be
asked. Files are read again when they change. Templates that come in requests are rendered in
worker processes of their own.

Only this machine reaches the service, unless --host names another address. Then --token-file
is needed: a role (read, render or write) and a token a line."""

EXAMPLES = """\
examples:
  cuecard serve agents/                   the page is at http://127.0.0.1:8321/
  cuecard serve agents/ --store sqlite:agent.db --workspace .
  cuecard serve agents/ --host 0.0.0.0 --token-file tokens --read-only
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        default=["."],
        help="agent files, and folders of agent files (default: the current folder)",
    )
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to listen at (default: 127.0.0.1, which only this machine reaches)",
    )
    parser.add_argument(
        "--port", type=int, default=_PORT, help=f"0 is any that is free (default: {_PORT})"
    )
    parser.add_argument(
        "--token-file", metavar="FILE", help="who may do what: a role and a token a line"
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that render the templates of requests (default: one a processor)",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="never write to files nor to the store"
    )
    parser.add_argument("--quiet", action="store_true", help="do not log each request")
    add_runtime_arguments(parser)


def run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    """Serve until the process is asked to end, and give the exit code."""
    from ..server import LOOPBACK, ServiceSettings, create_app, read_access, serve

    if not 0 <= options.port <= 65535:
        parser.error("--port takes a number from 0 to 65535")
    if options.workers is not None and options.workers < 1:
        parser.error("--workers takes a number from 1 on")
    if options.host not in LOOPBACK and options.token_file is None:
        parser.error(f"--host {options.host} needs --token-file: others can reach this address")
    _start_log(quiet=options.quiet)
    settings = ServiceSettings(
        tuple(map(Path, options.paths)),
        host=options.host,
        store=options.store,
        access=None if options.token_file is None else read_access(options.token_file),
        workers=options.workers or os.cpu_count() or 1,
        read_only=options.read_only,
        partials=None if options.partials is None else Path(options.partials),
        workspace=None if options.workspace is None else Path(options.workspace),
        tools=None if options.tools is None else Path(options.tools),
        zone=options.zone,
        entry_points=not options.no_entry_points,
    )
    app = create_app(settings)
    service = app.service
    found = (*service.noticed, *service.catalog.diagnostics)
    print_diagnostics(finding for finding in found if finding.severity != "info")
    with _listener(options, parser) as listener:
        _announce(options.host, listener, len(service.catalog.offers))
        serve(app, listener)
    return 0


def _start_log(*, quiet: bool) -> None:
    """Requests and warnings go to standard error, a line each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Line("%(asctime)s %(message)s", "%H:%M:%S"))
    for name, level in (("cuecard", logging.INFO), ("uvicorn.error", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.addHandler(handler)
        logger.setLevel(logging.WARNING if quiet else level)


class _Line(logging.Formatter):
    """One line of bounded length for each record: names in it may be a stranger's."""

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if not line.isprintable():
            line = "".join(c if c.isprintable() else "\ufffd" for c in line)
        return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 3]}..."

    def formatException(self, ei: object) -> str:  # noqa: N802 - logging's name
        return ""  # its words may hold values


def _listener(options: argparse.Namespace, parser: argparse.ArgumentParser) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server((options.host, options.port), family=family, backlog=1024)
    except OSError as error:
        parser.error(f"cannot listen at {options.host}:{options.port}: {error.strerror or error}")


def _announce(host: str, listener: socket.socket, offered: int) -> None:
    name = f"[{host}]" if ":" in host else host
    port = listener.getsockname()[1]
    print_line(f"Serving {plural(offered, 'agent')} at http://{name}:{port}/")
