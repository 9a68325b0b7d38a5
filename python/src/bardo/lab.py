"""Runs populations in Bardo's laboratory and returns their results.

    from bardo import lab

    lab.lives(1_000, seed=7, settings={"mortality.stochastic.enabled": False})
    lab.vary("stress.mode", ["off", "visible", "enforced"], lives=500)
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Sequence

from . import _binary

__all__ = ["frame", "lives", "vary"]


def lives(
    lives: int = 100,
    *,
    world: Optional[str] = None,
    data: Optional[str] = None,
    seed: int = 1,
    most_ticks: Optional[int] = None,
    settings: Optional[Mapping[str, Any]] = None,
    bardo: Optional[str] = None,
    home: Optional[str] = None,
) -> Dict[str, Any]:
    """Runs so many whole lives, each on a path of its own, and returns the summary."""
    return _run(_arguments(lives, world, data, seed, most_ticks, settings), bardo, home)[0]


def vary(
    key: str,
    values: Sequence[Any],
    *,
    lives: int = 100,
    world: Optional[str] = None,
    data: Optional[str] = None,
    seed: int = 1,
    most_ticks: Optional[int] = None,
    settings: Optional[Mapping[str, Any]] = None,
    bardo: Optional[str] = None,
    home: Optional[str] = None,
) -> List[Dict[str, Any]]:
    """Runs the same paths once for each value of a key; each value is compared with the first."""
    chosen = ",".join(_said(value) for value in values)
    arguments = [*_arguments(lives, world, data, seed, most_ticks, settings), "--vary", f"{key}={chosen}"]
    return _run(arguments, bardo, home)


def frame(records: Any) -> Any:
    """Records as a pandas frame, if pandas is there."""
    import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return pandas.json_normalize(records)


def _arguments(
    lives: int,
    world: Optional[str],
    data: Optional[str],
    seed: int,
    most_ticks: Optional[int],
    settings: Optional[Mapping[str, Any]],
) -> List[str]:
    arguments = ["--json", "lab", "lives", "--lives", str(lives), "--seed", str(seed)]
    for flag, value in (("--world", world), ("--data", data), ("--most-ticks", most_ticks)):
        if value is not None:
            arguments += [flag, str(value)]
    for key, value in (settings or {}).items():
        arguments += ["--set", f"{key}={_said(value)}"]
    return arguments


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _run(arguments: Sequence[str], bardo: Optional[str], home: Optional[str]) -> List[Dict[str, Any]]:
    ran = _binary.run(arguments, bardo, home)
    if ran.returncode != 0:
        raise RuntimeError(ran.stderr.strip() or f"the laboratory ended with {ran.returncode}")
    return [json.loads(line) for line in ran.stdout.splitlines() if line.strip()]
