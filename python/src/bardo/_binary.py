"""Finds and runs the program ``bardo``."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Optional, Sequence


def find(bardo: Optional[str] = None) -> str:
    """The program: as named by the caller, by ``$BARDO``, or found on the path."""
    found = bardo or os.environ.get("BARDO") or shutil.which("bardo")
    if not found:
        raise FileNotFoundError("there is no `bardo` on the path; install it, or set $BARDO to its place")
    return found


def run(arguments: Sequence[str], bardo: Optional[str] = None, home: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ)
    if home is not None:
        environment["BARDO_HOME"] = str(home)
    return subprocess.run([find(bardo), *arguments], capture_output=True, text=True, env=environment, check=False)
