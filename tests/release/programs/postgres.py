"""`postgres`: notes in the database whose address is in POSTGRES; without one, that it is asked."""

import os

from cuecard.errors import StoreError
from cuecard.stores import open_store

NOBODY = "postgresql://127.0.0.1:1/none"


def code_of_failure(address: str) -> str | None:
    """The code of the error when there is no server."""
    try:
        with open_store(address) as store:
            store.notes("porter", "ann")
    except StoreError as error:
        return error.code
    return None


assert code_of_failure(NOBODY) == "P601"
if "POSTGRES" in os.environ:
    with open_store(os.environ["POSTGRES"]) as notes:
        notes.set_notes("porter", "ann", "Has a dog.")
        assert notes.notes("porter", "ann") == "Has a dog."
