"""Rendering a text once: compiled templates are kept in bounded caches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..profile import STRICT, Profile
from .template import Template

__all__ = ["render"]


@lru_cache(maxsize=256)
def _cached(source: str, profile: Profile, name: str) -> Template:
    return Template(source, profile=profile, name=name)


@lru_cache(maxsize=256)
def _cached_strict(source: str, name: str) -> Template:
    # Apart, because hashing the profile is a good part of the render of a short prompt.
    return Template(source, name=name)


def render(
    template: str, context: Any = None, *, profile: Profile = STRICT, name: str = "system"
) -> str:
    """Render a template once; the compiled template is kept in a bounded cache.

    Args:
        template: the template's text.
        context: a mapping of names to values, or a record with such fields.
        profile: how the template is read and rendered.
        name: what errors call the template.

    Returns:
        The rendered text.

    Raises:
        TemplateError: the template is invalid, or its render failed.
        ContextError: a value that the template reads is not plain data.

    Examples:
        >>> import cuecard
        >>> cuecard.render("hello {{ directive }}", {"directive": "world"})
        'hello world'
    """
    if not isinstance(template, str):
        raise TypeError(f"expected a template of type `str`, got `{type(template).__name__}`")
    if profile is STRICT:
        return _cached_strict(template, name)._run(context)
    return _cached(template, profile, name)._run(context)
