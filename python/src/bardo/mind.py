"""A mind for a golem.

Say what you expect of the world (``look``), and each claim is scored when it comes due. Beside a golem's own rules a mind has
no say before it has shown more than luck could; with ``mind.kind = "outside"`` it is the only voice.
"""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._line import Line
from .world import dollars

__all__ = ["Mind", "Look", "Seen", "Stands", "Word"]


@dataclass(frozen=True)
class Seen:
    """One closed interval: domains and features by name, and the worth of a unit in dollars."""

    closed: int
    values: Mapping[str, float]
    features: Mapping[str, float]
    unit: float


@dataclass(frozen=True)
class Stands:
    """The state of the golem, in dollars and whole units; ``raw`` is the whole message."""

    tick: int
    phase: str
    vitality: float
    credit: float
    cash: float
    worth: float
    held: float
    frozen: bool
    pressure: float
    raw: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Look:
    """One look at the world, just before the golem takes it."""

    now: int
    #: Every bar since the last look, oldest first.
    bars: Sequence[Seen]
    #: Claims of the golem's that these bars answer: domain, claim, naive forecast, actual value.
    resolved: Sequence[Dict[str, Any]]
    golem: Stands
    #: Memories of the golem that fit the moment.
    recalled: Sequence[str]

    @property
    def last(self) -> Seen:
        return self.bars[-1]


@dataclass
class Word:
    """An answer of a mind; every part may be left out."""

    #: By name of domain: the value, the chance of a rise, or half the width of the band, at its horizon.
    claims: Mapping[str, float] = field(default_factory=dict)
    #: Heuristics in the language of rules, up to three.
    rules: Sequence[str] = ()
    #: The name of an action, and how much of it, above 0 and up to 1.
    action: Optional[str] = None
    size: float = 1.0
    #: A note to the golem's owner.
    note: str = ""
    #: The mind's view of the golem's stressors, in the form of the page of messages.
    assessment: Optional[Dict[str, Any]] = None


class Mind:
    """Subclass it, write ``look``, and ``run()``."""

    #: Name of the mind.
    name: str = ""

    #: The golem it serves, a folder of its own and a seed for repeatable chance; known from the first message on.
    golem: str = ""
    folder: Path = Path(".")
    seed: int = 0
    #: The golem's world, in the form of the page of messages; and the names in it.
    world: Dict[str, Any] = {}
    domains: List[str] = []
    features: List[str] = []
    actions: List[str] = []

    # To be written by you.

    def begin(self) -> None:
        """Called once, when golem, folder, seed and world are known."""

    def look(self, look: Look) -> Optional[Word]:
        """The mind's answer to a look; None is an answer too."""
        raise NotImplementedError("write an answer to a look: def look(self, look)")

    # Done for you.

    def run(self) -> None:
        """Speaks with Bardo until it says goodbye."""
        line = Line()
        messages = line.heard()
        hello = next(messages, None)
        if hello is None:
            return
        if hello.get("bardo") != "mind":
            print(f"this program is a mind, but a {hello.get('bardo')} was asked for", file=sys.stderr)
        self.golem, self.folder, self.seed = hello["golem"], Path(hello["folder"]), hello["seed"]
        self.world = hello.get("world") or {}
        self.domains = [domain["name"] for domain in self.world.get("domains", ())]
        self.features = list(self.world.get("features", ()))
        self.actions = [action["name"] for action in self.world.get("actions", ())]
        self._recalled: List[str] = []
        self.begin()
        line.say({"bardo": "mind", "version": 1, "name": self.name or type(self).__name__})
        for message in messages:
            if message["ask"] == "bye":
                return
            answer: Dict[str, Any] = {"id": message["id"]}
            try:
                answer.update(_said(self.look(self._look(message))))
            except Exception as wrong:  # noqa: BLE001: the owner is told of any error
                traceback.print_exc()
                answer["error"] = f"{type(wrong).__name__}: {wrong}"
            line.say(answer)

    def _look(self, message: Dict[str, Any]) -> Look:
        self._recalled = message.get("recalled", self._recalled)
        golem = message["golem"]
        return Look(
            now=message["now"],
            bars=[
                Seen(
                    bar["closed"],
                    dict(zip(self.domains, bar["values"])),
                    dict(zip(self.features, bar["features"])),
                    dollars(bar["unit"]),
                )
                for bar in message["bars"]
            ],
            resolved=message["resolved"],
            golem=Stands(
                tick=golem["tick"],
                phase=golem["phase"],
                vitality=golem["vitality"],
                credit=dollars(golem["credit"]),
                cash=dollars(golem["cash"]),
                worth=dollars(golem["worth"]),
                held=dollars(golem["held"]),
                frozen=golem["frozen"],
                pressure=golem["pressure"],
                raw=golem,
            ),
            recalled=self._recalled,
        )


def _said(word: Optional[Word]) -> Dict[str, Any]:
    if word is None:
        return {}
    said: Dict[str, Any] = {"claims": {name: float(value) for name, value in word.claims.items()}}
    if word.rules:
        said["rules"] = list(word.rules)
    if word.action is not None:
        said["proposal"] = {"action": word.action, "size": float(word.size)}
    if word.note:
        said["note"] = word.note
    if word.assessment is not None:
        said["assessment"] = word.assessment
    return said
