"""Which losses make means of scores, and whether these are probabilities."""

from __future__ import annotations

from typing import Any

from maximand.losses import Loss, named
from maximand.oracles import Projection, Soft
from maximand.sets import Hull


def layer_of(loss: str | Loss | Projection) -> Soft | Projection | None:
    """Return what makes a mean of the scores in the loss: marginals or a projection; None where it takes maxima."""
    penalty = named(loss).penalty
    return penalty if isinstance(penalty, (Soft, Projection)) and penalty.smooth else None


def soft(estimator: Any) -> bool:
    """Say whether the estimator's loss makes means of scores; raise the reason where it does not."""
    if layer_of(estimator.loss) is None:
        raise AttributeError(
            f"The loss {named(estimator.loss).name} takes maxima and knows no means; use {estimator._soft_losses}."
        )
    return True


def probabilistic(estimator: Any) -> bool:
    """Say whether the means that the estimator's loss makes are probabilities; raise the reason where not."""
    layer = layer_of(estimator.loss)
    if layer is None or (isinstance(layer, Projection) and not isinstance(layer.onto, Hull)):
        raise AttributeError(
            f"The loss {named(estimator.loss).name} models no probabilities; use {estimator._soft_losses}."
        )
    return True
