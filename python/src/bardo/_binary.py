"""Finds and runs the program ``bardo``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from typing import Optional, Sequence


def brought() -> Optional[str]:
    """The program that came with this package: a wheel for a platform brings it, the one for any platform does not."""
    return shutil.which("bardo", path=sysconfig.get_path("scripts"))


def find(bardo: Optional[str] = None) -> str:
    """The program: as named by the caller, by ``$BARDO``, as it came with this package, or found on the path."""
    found = bardo or os.environ.get("BARDO") or brought() or shutil.which("bardo")
    if not found:
        raise FileNotFoundError("there is no `bardo` on the path; install it, or set $BARDO to its place")
    return found


def run(arguments: Sequence[str], bardo: Optional[str] = None, home: Optional[str] = None) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ)
    if home is not None:
        environment["BARDO_HOME"] = str(home)
    return subprocess.run([find(bardo), *arguments], capture_output=True, text=True, env=environment, check=False)
