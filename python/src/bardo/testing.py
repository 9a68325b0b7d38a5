"""Holds a world of yours against every promise a world makes, from a test of yours.

    from bardo.testing import check_world

    def test_my_world():
        assert check_world("my_world.py") == []
"""

from __future__ import annotations

import json
import os
import sys
from typing import List, Optional, Sequence, Union

from . import _binary

__all__ = ["check_world"]


def check_world(
    command: Union[str, "os.PathLike[str]", Sequence[str]],
    bardo: Optional[str] = None,
) -> List[str]:
    """What it breaks, in sentences; an empty list if it keeps every promise. A path is run with this Python."""
    if isinstance(command, (str, os.PathLike)):
        command = [sys.executable, os.fspath(command)]
    arguments = ["--json", "world", "check"]
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        if name in os.environ:
            arguments += ["--env", name]
    ran = _binary.run([*arguments, "--", *command], bardo)
    try:
        return list(json.loads(ran.stdout)["breaks"])
    except (json.JSONDecodeError, KeyError):
        return [ran.stderr.strip() or "it could not be checked"]
