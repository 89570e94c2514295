"""The image studies of ping2014: descriptors, labels of patches, noisy pictures, and training on grids."""

import json
from pathlib import Path

import numpy as np
import pytest

from maximand.papers import EXPERIMENTS, Study, reproduce
from maximand.papers.ping2014 import msrc
from maximand.papers.ping2014.descriptors import (
    SIDE,
    STRIDE,
    colour_histograms,
    commonest_labels,
    gradient_histograms,
    n_patches,
)
from maximand.papers.ping2014.grids import DECODERS, MARGINALS, MAX_PRODUCT, METHODS, Problem
from maximand.papers.ping2014.image import LABELS, pictures, truth

RNG = np.random.default_rng(0)
PHOTOGRAPH = np.kron(RNG.integers(20, 120, size=(11, 14, 3)), np.ones((6, 5, 1), dtype=int))  # (66, 70, 3)


def by_cells(histograms):
    return histograms.reshape(*histograms.shape[:2], 4, 4, 8)


def test_patches_are_those_of_the_paper():
    assert (n_patches(213), n_patches(320), n_patches(240)) == (20, 31, 23)
    assert (n_patches(20), n_patches(19), n_patches(5)) == (1, 0, 0)
    assert gradient_histograms(PHOTOGRAPH).shape == (5, 6, 128)
    assert colour_histograms(PHOTOGRAPH).shape == (5, 6, 48)


def test_histograms_do_not_depend_on_light_and_contrast():
    known = gradient_histograms(PHOTOGRAPH)
    np.testing.assert_allclose(np.linalg.norm(known, axis=2), 1.0)
    np.testing.assert_allclose(gradient_histograms(PHOTOGRAPH + 50), known, atol=1e-9)
    np.testing.assert_allclose(gradient_histograms(2.0 * PHOTOGRAPH), known, atol=1e-9)


def test_turned_and_mirrored_images_have_turned_and_mirrored_histograms():
    square = PHOTOGRAPH[:60, :60]
    known = by_cells(gradient_histograms(square))
    turned = by_cells(gradient_histograms(np.rot90(square)))  # what pointed to the right points up: 2 directions less
    expected = np.roll(np.rot90(np.rot90(known, axes=(0, 1)), axes=(2, 3)), -2, axis=4)
    np.testing.assert_allclose(turned, expected, atol=1e-9)
    mirrored = by_cells(gradient_histograms(square[:, ::-1]))
    directions = (4 - np.arange(8)) % 8
    np.testing.assert_allclose(mirrored, known[:, ::-1, :, ::-1][..., directions], atol=1e-9)


def test_a_moved_image_has_moved_patches():
    here, moved = gradient_histograms(PHOTOGRAPH), gradient_histograms(PHOTOGRAPH[STRIDE:, STRIDE:])
    np.testing.assert_allclose(moved[1:, 1:], here[2:, 2:], atol=1e-9)  # but at the edge of the image


def test_edges_point_where_the_image_brightens():
    image = np.zeros((SIDE, SIDE, 3))
    image[:, SIDE // 2 :] = 200
    histogram = by_cells(gradient_histograms(image))[0, 0]
    assert histogram[:, 1:3, 0].min() > 0.1
    assert not histogram[:, :, 1:7].any()
    assert not gradient_histograms(np.full((SIDE, SIDE, 3), 77)).any()


def test_colours_are_shares_of_pixels():
    found = colour_histograms(PHOTOGRAPH).reshape(5, 6, 3, 16)
    np.testing.assert_allclose(found.sum(axis=3), 1.0)
    patch = PHOTOGRAPH[STRIDE : STRIDE + SIDE, 2 * STRIDE : 2 * STRIDE + SIDE, 1]
    np.testing.assert_allclose(found[1, 2, 1], np.histogram(patch, bins=16, range=(0, 256))[0] / SIDE**2)


def test_a_patch_has_the_label_of_most_of_its_pixels():
    labels = np.full((SIDE, 3 * STRIDE), 3)
    labels[:, : STRIDE + 1] = 5
    np.testing.assert_array_equal(commonest_labels(labels, 6), [[5, 3]])
    labels[:, STRIDE] = 3
    np.testing.assert_array_equal(commonest_labels(labels, 6), [[3, 3]])  # the lowest of two


def test_other_categories_and_none_are_missing():
    labels = np.zeros((SIDE, SIDE), dtype=int)
    for classes, expected in ((labels, -1), (labels + 4, -1), (labels + 12, 4), (labels + 7, 2)):
        photographs = msrc.Photographs([np.zeros((SIDE, SIDE, 3), dtype=int)], [classes], np.zeros(1, dtype=int))
        X, Y = msrc.grids(photographs, [[2]], n_words=3)
        assert Y[0].tolist() == [expected]
        np.testing.assert_array_equal(X[0].nodes.toarray()[0, :3], [0, 0, 1])


def test_pictures_are_their_labels_with_noise():
    labels = truth()
    assert labels.shape == (20, 40) and set(np.unique(labels)) == set(LABELS)
    np.testing.assert_array_equal(truth(1), labels[::2, ::2])
    drawn = pictures(labels, 50, 0.8, np.random.default_rng(0))
    noise = np.array(drawn.noisy)[:, :, :, 0] - labels
    assert abs(noise.mean()) < 5 * np.sqrt(5.0 / noise.size)
    assert noise.var() == pytest.approx(5.0, rel=5 * np.sqrt(2.0 / noise.size))
    for known in drawn.known:
        assert (known == -1).sum() == 640
        np.testing.assert_array_equal(known[known > 0], labels[known > 0])


def test_our_objective_is_the_papers_divided_by_c_and_the_known_labels():
    drawn = pictures(truth(1), 2, 0.5, np.random.default_rng(0))
    problem, C = Problem(drawn.noisy, drawn.known, LABELS, bias=True), 0.3
    assert problem.n_known == 200
    weights = np.random.default_rng(1).normal(size=10 + 25)
    for method in METHODS:
        ours, light = problem.objective(method, C), problem.objective(method, 1e12)
        losses = problem.n_known * light.value(weights)  # their sum over the images
        papers = 0.5 * weights @ weights + C * losses
        assert ours.value(weights) == pytest.approx(papers / (C * problem.n_known), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_descent_learns_from_some_of_the_labels(method):
    labels = truth(1)
    drawn = pictures(labels, 4, 0.3, np.random.default_rng(0))
    clear = [0.2 * (x - labels[:, :, None]) + labels[:, :, None] for x in drawn.noisy]
    problem = Problem(clear, drawn.known, LABELS, bias=True)
    weights = problem.descended(method, 1.0, None, 0.2, 20, 1, 0)
    assert np.array_equal(weights, problem.descended(method, 1.0, None, 0.2, 20, 1, 0))
    assert problem.objective(method, 1.0).value(weights) < problem.objective(method, 1.0).value(0.0 * weights)
    right = {d: np.mean(np.array(problem.predicted(clear, weights, d)) == labels.ravel() - 1) for d in DECODERS}
    assert right[MARGINALS] > 0.6
    assert right[MAX_PRODUCT] > 0.4  # of five labels


@pytest.mark.parametrize("name", ["ping2014-figure4", "ping2014-table4"])
def test_quick_studies(name, tmp_path):
    result = reproduce(EXPERIMENTS[name], Study(name, "quick", tmp_path))
    for table in result["tables"]:
        for row in table["rows"]:
            assert all(0.0 <= cell["ours"] <= 100.0 for cell in row["cells"])
    for heat_map in result["heat_maps"]:
        assert (tmp_path / "quick" / heat_map["file"]).read_text().startswith("<svg")


def stored(name):
    path = Path(__file__).parents[1] / "results" / name / "result.json"
    result = json.loads(path.read_text())
    assert result["scale"] == "standard"
    assert result["protocol"] == EXPERIMENTS[name].scales["standard"]
    return result


def test_the_stored_accuracies_follow_from_their_runs():
    result = stored("ping2014-figure4")
    shares = sorted({run["cell"]["missing"] for run in result["runs"]})
    for table in result["tables"]:
        for row in table["rows"]:
            method, decoder = row["name"].split(", ")
            for share, cell in zip(shares, row["cells"], strict=True):
                own = [run for run in result["runs"] if run["cell"]["missing"] == share]
                titles = [f"Features {run['cell']['features']}, from {run['cell']['start']}" for run in own]
                found = [
                    run["accuracy"][method][decoder] for run, t in zip(own, titles, strict=True) if t == table["title"]
                ]
                assert len(found) == 5
                assert cell["ours"] == pytest.approx(np.mean(found))


def test_the_stored_categories_follow_from_their_confusions():
    result = stored("ping2014-table4")
    for table in result["tables"]:
        for c, row in enumerate(table["rows"][:5]):
            for method, cell in zip(table["columns"], row["cells"], strict=True):
                start, decoder = table["title"].removeprefix("From ").split(", predicted by ")
                counts = np.concatenate([run["confusions"][start][decoder][method] for run in result["runs"]])
                assert len(counts) == 240
                assert cell["ours"] == pytest.approx(100.0 * counts[:, c, c].sum() / counts[:, c].sum())
