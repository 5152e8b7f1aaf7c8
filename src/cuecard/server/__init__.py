"""Server: the HTTP service, for runtimes without Python, and the page to look at prompts.

`create_app` makes the ASGI application; `cuecard serve` runs it.
"""

from ..errors import MissingExtraError

try:
    import anyio  # noqa: F401
    import fastapi  # noqa: F401
    import httptools  # noqa: F401
    import prometheus_client  # noqa: F401
    import uvicorn  # noqa: F401
    import watchfiles  # noqa: F401
except ImportError as error:
    raise MissingExtraError(
        f"the service needs the package `{error.name}`", hint="pip install 'cuecard[serve]'"
    ) from None

from .access import Access, Grant, Role, read_access
from .app import create_app
from .running import serve
from .settings import LOOPBACK, ServiceLimits, ServiceSettings

__all__ = [
    "LOOPBACK",
    "Access",
    "Grant",
    "Role",
    "ServiceLimits",
    "ServiceSettings",
    "create_app",
    "read_access",
    "serve",
]
