"""Label sets in two forms."""

NAMES = ("blues", "jazz", "rock")


def as_sets(Y, names=NAMES):
    return [{name for name, there in zip(names, row, strict=True) if there == 1} for row in Y]


def right(model, X, Y):
    return (model.predict(X) == Y).mean()
