"""What estimators on the rows of a table share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from maximand.estimators.parameters import check_target
from maximand.estimators.predictor import StructuredPredictor
from maximand.features import Examples
from maximand.support import Array


class TablePredictor(StructuredPredictor):
    """Takes dense or sparse tables, an example in each row, and checks them as scikit-learn does."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _table(self, X: Any, reset: bool) -> Any:
        if not reset and self._as_wanted(X):
            return X
        return validate_data(
            self, X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False, reset=reset
        )

    def _as_wanted(self, X: Any) -> bool:
        """Whether a table to predict for is one at which scikit-learn's checks, slow for a few rows, would do nothing.

        Numbers that are not finite are found later.
        """
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    def _bind(self, X: Any, y: Any) -> tuple[Any, Any, Examples, Any]:
        """Check the table first."""
        check_target(self, y, "y")
        return super()._bind(self._table(X, reset=True), self._read(y))

    def _read(self, y: Any) -> Any:
        """Return the annotations as the task takes them."""
        return y

    def _known(self, Y: Any) -> Any:
        return self._read(Y)

    def _encoded(self, X: Any) -> Examples:
        check_is_fitted(self, "weights_")
        return super()._encoded(self._table(X, reset=False))

    def costs(self, X: Any, Y: Any) -> Array:
        """Return the cost of the prediction for each row; labels that are not known cost nothing."""
        check_is_fitted(self, "weights_")
        return super().costs(self._table(X, reset=False), self._known(Y))
