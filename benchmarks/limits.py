"""Limits of time that other work on the machine does not shorten."""

import time

from maximand import Callback


class Late(Callback):
    """Ends a fit after so many seconds of the processor, all threads together."""

    def __init__(self, seconds):
        self.deadline = time.process_time() + seconds

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        return time.process_time() > self.deadline
