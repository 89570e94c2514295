"""Where the work of an objective runs."""

from maximand.engine.base import Engine
from maximand.engine.threads import Threads

__all__ = ["Engine", "Threads"]
