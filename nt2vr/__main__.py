"""`python -m nt2vr COMMAND` is `nt2vr COMMAND`."""

import sys

from nt2vr.cli import main

if __name__ == "__main__":
    sys.exit(main())
