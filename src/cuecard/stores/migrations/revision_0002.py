"""Say of each text when it changed, and give it a stamp that tells that it did."""

import sqlalchemy as sa
from alembic.operations import Operations

revision = "0002"
down_revision = "0001"


def upgrade(op: Operations) -> None:
    """From 0001. The stamp of a text that is there is "" until its next change."""
    op.add_column(
        "cuecard_entries", sa.Column("stamp", sa.String(32), nullable=False, server_default="")
    )
    op.add_column("cuecard_entries", sa.Column("updated_at", sa.DateTime(timezone=True)))
