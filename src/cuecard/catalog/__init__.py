"""Catalogs: the agents in files and folders that a server offers by name, and their slots."""

from .catalog import AgentCatalog, Offer
from .slots import Slot, declared_slots, slots_beside, slots_of

__all__ = ["AgentCatalog", "Offer", "Slot", "declared_slots", "slots_beside", "slots_of"]
