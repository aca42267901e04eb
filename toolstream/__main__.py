"""`python -m toolstream`: the command line."""

import sys

from toolstream.cli import main

if __name__ == "__main__":
    sys.exit(main())
