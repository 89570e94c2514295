"""Commands run by the tests, and a file of label sets for them."""

import json

import numpy as np

from maximand.cli.main import main
from maximand.formats import Attribute, Mulan, write_mulan

WEATHER = "sun", "rain", "rainbow"


def write_weather(folder):
    """Write rows with the labels sun (the first column is positive), rain (the second is) and rainbow (both are)."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, (X[:, :2] > 0).all(axis=1)]).astype(np.int8)
    columns = Attribute("light"), Attribute("drops"), Attribute("noise")
    arff, labels = folder / "weather.arff", folder / "weather.xml"
    write_mulan(Mulan("weather", columns, WEATHER, X, Y), arff, labels)
    return arff, labels


def run_json(capsys, *arguments):
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def run_lines(capsys, *arguments):
    assert main([*map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()
