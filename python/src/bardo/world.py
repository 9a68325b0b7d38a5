"""A world that a golem can live in.

Say what there is (``domains``, ``features``, ``actions``), show bars, and say what an order comes to. This module makes sure
that an order is done once and within its bounds, and is remembered after a crash.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from ._line import Line

Moment = Union[int, datetime]
Length = Union[int, timedelta]


def micros(amount: float) -> int:
    """Dollars, or units, as whole millionths, the form of all messages."""
    return round(amount * 1_000_000)


def dollars(amount: int) -> float:
    """Millionths as dollars, or units."""
    return amount / 1_000_000


def _ms(moment: Moment) -> int:
    if isinstance(moment, datetime):
        moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
        return round(moment.timestamp() * 1_000)
    return moment


def _length(length: Length) -> int:
    return round(length.total_seconds() * 1_000) if isinstance(length, timedelta) else length


class Away(Exception):
    """Raised while the thing behind the world cannot be reached. Bardo asks again, after ``again`` seconds if that is given."""

    def __init__(self, why: str, again: Optional[float] = None) -> None:
        super().__init__(why)
        self.again = again


@dataclass(frozen=True)
class Domain:
    """A domain of claims. ``kind`` is value, direction or range; ``horizon`` is in bars."""

    name: str
    weight: float = 1.0
    kind: str = "value"
    horizon: int = 0
    scale: Optional[int] = None
    level: Optional[float] = None

    def _said(self) -> Dict[str, Any]:
        said: Dict[str, Any] = {"name": self.name, "weight": self.weight, "kind": self.kind, "horizon": self.horizon}
        if self.scale is not None:
            said["scale"] = self.scale
        if self.level is not None:
            said["level"] = self.level
        return said


@dataclass(frozen=True)
class Action:
    """An action a golem can take. ``effect`` is adds or reduces."""

    name: str
    effect: str


@dataclass(frozen=True)
class Bar:
    """One closed interval: a number for each domain, one for each feature, and the worth of a unit in dollars."""

    closed: Moment
    values: Sequence[float]
    features: Sequence[float] = ()
    unit: float = 1.0


@dataclass(frozen=True)
class Order:
    """An order: an action by name, its units and its bounds, all in whole units and dollars."""

    action: str
    adds: bool
    units: float
    most: float
    least: float
    gas: float
    until: int
    #: The message as it came.
    raw: Dict[str, int] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Quote:
    """The cash an order would cost (or bring, where it reduces), before fees; gas is the cost of sending it."""

    cash: float
    fee: float = 0.0
    gas: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """The result of an order: units and cash, before fees. Less than the whole order if only a part was filled."""

    units: float
    cash: float
    fee: float = 0.0
    gas: float = 0.0


class World:
    """Subclass it, say what there is, and ``run()``."""

    #: Name of the world.
    name: str = "world"
    #: Length of a bar.
    bar: Length = timedelta(minutes=1)
    domains: Sequence[Domain] = ()
    features: Sequence[str] = ()
    instincts: Sequence[str] = ()
    actions: Sequence[Action] = ()
    regime: Optional[int] = None
    holding: int = 0
    #: The smallest amount that can be bought or sold, in units.
    lot: float = 0.000001
    unit: str = "unit"
    data_per_day: float = 0.0
    #: told if the world has a time of its own, wall if it runs on the wall clock.
    timing: str = "told"
    #: Whether all money in it is paper.
    paper: bool = True

    #: The golem it serves, a folder of its own and a seed for repeatable chance; known from the first message on.
    golem: str = ""
    folder: Path = Path(".")
    seed: int = 0
    #: The bar its golem stands on, in milliseconds, and its holding, in units.
    now: int = 0
    held: float = 0.0

    # To be written by you.

    def begin(self) -> None:
        """Called once, when golem, folder and seed are known."""

    def start(self) -> Moment:
        """The time at which a golem born now begins."""
        raise NotImplementedError("say when the world begins: def start(self)")

    def end(self) -> Optional[Moment]:
        """The time after which there are no more bars; None if the world goes on for ever."""
        return None

    def bars(self, since: int, now: int) -> Iterable[Bar]:
        """Every bar that closed after ``since`` and not after ``now``, oldest first, in milliseconds. The answer must
        depend on nothing but the arguments."""
        raise NotImplementedError("show the bars of the world: def bars(self, since, now)")

    def quote(self, order: Order) -> Optional[Quote]:
        """A quote for an order at the bar its golem stands on; None if the world would refuse it."""
        return None

    def fill(self, order: Order) -> Optional[Outcome]:
        """Fills the order, once; None if it is refused. By default as quoted."""
        quote = self.quote(order)
        if quote is None:
            return None
        return Outcome(order.units if order.adds else -order.units, quote.cash, quote.fee, quote.gas)

    # Done for you.

    def run(self) -> None:
        """Speaks with Bardo until it says goodbye."""
        line = Line()
        messages = line.heard()
        hello = next(messages, None)
        if hello is None:
            return
        if hello.get("bardo") != "world":
            print(f"this program is a world, but a {hello.get('bardo')} was asked for", file=sys.stderr)
        self.golem, self.folder, self.seed = hello["golem"], Path(hello["folder"]), hello["seed"]
        self.begin()
        self._ledger = _Ledger(self.folder / f"{type(self).__name__}.fates")
        self.held = dollars(self._ledger.held)
        line.say(self._welcome())
        for message in messages:
            if message["ask"] == "bye":
                return
            answer: Dict[str, Any] = {"id": message["id"]}
            try:
                answer.update(self._answer(message))
            except Away as away:
                answer["away"] = str(away)
                if away.again is not None:
                    answer["again_ms"] = round(away.again * 1_000)
            except Exception as wrong:  # noqa: BLE001: the owner is told of any error
                traceback.print_exc()
                answer["error"] = f"{type(wrong).__name__}: {wrong}"
            line.say(answer)

    def _welcome(self) -> Dict[str, Any]:
        world = {
            "world": self.name,
            "bar_ms": _length(self.bar),
            "domains": [domain._said() for domain in self.domains],
            "features": list(self.features),
            "instincts": list(self.instincts),
            "actions": [{"name": action.name, "effect": action.effect} for action in self.actions],
            "regime": self.regime,
            "holding": self.holding,
            "lot": max(1, micros(self.lot)),
            "unit": self.unit,
            "data_per_day": micros(self.data_per_day),
            "timing": self.timing,
            "paper": self.paper,
        }
        welcome: Dict[str, Any] = {"bardo": "world", "version": 1, "world": world, "start": _ms(self.start())}
        end = self.end()
        if end is not None:
            welcome["end"] = _ms(end)
        return welcome

    def _answer(self, message: Dict[str, Any]) -> Dict[str, Any]:
        ask = message["ask"]
        if ask == "seek":
            self.now = message["until"]
            if "key" in message and self.paper:
                self._ledger.forget_after(message["key"])
            self.held = dollars(self._ledger.held)
            return {}
        if ask == "observe":
            return self._observed(message["since"], message["now"], message["most"])
        if ask == "preview":
            quote = self._sound(message["order"]) and self.quote(self._order(message["order"]))
            return {"quote": None if not quote else _quoted(quote)}
        key: int = message["key"]
        fate = self._ledger.fate(key)
        if fate is None:
            fate = self._done(message["order"]) if ask == "commit" else "never"
            self._ledger.keep(key, fate)
            self.held = dollars(self._ledger.held)
        return {"fate": fate}

    def _observed(self, since: int, now: int, most: int) -> Dict[str, Any]:
        told: List[Dict[str, Any]] = []
        for bar in self.bars(since, now):
            closed = _ms(bar.closed)
            if closed <= since or closed > now:
                continue
            if len(told) == most:
                break
            told.append({
                "closed": closed,
                "values": [float(value) for value in bar.values],
                "features": [float(feature) for feature in bar.features],
                "unit": micros(bar.unit),
            })
        self.now = told[-1]["closed"] if told else since
        said: Dict[str, Any] = {"bars": told}
        end = self.end()
        if end is not None:
            said["end"] = _ms(end)
        return said

    def _sound(self, order: Dict[str, int]) -> bool:
        if not 0 <= order["action"] < len(self.actions) or not 0 < order["units"] < 10**15:
            return False
        if order["units"] % max(1, micros(self.lot)):
            return False
        adds = self.actions[order["action"]].effect == "adds"
        return adds or order["units"] <= self._ledger.held

    def _order(self, order: Dict[str, int]) -> Order:
        action = self.actions[order["action"]]
        return Order(
            action=action.name,
            adds=action.effect == "adds",
            units=dollars(order["units"]),
            most=dollars(order["most"]),
            least=dollars(order["least"]),
            gas=dollars(order["gas"]),
            until=order["until"],
            raw=dict(order),
        )

    def _done(self, order: Dict[str, int]) -> Any:
        if not self._sound(order) or self.now > order["until"]:
            return "never"
        outcome = self.fill(self._order(order))
        if outcome is None:
            return "never"
        done = {"units": micros(outcome.units), **_quoted(Quote(outcome.cash, outcome.fee, outcome.gas))}
        adds = self.actions[order["action"]].effect == "adds"
        paid = done["fee"] - done["cash"]
        fits = done["gas"] <= order["gas"] and (
            paid <= order["most"] if adds else -paid * order["units"] >= -order["least"] * done["units"]
        )
        return {"done": done} if fits else "never"


def _quoted(quote: Quote) -> Dict[str, int]:
    return {"cash": micros(quote.cash), "fee": micros(quote.fee), "gas": micros(quote.gas)}


class _Ledger:
    """The fate of each key, on disk before it is reported."""

    def __init__(self, path: Path) -> None:
        self._fates: Dict[int, Any] = {}
        if path.exists():
            text = path.read_bytes()
            whole = text[: text.rfind(b"\n") + 1]
            for line in whole.splitlines():
                key, fate = json.loads(line)
                self._fates[key] = fate
            if len(whole) < len(text):
                path.write_bytes(whole)
        self._path = path
        self._file = path.open("ab")
        self.held = sum(_units(fate) for fate in self._fates.values())

    def fate(self, key: int) -> Any:
        return self._fates.get(key)

    def keep(self, key: int, fate: Any) -> None:
        self._file.write(json.dumps([key, fate]).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._fates[key] = fate
        self.held += _units(fate)

    def forget_after(self, last: int) -> None:
        kept = {key: fate for key, fate in self._fates.items() if key <= last}
        if len(kept) == len(self._fates):
            return
        draft = self._path.with_suffix(".new")
        with draft.open("wb") as file:
            for key, fate in kept.items():
                file.write(json.dumps([key, fate]).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._file.close()
        draft.replace(self._path)
        self._file = self._path.open("ab")
        self._fates = kept
        self.held = sum(_units(fate) for fate in kept.values())


def _units(fate: Any) -> int:
    return 0 if fate == "never" else int(fate["done"]["units"])
