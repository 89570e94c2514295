"""Properties that are computed once."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property(functools.cached_property):
        """As in functools, but without a lock, as from Python 3.12 on.

        A process that is forked while another thread holds such a lock would wait for it for ever.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            values = vars(instance)
            if self.attrname not in values:
                values[self.attrname] = self.func(instance)
            return values[self.attrname]
