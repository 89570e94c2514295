"""python -m maximand, and the command of that name."""

import gc
import signal
import sys


def main() -> int:
    """Load a command and run it.

    Until it is loaded Ctrl-C simply ends the process: an exception would strike somewhere inside of an import.
    Meanwhile nobody looks for garbage, of which imports make none, nor later among what they made.
    """
    gc.disable()
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from maximand.cli.main import options_of, run

    options = options_of(sys.argv[1:])
    signal.signal(signal.SIGINT, handler)
    gc.freeze()
    gc.enable()
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
