"""``python -m bardo`` is the program ``bardo``: it takes the place of this process, so signals and exit codes are its own."""

import os
import sys

from ._binary import find

if __name__ == "__main__":
    try:
        os.execv(find(), ["bardo", *sys.argv[1:]])
    except OSError as why:
        sys.exit(f"bardo: {why}")
