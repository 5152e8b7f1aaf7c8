"""Testing: a renderer's surroundings for tests, checks of prompts, and recorded turns.

Nothing here needs more than cuecard itself, but for `snapshots`, which needs `syrupy`; the
fixtures are in `cuecard.pytest_plugin`.
"""

from .cache_prefix import assert_cache_prefix
from .clock import FixedClock
from .memory_store import MemoryStore
from .recording import Recorder, record
from .redacting import SECRET_NAMES
from .rendering import RenderPrompt

__all__ = [
    "SECRET_NAMES",
    "FixedClock",
    "MemoryStore",
    "Recorder",
    "RenderPrompt",
    "assert_cache_prefix",
    "record",
]
