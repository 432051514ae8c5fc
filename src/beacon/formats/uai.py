"""UAI models (MARKOV and BAYES), and LG: the same with natural logs in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.formats.tokens import Row, Tokens, shortened
from beacon.io.files import TextFile
from beacon.model.factors import MAX_TABLE_ENTRIES, Factors, first_repeat, starts_of, table_starts
from beacon.model.graphical_model import MAX_SCOPE, GraphicalModel

Ints = NDArray[np.integer]
_BLOCK = 1 << 16  # factors that are written at a time


def read(source: str | TextFile, path: str, *, logs: bool = False) -> GraphicalModel:
    """Read a model; ``logs`` says that the tables hold natural logs (LG), where -inf is a zero."""
    tokens = Tokens(source, path)
    word = tokens.next_word("MARKOV or BAYES")
    if word.upper() not in ("MARKOV", "BAYES"):
        tokens.fail(f"expected MARKOV or BAYES as the first word, found {shortened(word)!r}")
    domain_sizes = tokens.next_ints(tokens.next_int("the number of variables"), "a domain size", low=1)
    if problem := tokens.budget.problem_with_domains(domain_sizes.tolist()):
        tokens.fail(problem)
    first = tokens.position + 1
    arities, variables = _read_scopes(tokens, len(domain_sizes))
    starts = table_starts(domain_sizes, starts_of(arities), variables)
    _check_table_sizes(tokens, starts, arities, first)
    log_table = _read_tables(tokens, starts, logs)
    del starts  # the factors make their own
    tokens.expect_end()
    return GraphicalModel.from_factors(Factors(domain_sizes, arities, variables, log_table))


def write(model: GraphicalModel, *, logs: bool = False) -> str:
    """The model as a MARKOV file in full precision; names and labels have no place in it."""
    sizes, factors = model.domain_sizes.tolist(), model.factors
    head = ["MARKOV", str(len(sizes)), " ".join(map(str, sizes)), str(len(factors))]
    blocks = [slice(first, first + _BLOCK) for first in range(0, len(factors), _BLOCK)]
    scopes = (_written_scopes(factors, block) for block in blocks)
    tables = (_written_tables(factors, block, logs) for block in blocks)
    return "\n".join([*head, *scopes, *tables, ""])


def potentials(log_table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers whose logs are ``log_table``: exactly so wherever a double has that log."""
    with np.errstate(over="ignore", under="ignore", divide="ignore"):
        best = lower = higher = np.exp(log_table)
        for _ in range(2):
            lower, higher = np.nextafter(lower, 0), np.nextafter(higher, np.inf)
            for candidate in (lower, higher):
                is_better = (np.log(candidate) == log_table) & (np.log(best) != log_table)
                best = np.where(is_better, candidate, best)
    return best


def _read_scopes(tokens: Tokens, num_variables: int) -> tuple[Ints, Ints]:
    """The number of variables of each factor, and all scopes."""
    num_factors = tokens.next_int("the number of factors")
    first, part = tokens.position, -1
    arities, variables = Row(num_factors, np.int8), Row(num_factors * MAX_SCOPE, np.int32)
    while len(arities) < num_factors:
        if tokens.is_at_end:
            found = f"found {tokens.position - first} tokens"
            tokens.fail(f"the file ends too early: expected {num_factors} factors, {found}")
        if tokens.num_parts != part:
            part = tokens.num_parts
            some, members = _scopes_ahead(tokens, num_factors - len(arities), num_variables)
        else:  # one that goes on in the next part, or a wrong one
            members = np.array(_read_scope(tokens, len(arities), num_variables), dtype=np.int64)
            some = np.array([len(members)])
        arities.append(some)
        variables.append(members)
    return arities.whole(), variables.whole()


def _scopes_ahead(tokens: Tokens, most: int, num_variables: int) -> tuple[Ints, Ints]:
    """Read the scopes that are complete in this part of the file; none if one of them is wrong."""
    ahead = tokens.whole_ahead()
    begins, end = _where_scopes_begin(ahead, most, min(num_variables, MAX_SCOPE))
    arities, variables = ahead[begins], np.delete(ahead[:end], begins)
    is_wrong = ((variables < 0) | (variables >= num_variables)).any()
    if is_wrong or first_repeat(starts_of(arities), variables) is not None:
        return ahead[:0], ahead[:0]
    tokens.skip(end)
    return arities, variables


def _where_scopes_begin(numbers: Ints, most: int, max_length: int) -> tuple[Ints, int]:
    """Where complete scopes begin, and where the last of them ends."""
    after = np.arange(len(numbers) + 1)  # the end, a wrong scope and one cut off: themselves
    ends = after[:-1] + 1 + numbers
    is_whole = (numbers >= 0) & (numbers <= max_length) & (ends <= len(numbers))
    after[:-1][is_whole] = ends[is_whole]
    begins = np.zeros(1, dtype=np.int64)
    while after[begins[-1]] != begins[-1]:  # twice as many each time: ``after`` is as many scopes ahead
        begins, after = np.concatenate([begins, after[begins]]), after[after]
    begins = begins[: np.searchsorted(begins, begins[-1]) + 1][: most + 1]
    return begins[:-1], int(begins[-1])


def _read_scope(tokens: Tokens, index: int, num_variables: int) -> list[int]:
    length = tokens.next_int(f"the number of variables in the scope of factor {index}", high=num_variables)
    if length > MAX_SCOPE:
        tokens.fail(f"factor {index}: a scope may have at most {MAX_SCOPE} variables, found {length}")
    scope = tokens.next_int_list(length, f"a variable in the scope of factor {index}", high=num_variables - 1)
    if len(set(scope)) != length:
        tokens.fail(f"factor {index}: a scope must not repeat a variable, found {scope}")
    return scope


def _check_table_sizes(tokens: Tokens, starts: Ints, arities: Ints, first: int) -> None:
    """Refuse a table that is too large to be read; ``first`` is the token at which the scopes begin."""
    if starts[-1] > MAX_TABLE_ENTRIES and (sizes := np.diff(starts)).max() > MAX_TABLE_ENTRIES:
        index = int(sizes.argmax())
        token = first + index + int(arities[: index + 1].sum())
        tokens.fail(f"factor {index}: its table would have more than {MAX_TABLE_ENTRIES} entries", token)


def _read_tables(tokens: Tokens, starts: Ints, logs: bool) -> NDArray[np.float64]:
    """All log tables, part by part: each table is led by its number of entries, which is not kept."""
    first, num_tokens = tokens.position, int(starts[-1]) + len(starts) - 1
    found = Row(int(starts[-1]), np.float64)
    factor = count = 0  # tables begun, tokens read
    wrong_factor, wrong_token = None, None  # a number that is none comes first, wherever it is
    for part in tokens.float_parts(num_tokens, "a table entry"):
        bounds = starts[factor : factor + len(part) + 1]
        leads = bounds[:-1] + np.arange(factor - count, factor - count + len(bounds) - 1)
        leads = leads[: np.searchsorted(leads, len(part))]
        if wrong_factor is None:
            is_wrong = part[leads] != np.diff(bounds[: len(leads) + 1])
            wrong_factor = factor + int(is_wrong.argmax()) if is_wrong.any() else None
        if wrong_token is None:
            is_good = (part < np.inf) if logs else (part >= 0) & (part < np.inf)
            wrong_token = None if is_good.all() else first + count + int(is_good.argmin())
        entries = np.delete(part, leads)
        if not logs:
            with np.errstate(divide="ignore", invalid="ignore"):  # what is invalid is told below
                np.log(entries, out=entries)
        found.append(entries)
        factor, count = factor + len(leads), count + len(part)
    _check_tables(tokens, first, starts, count, wrong_factor)
    if wrong_token is not None:
        wanted = "a natural log below +inf" if logs else "a finite number of at least 0"
        problem = f"expected a table entry, {wanted}, found {tokens.word_at(wrong_token)!r}"
        tokens.fail(problem, wrong_token)
    return found.whole()


def _check_tables(tokens: Tokens, first: int, starts: Ints, count: int, wrong_factor: int | None) -> None:
    """Compare the sizes in the file with those the scopes need; a wrong one explains a missing end too."""
    if wrong_factor is not None:
        token = first + int(starts[wrong_factor]) + wrong_factor
        size = starts[wrong_factor + 1] - starts[wrong_factor]
        wanted = f"expected {size}, the number of entries that its scope needs"
        tokens.fail(f"the table of factor {wrong_factor}: {wanted}, found {tokens.word_at(token)!r}", token)
    num_tokens = int(starts[-1]) + len(starts) - 1
    if count < num_tokens:
        wanted = f"{num_tokens} tokens for the tables of {len(starts) - 1} factors"
        tokens.fail(f"the file ends too early: expected {wanted}, found {count}")


def _written_scopes(factors: Factors, block: slice) -> str:
    """A line for each factor: the number of its variables, and these."""
    rows = _rows(*_cut(factors.variables, factors.scope_starts, block))
    return "\n".join(" ".join([str(len(row)), *row]) for row in rows)


def _written_tables(factors: Factors, block: slice, logs: bool) -> str:
    """A blank line, the number of entries and the entries of each table."""
    log_table, starts = factors.tables(block)
    numbers = log_table if logs else potentials(log_table)
    if not logs:
        _check_potentials(numbers, log_table, starts, block.start)
    rows = _rows(numbers, starts)
    return "\n".join(f"\n{len(row)}\n{' '.join(row)}" for row in rows)


def _rows(numbers: NDArray[Any], starts: Ints) -> Iterator[list[str]]:
    """Rows of numbers as words."""
    words = list(map(repr, numbers.tolist()))
    return (words[begin:end] for begin, end in pairwise(starts.tolist()))


def _cut(numbers: NDArray[Any], starts: Ints, block: slice) -> tuple[NDArray[Any], Ints]:
    """The rows of a block, and where they begin in it."""
    bounds = starts[block.start : block.stop + 1]
    return numbers[bounds[0] : bounds[-1]], bounds - bounds[0]


def _check_potentials(
    numbers: NDArray[np.float64], log_table: NDArray[np.float64], starts: Ints, first: int
) -> None:
    """Refuse a log-potential whose exponential no double holds: it would come back as another one."""
    with np.errstate(divide="ignore"):
        is_exact = np.log(numbers) == log_table
    is_normal = (numbers >= np.finfo(np.float64).tiny) & (numbers < np.inf)
    is_lost = ~is_exact & ~is_normal
    if is_lost.any():
        entry = int(is_lost.argmax())
        factor = first + int(np.searchsorted(starts, entry, side="right")) - 1
        raise ModelError(
            f"factor {factor}: exp({log_table[entry]:.6g}) is out of the range of a "
            "UAI file; write an .lg file (natural logs), or scale the model first"
        )
