"""One JSON message a line, in and out."""

from __future__ import annotations

import json
import sys
from typing import Any, Dict, Iterator, TextIO


class Line:
    """The conversation with Bardo. Anything else that is printed goes to standard error, out of its way."""

    def __init__(self) -> None:
        self._in: TextIO = sys.stdin
        self._out: TextIO = sys.stdout
        sys.stdout = sys.stderr

    def say(self, message: Dict[str, Any]) -> None:
        # NaN is not JSON: better an error here than in Bardo.
        self._out.write(json.dumps(message, allow_nan=False, separators=(",", ":")) + "\n")
        self._out.flush()

    def heard(self) -> Iterator[Dict[str, Any]]:
        for line in self._in:
            yield json.loads(line)
