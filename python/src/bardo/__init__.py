"""Worlds for Bardo golems, in Python. Subclass :class:`World`, call ``run()``, and nothing else."""

from .world import (
    Action,
    Away,
    Bar,
    Domain,
    Order,
    Outcome,
    Quote,
    World,
    dollars,
    micros,
)

__all__ = ["Action", "Away", "Bar", "Domain", "Order", "Outcome", "Quote", "World", "dollars", "micros"]
__version__ = "0.1.0"
