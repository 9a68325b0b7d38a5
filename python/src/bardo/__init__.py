"""Worlds and minds for Bardo golems, in Python. Subclass :class:`World` or :class:`Mind`, call ``run()``, and nothing else."""

from .mind import Look, Mind, Seen, Stands, Word
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

__all__ = [
    "Action",
    "Away",
    "Bar",
    "Domain",
    "Look",
    "Mind",
    "Order",
    "Outcome",
    "Quote",
    "Seen",
    "Stands",
    "Word",
    "World",
    "dollars",
    "micros",
]
__version__ = "0.1.0"
