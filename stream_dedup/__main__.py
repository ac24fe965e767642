"""Run the command line with `python -m stream_dedup`."""

import sys

from stream_dedup.cli import main

if __name__ == "__main__":
    sys.exit(main())
