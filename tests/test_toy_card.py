"""A new estimator from one module: with its card in the list it has model files, data files and all commands.

The toy says on which side of a street a house stands. A file has a line for each: `left 0.5 -1`.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.base import ClassifierMixin

import card_laws
from maximand import ModelFileError, MulticlassClassifier, MulticlassTask, Task, cards, load, save
from maximand.cards.answers import by_label, line, scores_by_label, share_equal
from maximand.cards.card import Card
from maximand.cards.checkup import Checkup
from maximand.cards.data import Dataset, Format
from maximand.cards.findings import of_labels
from maximand.cards.options import Option
from maximand.cli.main import main
from maximand.estimators.table import TablePredictor
from maximand.files.container import from_bytes, to_bytes
from maximand.formats.sources import open_lines
from maximand.models import dump
from maximand.tasks.multiclass import BoundMulticlass


@dataclass(frozen=True)
class Street:
    home: str = "left"


class BoundSides(BoundMulticlass):
    packed = ("names", "cost", "features", "street")

    def __init__(self, names, cost, features, street):
        super().__init__(names, cost, features)
        self.street = street


@dataclass(frozen=True)
class SidesTask(Task):
    street: Street

    def bind(self, X, Y):
        bound, *rest = MulticlassTask(classes=["left", "right"]).bind(X, Y)
        return BoundSides(bound.names, bound.cost, bound.features, self.street), *rest


@dataclass(kw_only=True, eq=False, repr=False)
class SideFinder(ClassifierMixin, TablePredictor):
    """Says on which side of a street a house stands."""

    street: Street = field(default_factory=Street)
    loss: str = "hinge"
    decoder: Any = None

    def fit(self, X, y):
        X, bound, examples, annotation = self._bind(X, y)
        return self._train(X, bound, examples, annotation, None)

    def _unbound(self):
        return SidesTask(self.street)


def read(source, known, options):
    with open_lines(source) as file:
        rows = [row.split() for row in file.rows()]
    return Dataset(source, np.array([row[1:] for row in rows], dtype=float), np.array([row[0] for row in rows]))


def build(data, settings, options):
    return SideFinder(street=Street(options["home"]), **settings)


def lines(predictor, unlabelled, answers, means, as_json):
    for side, mean in zip(answers.tolist(), means, strict=True):
        word = "home" if side == predictor.street.home else "away"
        yield line(
            "side", word, word, None if mean is None else {"chances": by_label(predictor.classes_, mean)}, as_json
        )


def scores(predictor, answers, data):
    values = {"examples": len(answers), "accuracy": share_equal(list(answers), list(data.y))}
    return values, scores_by_label(list(data.y), list(answers))


CARD = Card(
    SideFinder,
    SidesTask,
    BoundSides,
    check=BoundSides.check,
    formats=(Format("sides", "houses with a side each", read, (".sides",)),),
    build=build,
    lines=lines,
    scores=scores,
    checkup=Checkup(lambda data: Counter(data.y.tolist()), lambda data, counts, options: of_labels(counts)),
    stored=(Street,),
    options=(Option("--home", "the side that one lives on", default="left", choices=("left", "right")),),
)


@pytest.fixture
def listed(monkeypatch):
    monkeypatch.setattr(cards, "MODULES", (*cards.MODULES, __name__))


@pytest.fixture
def houses(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2)).round(3)
    rows = [f"{'left' if a < 0 else 'right'} {a} {b}\n" for a, b in X]
    (tmp_path / "d.sides").write_text("".join(rows))
    return card_laws.Sample(tmp_path / "d.sides", 30)


def test_a_card_in_the_list_gives_files_and_commands(listed, houses, tmp_path, capsys, monkeypatch):
    card_laws.check_card(CARD, CARD.formats[0], houses, tmp_path, capsys, monkeypatch)


def test_its_options_are_its_own(listed, houses, tmp_path, capsys):
    model, rows = tmp_path / "m", tmp_path / "rows.svm"
    assert main(["fit", str(houses.path), "-o", str(model), "--home", "right", "--quiet"]) == 0
    assert load(model).task_.street == Street("right")
    capsys.readouterr()
    assert main(["predict", str(model), str(houses.path)]) == 0
    sides = [row.split()[0] for row in houses.path.read_text().splitlines()]
    assert capsys.readouterr().out.split() == ["home" if side == "right" else "away" for side in sides]
    rows.write_text("1 1:1\n2 1:2\n")
    assert main(["fit", str(rows), "-o", str(model), "--home", "right"]) == 1
    assert "--home is for --format sides; these are rows with one label each" in capsys.readouterr().err
    assert main(["fit", str(houses.path), "-o", str(model), "--scale"]) == 1
    assert "these are houses with a side each" in capsys.readouterr().err


def test_without_a_card_there_is_neither(houses, tmp_path, capsys):
    assert main(["fit", str(houses.path), "-o", str(tmp_path / "m")]) == 1
    assert "its name does not tell the format" in capsys.readouterr().err
    with pytest.raises(ModelFileError, match="SideFinder cannot be saved"):
        save(SideFinder().fit([[0.0], [1.0]], ["left", "right"]), tmp_path / "m")


def test_a_file_holds_only_what_its_own_card_allows(listed):
    content = dump(SideFinder().fit([[0.0], [1.0]], ["left", "right"]))
    assert load(content).street == Street()
    other = dump(MulticlassClassifier().fit([[0.0], [1.0]], ["left", "right"]))
    header, arrays = from_bytes(other, "model")
    header["steps"][0][1]["parameters"]["cost"] = {"object": ["Street", {"home": "left"}]}
    with pytest.raises(ModelFileError, match="'Street', which is not allowed"):
        load(to_bytes("model", header, arrays))
