"""python -m maximand."""

import sys

from maximand.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
