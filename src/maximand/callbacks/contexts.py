"""Where callbacks are called: scikit-learn's own machinery, or a small one like it where that is not installed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

HOOK_PARAMETERS = ("X", "y", "metadata")


class SimpleContext:
    """A task of a fit: the fit itself, or one of its iterations."""

    def __init__(self, estimator: Any, task_name: str, task_id: int, max_subtasks: int | None, parent: Any = None):
        self.estimator_name = type(estimator).__name__
        self.task_name, self.task_id, self.max_subtasks, self.parent = task_name, task_id, max_subtasks, parent
        self.callbacks = list(getattr(estimator, "_skl_callbacks", []))
        self._estimator, self._n_children = estimator, 0

    def subcontext(self, task_name: str = "", max_subtasks: int | None = 0) -> SimpleContext:
        """Return the context of the next iteration."""
        self._n_children += 1
        return SimpleContext(self._estimator, task_name, self._n_children - 1, max_subtasks, self)

    def call_on_fit_task_begin(self, **arguments: Any) -> bool:
        """Call the hooks for the beginning of a task."""
        return self._call("on_fit_task_begin", arguments)

    def call_on_fit_task_end(self, **arguments: Any) -> bool:
        """Call the hooks for the end of a task; say whether one of them wants to stop."""
        return self._call("on_fit_task_end", arguments)

    def _call(self, hook: str, arguments: dict[str, Any]) -> bool:
        stop = False
        for callback in self.callbacks:
            function = getattr(callback, hook)
            named = inspect.signature(function).parameters
            given = {name: _value(arguments.get(name)) for name in HOOK_PARAMETERS if name in named}
            if "fitted_estimator" in named:
                given["fitted_estimator"] = self._fitted(_value(arguments.get("reconstruction_attributes")))
            stop |= bool(function(self._estimator, self, **given))
        return stop

    def _fitted(self, attributes: dict[str, Any] | None) -> Any:
        if attributes is None:
            return None
        fitted = type(self._estimator)(**self._estimator.get_params(deep=False))
        vars(fitted).update(vars(self._estimator) | attributes)
        return fitted


def _value(argument: Any) -> Any:
    return argument() if callable(argument) else argument


class SimpleSupport:
    """Gives an estimator callbacks."""

    def set_callbacks(self, *callbacks: Any) -> Any:
        """Set the callbacks of the estimator, in place of any before."""
        self._skl_callbacks = list(callbacks)
        return self

    def _init_callback_context(self, max_subtasks: int | None = 0) -> SimpleContext:
        self._callback_fit_ctx = SimpleContext(self, "fit", 0, max_subtasks)
        for callback in self._callback_fit_ctx.callbacks:
            callback.setup(self, self._callback_fit_ctx)
        return self._callback_fit_ctx


def simply_with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let callbacks tidy up after a method, whether it succeeded or not."""

    @functools.wraps(method)
    def managed(estimator: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return method(estimator, *arguments, **named)
        finally:
            context = vars(estimator).pop("_callback_fit_ctx", None)
            for callback in context.callbacks if context is not None else []:
                callback.teardown(estimator, context)

    return managed


try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:
    CallbackSupport, with_callbacks = SimpleSupport, simply_with_callbacks

__all__ = ["CallbackSupport", "SimpleContext", "SimpleSupport", "simply_with_callbacks", "with_callbacks"]
