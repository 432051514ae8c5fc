"""Starts by messages, and by a small network that reads them, for starts.py.

The network sees the same for every (variable, value) of every model: beliefs after some passes of messages,
the local score at the constructed start, how sure the belief is, how many neighbours there are. Its weights
are shared by all variables. It is trained on solved queries of all networks of ``SCHOOL`` but the one it is
asked about, which it has never seen, or on those of generated models alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from common import load_model
from numpy.typing import NDArray

from beacon.engine.construct import construct_assignment
from beacon.engine.core import CoreState, new_core, rebuild
from beacon.engine.message_start import Told, _begin_messages, _links, _pass_messages, begin_in_time
from beacon.model import families
from beacon.model.flat import FlatModel
from beacon.model.graphical_model import GraphicalModel

if TYPE_CHECKING:
    from starts import Begin, Case

GENERATED: dict[str, Callable[[], GraphicalModel]] = {
    "generated grid": lambda: families.ising_grid(50, 50, seed=1),
    "generated torus": lambda: families.ising_grid(30, 30, wrap=True, seed=2),
    "generated colouring": lambda: families.weighted_coloring(300, density=0.04, num_colors=5, seed=3),
    "generated belief net": lambda: families.deep_belief_net(20, 20, hidden=(40, 40, 20), seed=4),
    "generated Bayesian network": lambda: families.random_bayes_net(600, max_parents=4, seed=5),
}
SCHOOL = ("grid80x80.f10", "le450_5a_4.wcsp", "rus_50_100_4_1", "wcsp_14")
PASSES = (1, 3, 10)
NUM_INPUTS, WIDTH, UPDATES, QUERIES = 9, 32, 400, 30
Weights = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


def by_messages(case: Case, k: int, seconds: float) -> Begin:
    """As many passes as the time allows, crossed with a constructed start."""
    from starts import Begin  # noqa: PLC0415

    began, flat = thread_time(), case.runner.searched
    core = _core(flat, case.fixed[k])
    begin_in_time(flat, seconds)(flat, core)
    return Begin(core.assignment.astype(np.int64), thread_time() - began)


def by_network(case: Case, k: int, seconds: float, school: tuple[str, ...] = SCHOOL) -> Begin:
    """The value of each variable that the network prefers; the search crosses it with a constructed start."""
    from starts import Begin  # noqa: PLC0415

    weights = network_without(case.name, case, school)
    began, flat = thread_time(), case.runner.searched
    inputs, start = inputs_of(flat, case.fixed[k])
    for matrix, bias in weights[:-1]:
        inputs = np.maximum(inputs @ matrix + bias, 0)
    logits = (inputs @ weights[-1][0] + weights[-1][1])[:, 0]
    fixed = case.fixed[k].astype(np.int64)
    chosen = np.where(fixed >= 0, fixed, _best(flat, logits))
    return Begin(chosen, thread_time() - began, opinions=start[None])


def inputs_of(flat: FlatModel, fixed: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """[moves, inputs] what the network sees, and the constructed start."""
    core = _core(flat, fixed, flips=True)
    construct_assignment(flat, core)
    rebuild(flat, core)
    start, firsts = core.assignment.astype(np.int64), flat.move_starts[:-1]
    sums = [core.local_scores.copy(), *(_beliefs(flat, fixed, count) for count in PASSES)]
    below = [sum_ - np.repeat(np.maximum.reduceat(sum_, firsts), flat.domain_sizes) for sum_ in sums]
    scale = float(np.median(np.abs(below[-1][below[-1] < 0]))) if (below[-1] < 0).any() else 1.0
    powers = np.exp(np.maximum(below[-1] / scale, -30))
    shares = powers / np.repeat(np.add.reduceat(powers, firsts), flat.domain_sizes)
    entropy = -np.add.reduceat(shares * np.log(shares + 1e-12), firsts)
    of_variables = [entropy, np.log1p(np.diff(flat.neighbour_starts)), np.log(flat.domain_sizes)]
    is_start = np.zeros(flat.num_moves)
    is_start[firsts + start] = 1
    columns = [np.arcsinh(column / scale) for column in below] + [is_start, shares]
    columns += [np.repeat(column, flat.domain_sizes) for column in of_variables]
    return np.stack(columns, 1).astype(np.float32), start


def _core(flat: FlatModel, fixed: NDArray[Any], *, flips: bool = False) -> CoreState:
    return new_core(flat, fixed.astype(np.int64), 0, flips=flips)


def _beliefs(flat: FlatModel, fixed: NDArray[Any], passes: int) -> NDArray[np.float64]:
    core, links = _core(flat, fixed), _links(flat)
    construct_assignment(flat, core)
    told = Told(np.zeros(links.starts[-1]), np.zeros(flat.num_moves))
    _begin_messages(flat, core, told)
    for turn in range(passes):
        if _pass_messages(flat, core, links, told, turn % 2 == 1):
            break
    return told.beliefs


def _best(flat: FlatModel, of_moves: NDArray[Any]) -> NDArray[np.int64]:
    firsts = flat.move_starts[:-1]
    tops = np.repeat(np.maximum.reduceat(of_moves, firsts), flat.domain_sizes)
    places = np.where(of_moves == tops, np.arange(len(tops)), len(tops))
    values: NDArray[np.int64] = np.minimum.reduceat(places, firsts) - firsts
    return values


@cache
def network_without(name: str, case: Case, school: tuple[str, ...]) -> Weights:
    """The weights after training on the other networks of a school."""
    import torch  # noqa: PLC0415

    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng, lessons = np.random.default_rng(0), [_lessons(other, case) for other in school if other != name]
    sizes = (NUM_INPUTS, WIDTH, WIDTH, 1)
    layers = [torch.nn.Linear(a, b) for a, b in pairwise(sizes)]
    network = torch.nn.Sequential(*(part for layer in layers for part in (layer, torch.nn.ReLU())))[:-1]
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    for update in range(UPDATES):
        some = lessons[update % len(lessons)]
        inputs, owners, right = some[int(rng.integers(len(some)))]
        logits = network(torch.from_numpy(inputs))[:, 0]
        top = logits.max().detach()
        totals = torch.zeros(int(owners[-1]) + 1).index_add(
            0, torch.from_numpy(owners), torch.exp(logits - top)
        )
        loss = (torch.log(totals)[torch.from_numpy(owners[right])] - (logits - top)[right]).mean()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return [(layer.weight.detach().numpy().T.copy(), layer.bias.detach().numpy()) for layer in layers]


def _lessons(name: str, case: Case) -> list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Of each solved query the inputs, each move's variable, and the moves to the answer's free values."""
    from starts import Case  # noqa: PLC0415

    model = GENERATED[name]() if name in GENERATED else load_model(case.data, name)
    count = QUERIES if name in GENERATED else case.num_train
    other = Case(name, model, case.cache, count, case.num_test, case.data)
    flat, lessons = other.runner.searched, []
    owners = np.repeat(np.arange(flat.num_variables), flat.domain_sizes)
    for row, fixed in zip(other.library[:QUERIES], other.train_fixed, strict=False):
        free = (fixed < 0) & (flat.domain_sizes > 1)
        right = flat.move_starts[:-1][free] + row[free]
        lessons.append((inputs_of(flat, fixed)[0], owners, right))
    return lessons
