"""`tools`: what a function's docstring says of its parameters."""

import cuecard


def look_up(number: int, *, loudly: bool = False) -> str:
    """Find a repair.

    Args:
        number: as it stands on the ticket.
        loudly: whether to ring.
    """
    return ""


tool = cuecard.ToolSpec.of(look_up)
properties = tool.parameters["properties"]
assert tool.description == "Find a repair."
assert properties["number"] == {"description": "as it stands on the ticket.", "type": "integer"}
assert tool.parameters["required"] == ["number"]
