"""Engines: where the parts of a batch are rendered, with the same output everywhere.

contract.py   what an engine is
threads.py    in this process
workers.py    in processes of this machine, or on a Ray cluster, by Daft
local.py      threads, and processes where those are worth it
retrying.py   what was lost is rendered again
"""

from __future__ import annotations

from ...errors import PromptError
from .contract import Engine, Task
from .local import local, processors
from .retrying import retried
from .threads import in_process
from .workers import processes, ray_cluster

__all__ = ["Engine", "Task", "find_engine", "in_process", "retried"]


def find_engine(name: str, workers: int | None = None) -> Engine:
    """An engine by name.

    Args:
        name: `local`: this machine, in threads or, where they are sooner done, in processes;
            `processes`: this machine, in processes only, so that a part which ends its
            process costs no other; `ray` for a cluster that is running already, or else one
            that is started on this machine; `ray:ADDRESS` for the cluster at an address.
        workers: how many parts are rendered at a time; by default as many as there are
            processors.

    Raises:
        MissingExtraError: Daft or Ray is not installed (P807).
        PromptError: there is no such engine, or this process runs another already (P829).
    """
    if name == "local":
        return local(workers)
    if name == "processes":
        return processes(workers or processors())
    kind, _, address = name.partition(":")
    if kind != "ray":
        raise PromptError(
            f"no engine named `{name}`",
            code="P829",
            hint="it is local, processes, ray or ray:ADDRESS",
        )
    return ray_cluster(name if address.startswith("//") else address, workers)
