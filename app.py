"""Start the app from a checkout: `python app.py` is `nt2vr serve`."""

import sys

from nt2vr.cli import main

if __name__ == "__main__":
    sys.exit(main(["serve", *sys.argv[1:]]))
