"""What each value of each variable would cost: exactly by elimination, else between two bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from beacon.model.flat import as_fixed
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.pool import Cancelled
from beacon.runner.runner import Runner
from beacon.runner.stop import Stop

if TYPE_CHECKING:
    from beacon.exact.tree import Tree
    from beacon.reduce.query import ReducedQuery
    from beacon.runner.result import Result


from beacon.model.flat import FlatModel

BOUND_SHARE = 0.5  # of the time limit, for messages


@dataclass(frozen=True, eq=False, repr=False)
class Margins(Mapping[str, dict[str, float]]):
    """For every variable that is not observed, and every value: what the best assignment with it loses.

    ``margins["HR"]["LOW"]`` is the loss against the answer in nats: 0 for the answer's own values, infinite
    for what is impossible. Where it is not ``exact``, it is the least loss that was seen, and ``at_least``
    has, in the same way, what is proved to be lost; that is below 0 where even the answer may be beaten.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 3], [((0, 1), [[0.0, -1.0, -2.0], [-3.0, -4.0, -9.0]])])
    >>> margins = beacon.solve(model, margins=True).margins
    >>> margins.exact, margins["x0"], margins.closest()
    (True, {'0': 0.0, '1': 3.0}, [('x1', '1', 1.0), ('x0', '1', 3.0)])
    """

    model: GraphicalModel
    evidence: dict[int, int]
    assignment: NDArray[np.int64]
    losses: NDArray[np.float64]
    """One value after another, variable by variable."""
    lowest: NDArray[np.float64] = field(repr=False)
    """Lower bounds on the losses; the losses themselves where these are exact."""
    exact: bool

    def __getitem__(self, name: str) -> dict[str, float]:
        """The losses of a variable's values."""
        return self._of(self.losses, self.model.name_to_variable[name])

    def __iter__(self) -> Iterator[str]:
        """The names of the variables that are not observed."""
        return (name for i, name in enumerate(self.model.names) if i not in self.evidence)

    def __len__(self) -> int:
        """How many variables are not observed."""
        return self.model.num_variables - len(self.evidence)

    def __repr__(self) -> str:
        """Size at a glance."""
        return f"Margins({len(self)} variables, {'exact' if self.exact else 'between bounds'})"

    @property
    def at_least(self) -> dict[str, dict[str, float]]:
        """Lower bounds on the losses, in the same form."""
        return {name: self._of(self.lowest, self.model.name_to_variable[name]) for name in self}

    def closest(self) -> list[tuple[str, str, float]]:
        """For each variable that might be otherwise: the best other value and its loss; closest first."""
        rows = []
        for name in self:
            own = self.model.labels[(i := self.model.name_to_variable[name])][self.assignment[i]]
            others = [(loss, value) for value, loss in self[name].items() if value != own]
            if others and min(others)[0] < math.inf:
                loss, value = min(others, key=lambda pair: pair[0])
                rows.append((name, value, loss))
        return sorted(rows, key=lambda row: row[2])

    def to_dict(self) -> dict[str, Any]:
        """What ``beacon solve --margins --json`` adds; None stands for an infinite loss."""
        made: dict[str, Any] = {"margins": _finite(dict(self)), "margins_exact": self.exact}
        return made if self.exact else made | {"margins_at_least": _finite(self.at_least)}

    def _of(self, losses: NDArray[np.float64], variable: int) -> dict[str, float]:
        if variable in self.evidence:
            raise KeyError(self.model.names[variable])
        start = int(self.model.domain_sizes[:variable].sum())
        labels = self.model.labels[variable]
        return dict(zip(labels, losses[start : start + len(labels)].tolist(), strict=True))


def margins_of(
    result: Result, tree: Tree | None, runner: Runner, stop: Stop, cancelled: Cancelled
) -> Margins | None:
    """What each value would cost; None where even the answer is impossible, so that nothing has a loss."""
    if result.zero_factors:
        return None
    if tree is not None:
        lower = upper = _exact_losses(tree, runner, result)
        return Margins(result.model, result.evidence, result.assignment, upper, lower, exact=True)
    upper = flip_losses(runner.flat, result.assignment)
    for other in result.alternatives or ():
        moves = runner.flat.move_starts[:-1] + other.assignment
        upper[moves] = np.minimum(upper[moves], other.loss)
    lower = np.minimum(_least_losses(result, runner, stop, cancelled), upper)
    return Margins(result.model, result.evidence, result.assignment, upper, lower, exact=False)


def _exact_losses(tree: Tree, runner: Runner, result: Result) -> NDArray[np.float64]:
    """[moves] the losses; infinite for all values that the evidence rules out."""
    scores = tree.best_scores()
    losses = np.repeat(tree.tops(scores), tree.reduced.tables.sizes) - scores
    spread = _spread(tree.reduced, losses, runner)
    own = runner.flat.move_starts[:-1] + result.assignment
    is_free = as_fixed(result.evidence, result.model.num_variables) < 0
    if not (spread[own][is_free] <= 1e-6 * (1 + abs(result.log_score))).all():
        raise RuntimeError(
            "the margins contradict a proved optimum. This is a bug in Beacon; please report it"
        )
    spread[own] = 0.0  # up to rounding, it was
    return spread


def _least_losses(result: Result, runner: Runner, stop: Stop, cancelled: Cancelled) -> NDArray[np.float64]:
    """[moves] the answer's score less an upper bound on that of any assignment with the value."""
    from beacon.exact.value_bounds import value_bounds  # noqa: PLC0415 - with the kernels
    from beacon.reduce.query import reduce_query  # noqa: PLC0415

    fixed = as_fixed(result.evidence, result.model.num_variables)
    reduced = reduce_query(runner.flat, fixed, eliminate=False)
    ends = perf_counter() + BOUND_SHARE * stop.seconds
    bounds = value_bounds(reduced, lambda: perf_counter() > ends or cancelled.is_set())
    return _spread(reduced, result.log_score - bounds, runner)


def _spread(reduced: ReducedQuery, losses: NDArray[np.float64], runner: Runner) -> NDArray[np.float64]:
    """[moves] the losses of a reduced query's values; those that it has left out are impossible."""
    spread = np.full(runner.flat.num_moves, math.inf)
    decided = np.flatnonzero(reduced.fixed >= 0)
    spread[runner.flat.move_starts[decided] + reduced.fixed[decided]] = 0.0
    starts = np.repeat(runner.flat.move_starts[reduced.variables], reduced.tables.sizes)
    spread[starts + reduced.values] = losses
    return spread


def _finite(margins: dict[str, dict[str, float]]) -> dict[str, dict[str, float | None]]:
    return {
        name: {value: loss if math.isfinite(loss) else None for value, loss in losses.items()}
        for name, losses in margins.items()
    }


def flip_losses(model: FlatModel, assignment: NDArray[np.int64]) -> NDArray[np.float64]:
    """[moves] by how much the score falls with another value of one variable; infinite where it is zero then.

    0 for the values that the assignment has. The assignment must have no zero factors itself.
    """
    variables, strides = model.scopes[:, 0], model.scopes[:, 1].astype(np.int64)
    arities = np.diff(model.scope_starts)
    steps = np.concatenate([[0], np.cumsum(assignment[variables] * strides)])
    entries = model.bases + steps[model.scope_starts[1:]] - steps[model.scope_starts[:-1]]
    current = np.repeat(entries, arities)
    sizes = model.domain_sizes[variables].astype(np.int64)
    place = np.repeat(np.arange(len(variables)), sizes)
    value = np.arange(len(place)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    others = model.log_table[(current[place] + (value - assignment[variables[place]]) * strides[place])]
    falls = np.where(others == model.log_zero, np.inf, model.log_table[current[place]] - others)
    moves = model.move_starts[variables[place]] + value
    losses: NDArray[np.float64] = np.zeros(model.num_moves)
    np.add.at(losses, moves, falls)
    return losses
