"""`/`: the page, which is files of this package and calls nothing but the routes beside it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from fastapi import Response

from ..failures import RequestError
from ..requests import router

__all__ = ["page"]

page = router(404)

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


@page.get("/", include_in_schema=False)
async def show_page() -> Response:
    """The page."""
    return _file("index.html")


@page.get("/assets/{name}", include_in_schema=False)
async def show_asset(name: str) -> Response:
    """A file that the page needs."""
    return _file(name)


def _file(name: str) -> Response:
    found = _assets().get(name)
    if found is None:
        raise RequestError("there is no such file", code="P853")
    content, kind = found
    return Response(content, media_type=f"{kind}; charset=utf-8")


@cache
def _assets() -> dict[str, tuple[bytes, str]]:
    """The page's files by name; a name that leads elsewhere is none of them."""
    found: dict[str, tuple[bytes, str]] = {}
    for entry in _entries():
        suffix = entry.name[entry.name.rfind(".") :]
        if suffix in _TYPES:
            found[entry.name] = entry.read_bytes(), _TYPES[suffix]
    return found


def _entries() -> list[Traversable]:
    folder = files("cuecard.server").joinpath("page")
    return [entry for entry in folder.iterdir() if entry.is_file()]
