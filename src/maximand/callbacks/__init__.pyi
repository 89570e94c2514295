from maximand.callbacks.base import Callback as Callback
from maximand.callbacks.checkpoint import Checkpoint as Checkpoint
from maximand.callbacks.early_stopping import EarlyStopping as EarlyStopping
from maximand.callbacks.history import History as History
from maximand.callbacks.progress import Progress as Progress
