"""What happens during a fit besides training: progress, history, checkpoints, early stopping."""

from maximand.callbacks.base import Callback
from maximand.callbacks.checkpoint import Checkpoint
from maximand.callbacks.early_stopping import EarlyStopping
from maximand.callbacks.history import History
from maximand.callbacks.progress import Progress

__all__ = ["Callback", "Checkpoint", "EarlyStopping", "History", "Progress"]
