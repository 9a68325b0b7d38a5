"""Checks a world of yours against every promise a world makes, and tries out a mind, from your own tests.

    from bardo.testing import check_mind, check_world

    def test_my_world():
        assert check_world("my_world.py") == []

    def test_my_mind():
        assert check_mind("my_mind.py") == []
"""

from __future__ import annotations

import json
import os
import sys
from typing import List, Optional, Sequence, Union

from . import _binary

__all__ = ["check_mind", "check_world"]

Command = Union[str, "os.PathLike[str]", Sequence[str]]


def check_world(command: Command, bardo: Optional[str] = None) -> List[str]:
    """Broken promises, one sentence each; an empty list if it keeps them all. A path is run with this Python."""
    return _checked("world", command, bardo)


def check_mind(command: Command, bardo: Optional[str] = None) -> List[str]:
    """Faults found in a hundred looks at a paper life, one sentence each; an empty list if there are none. A path is run with
    this Python."""
    return _checked("mind", command, bardo)


def _checked(what: str, command: Command, bardo: Optional[str]) -> List[str]:
    if isinstance(command, (str, os.PathLike)):
        command = [sys.executable, os.fspath(command)]
    arguments = ["--json", what, "check"]
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        if name in os.environ:
            arguments += ["--env", name]
    ran = _binary.run([*arguments, "--", *command], bardo)
    try:
        return list(json.loads(ran.stdout)["breaks"])
    except (json.JSONDecodeError, KeyError):
        return [ran.stderr.strip() or "it could not be checked"]
