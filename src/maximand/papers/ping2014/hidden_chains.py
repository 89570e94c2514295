"""Chains y - h - y - h in which each hidden node is dealt with by itself, given the outputs beside it.

What is a sum over hidden nodes of functions of their neighbours splits over neighbouring outputs: these make a path
with a table for every pair. A hidden node at the end has a neighbour on the left alone, and belongs to that output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from maximand.costs import Hamming
from maximand.features import Examples
from maximand.inference import Structure
from maximand.oracles import Soft
from maximand.papers.ping2014.simulators import STATES, Sample
from maximand.papers.ping2014.training import Problem
from maximand.spaces import Graph, Labels
from maximand.support import Array, Ints
from maximand.targets import Target

COLD = 0.05  # the temperature of soft maxima in the place of maxima, where these are to be smooth
STEPS = 30  # of L-BFGS in a round


class Scores(NamedTuple):
    """Scores, or means: (example, output, state) and (example, hidden node, state left, state right, state)."""

    outputs: Array
    hidden: Array


class Value(NamedTuple):
    """The values of examples, and their gradients in the scores."""

    values: Array
    mean: Scores


@dataclass(frozen=True)
class HiddenChains:
    """Examples whose lattice is one node wide, and the paths that their outputs make."""

    problem: Problem
    examples: Examples
    sample: Sample

    @property
    def n_outputs(self) -> int:
        """The number of outputs of each example."""
        return self.sample.outputs.shape[1]

    @property
    def n_hidden(self) -> int:
        """The number of hidden nodes, as many as outputs or one less."""
        return self.sample.lattice.n_nodes - self.n_outputs

    @cached_property
    def paths(self) -> Graph:
        """The labellings of the outputs, with a table for each pair of neighbours."""
        pairs = np.arange(self.n_outputs - 1)
        path = Structure.of(np.full(self.n_outputs, STATES), np.stack([pairs, pairs + 1], axis=1), pairs, pairs.size)
        return Graph([path] * len(self.sample.states))

    @cached_property
    def target(self) -> Target:
        """The true outputs, and the number of mistakes as what others cost."""
        return Target(self.paths, Labels(self.sample.outputs.ravel(), self.paths.offsets, STATES), Hamming())

    def scores(self, weights: Array) -> Scores:
        """Return what weights make of the examples."""
        theta, layout, n = (
            self.problem.theta(self.examples, weights),
            self.examples.space.layout,
            len(self.sample.states),
        )
        tables = layout.view(theta, "tables 0 1").reshape(n, -1, STATES, STATES)
        if self.problem.shared:
            tables = np.repeat(tables, self.sample.lattice.n_nodes - 1, axis=1)
        left, right = np.zeros((2, n, self.n_hidden, STATES, STATES))
        left[:] = tables[:, 0::2]
        right[:, : self.n_outputs - 1] = tables[:, 1::2]
        own = layout.view(theta, "nodes 1").reshape(n, self.n_hidden, 1, 1, STATES)
        outputs = layout.view(theta, "nodes 0").reshape(n, self.n_outputs, STATES)
        return Scores(outputs, own + left[:, :, :, None, :] + right[:, :, None, :, :])

    def gradient(self, mean: Scores) -> Array:
        """Return the sum over examples of gradients in the scores, as one in the weights."""
        layout, n = self.examples.space.layout, len(self.sample.states)
        parts = np.zeros(layout.n_parts)
        layout.view(parts, "nodes 0")[:] = mean.outputs.reshape(-1, STATES)
        layout.view(parts, "nodes 1")[:] = mean.hidden.sum(axis=(2, 3)).reshape(-1, STATES)
        tables = np.empty((n, self.sample.lattice.n_nodes - 1, STATES, STATES))
        tables[:, 0::2] = mean.hidden.sum(axis=3)
        tables[:, 1::2] = mean.hidden.sum(axis=2)[:, : self.n_outputs - 1]
        if self.problem.shared:
            tables = tables.sum(axis=1, keepdims=True)
        layout.view(parts, "tables 0 1")[:] = tables.reshape(-1, STATES, STATES)
        features = self.problem.bound.features
        total = np.zeros(features.n_expanded)
        features.add_sums(self.examples, parts, total)
        return features.reduce(total)

    def path_scores(self, outputs: Array, pairs: Array) -> Array:
        """Return theta of the paths, given scores of outputs and of pairs around each hidden node."""
        paths, theta = self.paths, np.empty(self.paths.n_parts)
        nodes = paths.nodes(theta).reshape(outputs.shape)
        nodes[:] = outputs
        if self.n_hidden == self.n_outputs:
            nodes[:, -1] += pairs[:, -1, :, 0]
        paths.tables(theta)[:] = pairs[:, : self.n_outputs - 1].reshape(-1, STATES, STATES)
        return theta

    def of_paths(self, mean: Array) -> tuple[Array, Array]:
        """Return means of outputs and of the pairs around each hidden node, given those of paths."""
        paths = self.paths
        outputs = paths.nodes(mean).reshape(-1, self.n_outputs, STATES)
        pairs = np.zeros((len(outputs), self.n_hidden, STATES, STATES))
        pairs[:, : self.n_outputs - 1] = paths.tables(mean).reshape(len(outputs), -1, STATES, STATES)
        if self.n_hidden == self.n_outputs:
            pairs[:, -1, :, 0] = outputs[:, -1]
        return outputs, pairs

    @cached_property
    def beside(self) -> tuple[Ints, ...]:
        """Where, in arrays (example, hidden node, state left, state right), the true outputs are."""
        left = self.sample.outputs[:, : self.n_hidden]
        right = np.zeros_like(left)
        right[:, : self.n_outputs - 1] = self.sample.outputs[:, 1:]
        return (*np.indices(left.shape), left, right)

    def known(self, shares: Array) -> Scores:
        """Return the mean that has the true outputs, and shares (example, hidden node, state) of hidden states."""
        outputs = np.eye(STATES)[self.sample.outputs]
        hidden = np.zeros((*shares.shape[:2], STATES, STATES, STATES))
        hidden[self.beside] = shares
        return Scores(outputs, hidden)

    def penalty(self, outputs: Array, pairs: Array, temperature: float = 0.0) -> tuple[Array, Array, Array]:
        """Return the (soft) maximum over outputs of score + cost, and the means of outputs and of pairs."""
        found = Soft(cost=1.0, temperature=temperature)(self.paths, self.path_scores(outputs, pairs), self.target)
        return found.value, *self.of_paths(found.mean)

    def best(self, outputs: Array, pairs: Array) -> Ints:
        """Return the best outputs, (example, output)."""
        return np.array(self.paths.decode(self.paths.argmax(self.path_scores(outputs, pairs)).mean))


def training_chains(problem: Problem) -> HiddenChains:
    """Return the training examples."""
    return HiddenChains(problem, problem.examples, problem.train)


def test_chains(problem: Problem) -> HiddenChains:
    """Return the test examples."""
    return HiddenChains(problem, problem.test_examples, problem.test)


def minimized(chains: HiddenChains, loss: Callable[[Scores], Value], weights: Array) -> tuple[Array, float]:
    """Minimise |w|^2 / 2 + C sum of a smooth loss by L-BFGS; return weights and value, in our scale."""
    strength, n = chains.problem.regularization, chains.sample.outputs.size

    def value_and_gradient(w: Array) -> tuple[float, Array]:
        found = loss(chains.scores(w))
        value = 0.5 * strength * float(w @ w) + float(found.values.sum()) / n
        return value, strength * w + chains.gradient(found.mean) / n

    found = minimize(value_and_gradient, weights, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
    return found.x, float(found.fun)


def soft(scores: Array, temperature: float) -> tuple[Array, Array]:
    """Return the soft maximum over the last axis, and the shares in it; the maximum at temperature 0."""
    top = scores.max(axis=-1, keepdims=True)
    if temperature == 0.0:
        return top[..., 0], np.eye(scores.shape[-1])[scores.argmax(axis=-1)]
    shares = np.exp((scores - top) / temperature)
    total = shares.sum(axis=-1, keepdims=True)
    return top[..., 0] + temperature * np.log(total[..., 0]), shares / total


def joint_map(chains: HiddenChains, scores: Scores) -> Ints:
    """Return the hidden states (example, hidden node) of the best outputs and hidden states together."""
    pairs, _ = soft(scores.hidden, 0.0)
    best = chains.best(scores.outputs, pairs)
    left, right = best[:, : chains.n_hidden], np.zeros((len(best), chains.n_hidden), dtype=np.int64)
    right[:, : chains.n_outputs - 1] = best[:, 1:]
    n, k = np.indices(left.shape)
    return np.asarray(scores.hidden[n, k, left, right].argmax(axis=-1))
