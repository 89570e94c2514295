"""Labels with hidden states, and positions that are never labelled, in taggers and graph labelers."""

from itertools import groupby

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from maximand import CCCP, Callback, Checkpoint, GraphLabeler, MaxScore, ModelFileError, SequenceTagger, load, save
from maximand.losses import marginal

CORNERS = np.array([[2, 2], [-2, -2], [2, -2], [-2, 2]])  # a tag has opposite corners: no line parts two tags
LOSSES = pytest.mark.parametrize("loss", ["crf", "hinge", "marginal"])
OWN_STATES = {"n_states_per_label": 2, "n_restarts": 3, "regularization": 1e-3}


def opposite_corners(n, rng):
    X, Y = [], []
    for _ in range(n):
        corner = rng.integers(4, size=rng.integers(2, 6))
        X.append(CORNERS[corner] + rng.normal(size=(corner.size, 2)))
        Y.append(np.array(["a", "a", "b", "b"])[corner])
    return X, Y


def topics_between(n, rng, length=9):
    """Tags at even positions, of which a hidden topic at odd ones says more than their own features."""
    X, Y, hidden = [], [], np.arange(length) % 2 == 1
    for _ in range(n):
        topic = rng.integers(3)
        tags = np.where(rng.random(length) < 0.9, topic, rng.integers(3, size=length))
        seen = np.where(hidden[:, None], 1.5 * np.eye(3)[topic], 0.7 * np.eye(3)[tags])
        X.append(seen + 0.8 * rng.normal(size=(length, 3)))
        Y.append([None if mask else int(tag) for mask, tag in zip(hidden, tags, strict=True)])
    return X, Y, [hidden] * n


@pytest.fixture(scope="module")
def corners():
    return opposite_corners(80, np.random.default_rng(0))


@pytest.fixture(scope="module")
def topics():
    return topics_between(60, np.random.default_rng(1))


@pytest.fixture(scope="module")
def topic_tagger(topics):
    X, Y, hidden = topics
    return SequenceTagger(loss="marginal", n_hidden_states=3, regularization=1e-2).fit(
        X[:40], Y[:40], hidden=hidden[:40]
    )


def as_graphs(X):
    return [(x, np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1)) for x in X]


@LOSSES
def test_states_tell_apart_what_labels_do_not(corners, loss):
    X, Y = corners
    plain = SequenceTagger(loss=loss, regularization=1e-3).fit(X[:50], Y[:50]).score(X[50:], Y[50:])
    tagger = SequenceTagger(loss=loss, **OWN_STATES).fit(X[:50], Y[:50])
    labeler = GraphLabeler(loss=loss, **OWN_STATES).fit(as_graphs(X[:50]), Y[:50])
    assert plain < 0.75
    assert tagger.score(X[50:], Y[50:]) > 0.85
    assert labeler.score(as_graphs(X[50:]), Y[50:]) > 0.85
    for model, data in ((tagger, X), (labeler, as_graphs(X))):
        # Each corner has a state of its own: the sign of the first feature says which.
        states, tags = np.concatenate(model.predict_latent(data)), np.concatenate(model.predict(data))
        for tag in "ab":
            right = (states == (np.concatenate(X)[:, 0] > 0))[tags == tag].mean()
            assert max(right, 1 - right) > 0.9


def test_columns_of_states_add_up_to_those_of_labels(corners):
    X, Y = corners
    model = SequenceTagger(loss="crf", n_states_per_label={"b": 3}, regularization=1e-2).fit(X, Y)
    assert model.states_ == [("a", 0), ("b", 0), ("b", 1), ("b", 2)]
    chances, latent = model.predict_proba(X[:9]), model.predict_latent_proba(X[:9])
    scores, tags, states = model.decision_function(X[:9]), model.predict(X[:9]), model.predict_latent(X[:9])
    for own, inside, score, tag, state in zip(chances, latent, scores, tags, states, strict=True):
        assert own.shape == score.shape == (len(tag), 2)
        np.testing.assert_allclose(own.sum(axis=1), 1.0)
        of_tag = np.where((tag == "a")[:, None], [True, False, False, False], [False, True, True, True])
        np.testing.assert_allclose((inside * of_tag).sum(axis=1), 1.0)
        assert np.array_equal(inside.argmax(axis=1), np.where(tag == "a", 0, 1 + state))


def best_labels(model, x, mask, heat):
    """The labels of largest sum over states, by listing all sequences of states."""
    examples = model.task_.encode([x] if mask is None else in_one_hidden(x, mask))
    theta = model.task_.features.scores(examples, model.task_.features.expand(model.weights_))
    outputs, label_of = examples.space.outputs(), model.task_.names.states.label_of
    labels = [tuple(label_of[examples.space.decode(psi)[0]]) for psi in outputs]
    order = sorted(range(len(labels)), key=labels.__getitem__)
    sums = {
        own: heat * np.logaddexp.reduce([outputs[i] @ theta / heat for i in group])
        for own, group in groupby(order, key=labels.__getitem__)
    }
    return np.array(max(sums, key=sums.get))


def in_one_hidden(x, mask):
    from maximand.tasks import HiddenPositions

    return HiddenPositions([x], [mask])


@pytest.mark.parametrize("heat", [1.0, 0.3])
def test_predictions_are_labels_of_largest_sum(corners, topics, heat):
    X, Y = corners
    tagger = SequenceTagger(loss=marginal(0, heat), **OWN_STATES | {"regularization": 0.1}).fit(X[:30], Y[:30])
    for x, tags in zip(X[30:50], tagger.predict(X[30:50]), strict=True):
        assert np.array_equal(tagger.classes_[best_labels(tagger, x, None, heat)], tags)
    X, Y, hidden = topics
    tagger = SequenceTagger(loss=marginal(0, heat), n_hidden_states=2, regularization=0.1)
    tagger.fit([x[:5] for x in X], [y[:5] for y in Y], hidden=[mask[:5] for mask in hidden])
    for x, mask in zip(X[:9], hidden, strict=False):
        (tags,) = tagger.predict([x[:5]], hidden=[mask[:5]])
        assert best_labels(tagger, x[:5], mask[:5], heat).tolist() == [-1 if tag is None else tag for tag in tags]


@LOSSES
def test_hidden_positions_help(topics, loss):
    X, Y, hidden = topics
    model = SequenceTagger(loss=loss, n_hidden_states=3, regularization=1e-2)
    model.fit(X[:40], Y[:40], hidden=hidden[:40])
    even = [x[::2] for x in X], [y[::2] for y in Y]
    alone = SequenceTagger(loss="crf", regularization=1e-2).fit(even[0][:40], even[1][:40])
    assert model.score(X[40:], Y[40:], hidden=hidden[40:]) > alone.score(even[0][40:], even[1][40:])


def test_what_is_returned_at_hidden_positions(topics, topic_tagger):
    X, _, hidden = topics
    tags, states = (answer(X[:3], hidden=hidden[:3]) for answer in (topic_tagger.predict, topic_tagger.predict_latent))
    scores = topic_tagger.decision_function(X[:3], hidden=hidden[:3])
    for own, numbers, rows in zip(tags, states, scores, strict=True):
        assert [tag is None for tag in own] == hidden[0].tolist() == np.isnan(rows).all(axis=1).tolist()
        assert set(numbers[hidden[0]]) <= {0, 1, 2} and not numbers[~hidden[0]].any()
    flat = topic_tagger.predict(np.concatenate(X[:3]), lengths=[9, 9, 9], hidden=np.concatenate(hidden[:3]))
    assert np.array_equal(np.concatenate(flat), np.concatenate(tags))
    _, empty, _ = topic_tagger.predict([X[0], X[0][:0], X[1]], hidden=[hidden[0], hidden[0][:0], hidden[1]])
    assert empty.size == 0


def test_joint_map_on_request(topics):
    X, Y, hidden = topics
    model = SequenceTagger(loss="crf", n_hidden_states=3, regularization=1e-2, decoder=MaxScore())
    model.fit(X, Y, hidden=hidden)
    with pytest.raises(ValueError, match="Predictions choose the best hidden states and know no probabilities of them"):
        model.predict_latent_proba(X, hidden=hidden)
    assert len(model.predict_latent(X, hidden=hidden)) == len(X)


def test_files_keep_states(tmp_path, corners, topics, topic_tagger):
    X, Y = corners
    own = SequenceTagger(loss="hinge", **OWN_STATES).fit(X[:30], Y[:30])
    labeler = GraphLabeler(loss="marginal", **OWN_STATES).fit(as_graphs(X[:30]), Y[:30])
    for model, data in ((own, (X[:9],)), (labeler, (as_graphs(X[:9]),)), (topic_tagger, (topics[0], None, topics[2]))):
        save(model, tmp_path / "model.mxd")
        again = load(tmp_path / "model.mxd")
        for ours, theirs in zip(model.predict_latent(*data), again.predict_latent(*data), strict=True):
            assert np.array_equal(ours, theirs)
        assert again.states_ == model.states_


def test_seeds_restarts_and_given_starts(topics, topic_tagger):
    X, Y, hidden = (given[:40] for given in topics)
    fit = clone(topic_tagger).fit(X, Y, hidden=hidden)
    assert np.array_equal(fit.weights_, topic_tagger.weights_)
    other = clone(topic_tagger).set_params(random_state=1).fit(X, Y, hidden=hidden)
    assert not np.array_equal(other.weights_, topic_tagger.weights_)
    best = clone(topic_tagger).set_params(n_restarts=4).fit(X, Y, hidden=hidden)
    assert best.objective_ <= topic_tagger.objective_
    states = topic_tagger.predict_latent(X, hidden=hidden)
    states = [np.where(mask, own, 0) for own, mask in zip(states, hidden, strict=True)]
    started = clone(topic_tagger).fit(X, Y, hidden=hidden, latent_start=states)
    assert started.objective_ <= 1.05 * topic_tagger.objective_


def test_weights_of_zero_keep_states_alike(topics, topic_tagger):
    """The reason why training begins elsewhere: from there it finds nothing that hidden positions tell."""
    X, Y, hidden = (given[:40] for given in topics)
    model = clone(topic_tagger)
    model._beginning = lambda objective: None
    model.set_params(solver=CCCP(easier=False)).fit(X, Y, hidden=hidden)
    assert model.objective_ > 1.05 * topic_tagger.objective_
    chances = np.concatenate(model.predict_latent_proba(X, hidden=hidden))[np.concatenate(hidden)][:, 3:]
    np.testing.assert_allclose(chances, 1 / 3, atol=1e-6)


class Interrupting(Callback):
    """Interrupts a fit at an iteration."""

    def __init__(self, iteration):
        self.left = iteration

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        self.left -= metadata is not None
        if metadata is not None and not self.left:
            raise KeyboardInterrupt


@pytest.mark.filterwarnings("ignore:Training stopped early")
@pytest.mark.parametrize("n_restarts", [1, 3])
@pytest.mark.parametrize("loss", ["crf", "marginal"])
@pytest.mark.parametrize("iteration", [2, 7, 12])
def test_checkpoints_know_the_attempt(tmp_path, topics, loss, n_restarts, iteration):
    """A resumed fit ends in the same bits, and none goes on where another start led."""
    X, Y, hidden = (given[:20] for given in topics)
    model = SequenceTagger(
        loss=loss, n_hidden_states=3, regularization=1e-2, n_restarts=n_restarts, max_iterations=5, n_threads=1
    )
    whole = clone(model).fit(X, Y, hidden=hidden)
    alone = clone(model).set_params(n_restarts=1).fit(X, Y, hidden=hidden)
    assert whole.objective_ < alone.objective_ or n_restarts == 1 or loss == "marginal"
    kept = Checkpoint(tmp_path / "run", seconds=0)
    interrupted = clone(model).set_callbacks(kept, Interrupting(iteration)).fit(X, Y, hidden=hidden)
    resumed = clone(model).set_callbacks(kept).fit(X, Y, hidden=hidden)
    assert interrupted.n_iter_ == min(iteration, whole.n_iter_)
    if iteration < whole.n_iter_:
        assert np.array_equal(resumed.weights_, whole.weights_)
        assert resumed.stop_reason_ == whole.stop_reason_
    with pytest.raises(ModelFileError, match=r"is the checkpoint of another problem: the .*start"):
        clone(model).set_params(random_state=1).set_callbacks(kept).fit(X, Y, hidden=hidden)


def test_given_states_are_no_parameter(topics):
    X, Y, hidden = (given[:5] for given in topics)
    model = SequenceTagger(n_hidden_states=3, regularization=1e-2)
    parameters = model.get_params()
    model.fit(X, Y, hidden=hidden, latent_start=[np.zeros(9, dtype=int)] * 5)
    assert model.get_params() == parameters
    assert "Labels" not in repr(model)


def test_searches_choose_the_number_of_states(corners):
    X, Y = corners
    search = GridSearchCV(SequenceTagger(loss="crf", regularization=1e-2), {"n_states_per_label": [1, 2]}, cv=2)
    assert search.fit(X, Y).best_params_ == {"n_states_per_label": 2}


def test_refusals(corners, topics, topic_tagger):
    X, Y, hidden = topics
    tagger = SequenceTagger(loss="marginal", n_hidden_states=3, max_iterations=1)
    given = [list(y) for y in Y]
    given[2][1] = 1
    with pytest.raises(ValueError, match=r"Y\[2\], token 1, has the label 1 but is hidden; give None there"):
        tagger.fit(X, given, hidden=hidden)
    with pytest.raises(ValueError, match="hidden marks positions, but n_hidden_states is 0; say how many states"):
        SequenceTagger().fit(X, Y, hidden=hidden)
    with pytest.raises(ValueError, match=r"hidden\[1\] has shape \(8,\) but X\[1\] has 9 tokens"):
        tagger.fit(X, Y, hidden=[hidden[0], hidden[1][:-1], *hidden[2:]])
    with pytest.raises(ValueError, match="hidden has 540 entries of type int64; say True or False of each of the 540"):
        tagger.fit(X, Y, hidden=np.concatenate(hidden).astype(int))
    with pytest.raises(ValueError, match="All positions are hidden, so there is nothing to learn"):
        tagger.set_params(classes=[0, 1, 2]).fit(X, [[None] * 9 for _ in Y], hidden=[mask | True for mask in hidden])
    with pytest.raises(
        ValueError, match=r"latent_start\[0\], token 1, has state 3; its states are numbered from 0 to 2"
    ):
        tagger.fit(X, Y, hidden=hidden, latent_start=[np.where(mask, 3, 0) for mask in hidden])
    with pytest.raises(ValueError, match="n_hidden_states is 3, but no position is hidden; mark those by hidden="):
        tagger.fit(X, Y)
    for start, said in (
        (3, "latent_start is 3; give the states of each of the 60 sequences"),
        ([[0] * 9], "latent_start has 1 entries but there are 60 sequences; give one for each"),
        ([[0] * 8] * 60, r"latent_start\[0\] has shape \(8,\) but X\[0\] has 9 tokens"),
        ([[0.5] * 9] * 60, r"latent_start\[0\] holds 0.5; the states of latent_start are whole numbers, from 0"),
        ([[None] * 9] * 60, r"latent_start\[0\] holds None; the states of latent_start are whole numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            tagger.fit(X, Y, hidden=hidden, latent_start=start)
    with pytest.raises(ValueError, match="Y holds nothing that is known, so there is nothing to learn"):
        SequenceTagger(classes=["a", "b"]).fit(X, [[None] * 9 for _ in X])
    with pytest.raises(ValueError, match="latent_start gives states of hidden variables, and nothing is hidden"):
        SequenceTagger().fit(*corners, latent_start=corners[1])
    with pytest.raises(ValueError, match="these have hidden states; use predict"):
        topic_tagger.predict_k_best(X, 2)
    with pytest.raises(ValueError, match="Nothing is hidden in this SequenceTagger"):
        SequenceTagger().fit(*corners).predict_latent(corners[0])
    with pytest.raises(ValueError, match="n_states_per_label of 'a' is 0; give a whole number, at least 1"):
        SequenceTagger(n_states_per_label={"a": 0}).fit(*corners)
    with pytest.raises(ValueError, match="n_states_per_label has the unknown label 'z'"):
        SequenceTagger(n_states_per_label={"z": 2}).fit(*corners)
    with pytest.raises(ValueError, match="n_hidden_states is -1; give a whole number, at least 0"):
        SequenceTagger(n_hidden_states=-1).fit(*corners)
    with pytest.raises(ValueError, match="n_restarts is 0; give a whole number, at least 1"):
        SequenceTagger(n_restarts=0).fit(*corners)
