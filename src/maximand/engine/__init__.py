"""Where the work of an objective runs."""

from maximand.engine.threads import Threads

__all__ = ["Threads"]
