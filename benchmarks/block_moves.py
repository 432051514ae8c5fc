"""Exact moves on strips of bounded width against tree moves, on square grids of two-valued variables.

A prototype that knows it is on a grid: a block is a strip of WIDTH x length variables, eliminated along its
length, so its messages have 2^WIDTH entries. A move perturbs a core in the middle of a strip, holds it for
one block, frees it for two more across, and stays if it is not worse. No restarts, no crossing. Score after
a tenth, a third and all of --seconds of processor time; the tree moves are the package's own.
"""

from __future__ import annotations

import math
from time import process_time
from typing import NamedTuple

import numpy as np
from common import load, options
from numba import njit
from numpy.typing import NDArray

from beacon.model.graphical_model import GraphicalModel
from beacon.search import search
from beacon.search.solve import solve
from beacon.search.stop import MaxRuntime
from beacon.search.strategy import Tree

MODELS = ("grid40x40.f10", "grid40x40.f15.wrap")
LONGEST = 30
MOVES_A_CALL = 4


class Grid(NamedTuple):
    """Log-potentials of a square grid, and what the evidence leaves free."""

    unary: NDArray[np.float64]
    """[rows, columns, value]"""
    right: NDArray[np.float64]
    """[rows, columns, value, value of the right neighbour]"""
    down: NDArray[np.float64]
    """[rows, columns, value, value of the neighbour below]"""
    free: NDArray[np.bool_]
    """[rows, columns]"""
    wraps: bool


class Room(NamedTuple):
    """Scratch of the elimination."""

    now: NDArray[np.float64]
    """[states] best score by the values along the frontier."""
    after: NDArray[np.float64]
    """[states] the same one variable later."""
    choices: NDArray[np.int8]
    """[variables, states] the value that the frontier forgets."""
    inside: NDArray[np.bool_]
    """[rows, columns] does the block set it?"""
    cells: NDArray[np.int64]
    """[variables, 2] row and column in the order of elimination."""
    held: NDArray[np.bool_]
    """[rows, columns] perturbed, and not to be set by the first block."""


def grid_of(model: GraphicalModel, evidence: dict[int, int], wraps: bool) -> Grid:
    """Sort a model's factors into unary ones, right ones and down ones."""
    n = math.isqrt(model.num_variables)
    unary, right, down = np.zeros((n, n, 2)), np.zeros((n, n, 2, 2)), np.zeros((n, n, 2, 2))
    for factor in model.factors:
        places = [divmod(variable, n) for variable in factor.scope]
        if len(places) == 1:
            unary[places[0]] += factor.log_table
        elif len(places) == 2:
            _add_edge(right, down, places[0], places[1], factor.log_table)
    free = np.ones(n * n, dtype=np.bool_)
    free[list(evidence)] = False
    return Grid(unary, right, down, free.reshape(n, n), wraps)


def _add_edge(
    right: NDArray[np.float64],
    down: NDArray[np.float64],
    one: tuple[int, int],
    other: tuple[int, int],
    table: NDArray[np.float64],
) -> None:
    n = len(right)
    across, below = (one[0], (one[1] + 1) % n), ((one[0] + 1) % n, one[1])
    if other == across:
        right[one] += table
    elif other == below:
        down[one] += table
    elif one in ((other[0], (other[1] + 1) % n), ((other[0] + 1) % n, other[1])):
        _add_edge(right, down, other, one, table.T)
    else:
        raise SystemExit(f"no edge of a grid: {one} and {other}")


@njit
def score(x, grid):  # type: ignore[no-untyped-def]
    """The log score. Cost: the grid."""
    n, total = len(x), 0.0
    for r in range(n):
        for c in range(n):
            total += grid.unary[r, c, x[r, c]]
            if c + 1 < n or grid.wraps:
                total += grid.right[r, c, x[r, c], x[r, (c + 1) % n]]
            if r + 1 < n or grid.wraps:
                total += grid.down[r, c, x[r, c], x[(r + 1) % n, c]]
    return total


@njit
def _outer_terms(x, grid, inside, r, c, value):  # type: ignore[no-untyped-def]
    """What a value is worth with the neighbours that the block leaves as they are."""
    n, total = len(x), grid.unary[r, c, value]
    if (c + 1 < n or grid.wraps) and not inside[r, (c + 1) % n]:
        total += grid.right[r, c, value, x[r, (c + 1) % n]]
    if (c > 0 or grid.wraps) and not inside[r, (c - 1) % n]:
        total += grid.right[r, (c - 1) % n, x[r, (c - 1) % n], value]
    if (r + 1 < n or grid.wraps) and not inside[(r + 1) % n, c]:
        total += grid.down[r, c, value, x[(r + 1) % n, c]]
    if (r > 0 or grid.wraps) and not inside[(r - 1) % n, c]:
        total += grid.down[(r - 1) % n, c, x[(r - 1) % n, c], value]
    return total


@njit
def _terms(x, grid, room, step, width, upright):  # type: ignore[no-untyped-def]
    """[value across, value along, own value] what the variable of a step adds."""
    r, c = room.cells[step]
    n, i = len(x), step % width
    up, left = grid.down[(r - 1) % n, c], grid.right[r, (c - 1) % n]
    has_across = i > 0 and room.inside[room.cells[step - 1, 0], room.cells[step - 1, 1]]
    has_along = step >= width and room.inside[room.cells[step - width, 0], room.cells[step - width, 1]]
    terms = np.empty((2, 2, 2))
    for own in range(2):
        outer = _outer_terms(x, grid, room.inside, r, c, own)
        for a in range(2):
            for b in range(2):
                across = (left if upright else up)[a, own] if has_across else 0.0
                along = (up if upright else left)[b, own] if has_along else 0.0
                terms[a, b, own] = outer + across + along
    return terms


@njit
def _pass_over(room, now, after, step, bit):  # type: ignore[no-untyped-def]
    """A variable that the block leaves alone: forget its place on the frontier."""
    for state in range(len(now)):
        if state & bit == 0:
            takes_one = now[state | bit] > now[state]
            after[state] = now[state | bit] if takes_one else now[state]
            after[state | bit] = -1e300
            room.choices[step, state] = takes_one


@njit
def _eliminate(room, now, after, step, width, terms):  # type: ignore[no-untyped-def]
    """Put a variable in the place of the one it follows on the frontier."""
    i = step % width
    bit, across = 1 << i, (1 << (i - 1) if i > 0 else 0)
    for state in range(len(now)):
        if state & bit == 0:
            a = 1 if state & across else 0
            for own in range(2):
                zero, one = now[state] + terms[a, 0, own], now[state | bit] + terms[a, 1, own]
                target = state | bit if own else state
                after[target] = max(zero, one)
                room.choices[step, target] = one > zero


@njit
def set_block(x, grid, room, top, left, width, length, upright):  # type: ignore[no-untyped-def]
    """Give a strip its best joint assignment. Cost: its variables x 2^width."""
    n, count = len(x), width * length
    for step in range(count):
        i, j = step % width, step // width
        r, c = ((top + j) % n, (left + i) % n) if upright else ((top + i) % n, (left + j) % n)
        room.cells[step, 0], room.cells[step, 1] = r, c
        room.inside[r, c] = grid.free[r, c] and not room.held[r, c]
    now, after = room.now, room.after
    now[:] = -1e300
    now[0] = 0.0
    for step in range(count):
        if room.inside[room.cells[step, 0], room.cells[step, 1]]:
            _eliminate(room, now, after, step, width, _terms(x, grid, room, step, width, upright))
        else:
            _pass_over(room, now, after, step, 1 << (step % width))
        now, after = after, now
    state = np.argmax(now)
    for step in range(count - 1, -1, -1):
        bit = 1 << (step % width)
        r, c = room.cells[step]
        if room.inside[r, c]:
            x[r, c] = 1 if state & bit else 0
        state = state | bit if room.choices[step, state] else state & ~bit
        room.inside[r, c] = False


@njit
def _perturb(x, grid, room, row, column, radius):  # type: ignore[no-untyped-def]
    """Flip most of the free variables around a place, and hold them."""
    n = len(x)
    for dr in range(-radius, radius + 1):
        for dc in range(-radius, radius + 1):
            r, c = row + dr, column + dc
            if grid.wraps:
                r, c = r % n, c % n
            is_near = 0 <= r < n and 0 <= c < n and abs(dr) + abs(dc) <= radius
            if is_near and grid.free[r, c] and np.random.random() < 0.7:  # noqa: NPY002 - what numba has
                x[r, c] = 1 - x[r, c]
                room.held[r, c] = True


@njit
def move(x, grid, room, width, best):  # type: ignore[no-untyped-def]
    """Perturb, three blocks, judge; return the score that stays."""
    n, before = len(x), x.copy()
    row, column = np.random.randint(n), np.random.randint(n)  # noqa: NPY002
    upright = np.random.random() < 0.5  # noqa: NPY002
    length = int(width * math.exp(np.random.random() * math.log(LONGEST / width)))  # noqa: NPY002
    _perturb(x, grid, room, row, column, 1 + np.random.randint(max(1, width // 2)))  # noqa: NPY002
    for _ in range(3):
        height, breadth = (length, width) if upright else (width, length)
        top = row - height // 2 + np.random.randint(-1, 2)  # noqa: NPY002
        left = column - breadth // 2 + np.random.randint(-1, 2)  # noqa: NPY002
        if not grid.wraps:
            top, left = min(max(top, 0), n - height), min(max(left, 0), n - breadth)
        set_block(x, grid, room, top % n, left % n, width, length, upright)
        room.held[:] = False
        upright = not upright
    after = score(x, grid)
    if after >= best - 1e-12:
        return after
    x[:] = before
    return best


@njit
def set_seed(seed):  # type: ignore[no-untyped-def]
    """Begin compiled code's own random stream."""
    np.random.seed(seed)  # noqa: NPY002


@njit
def moves(x, grid, room, width, best, count):  # type: ignore[no-untyped-def]
    """Some moves in a row."""
    for _ in range(count):
        best = move(x, grid, room, width, best)
    return best


def block_scores(
    model: GraphicalModel, evidence: dict[int, int], wraps: bool, width: int, marks: list[float], seed: int
) -> list[float]:
    """The score at each mark, from a random start."""
    grid = grid_of(model, evidence, wraps)
    n = len(grid.free)
    start = np.random.default_rng(seed).integers(0, 2, n * n)
    start[list(evidence)] = list(evidence.values())
    x, states, count = start.reshape(n, n), 1 << width, width * LONGEST
    flags = np.zeros((2, n, n), dtype=np.bool_)
    choices, cells = np.zeros((count, states), dtype=np.int8), np.zeros((count, 2), dtype=np.int64)
    room = Room(np.empty(states), np.empty(states), choices, flags[0], cells, flags[1])
    moves(x.copy(), grid, room, width, -np.inf, 1)  # compile outside the clock
    set_seed(seed)
    best, found, began = score(x, grid), [], process_time()
    while len(found) < len(marks):
        best = moves(x, grid, room, width, best, MOVES_A_CALL)
        found += [best] * sum(process_time() - began >= mark for mark in marks[len(found) :])
    assert abs(model.log_score(x.ravel()) - best) < 1e-6
    return found


def main() -> None:
    parser = options(__doc__, MODELS)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--first", type=int, default=6, help="only so many of the queries sampled")
    parser.add_argument("--widths", nargs="+", type=int, default=[4, 6, 8, 10])
    arguments = parser.parse_args()
    setattr(search, "perf_counter", process_time)  # noqa: B010 - tree moves by the same clock
    marks = [arguments.seconds / 10, arguments.seconds / 3, arguments.seconds]
    strategies = {"tree, no restarts": Tree(restart_idle=0), "tree": Tree()}
    for name in arguments.models:
        model, evidences = load(arguments.data, name, arguments.queries, arguments.seed)
        chosen = evidences[: arguments.first]
        for width in arguments.widths:
            rows = [block_scores(model, e, "wrap" in name, width, marks, k) for k, e in enumerate(chosen)]
            print(f"{name:20} width {width:<12} {np.round(np.mean(rows, axis=0), 2)}", flush=True)
        for label, strategy in strategies.items():
            results = [solve(model, e, strategy=strategy, stop=MaxRuntime(marks[-1])) for e in chosen]
            means = np.mean([result.trace.best_after(marks) for result in results], axis=0)
            print(f"{name:20} {label:18} {np.round(means, 2)}", flush=True)


if __name__ == "__main__":
    main()
