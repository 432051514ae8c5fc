"""UAI models (MARKOV and BAYES), and LG: the same with natural logs in the tables."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.formats.tokens import Tokens, shortened
from beacon.model.graphical_model import MAX_SCOPE, MAX_TABLE_ENTRIES, GraphicalModel

_LEAST_TOKENS_PER_FACTOR = 3  # the length of the scope, the size of the table, one entry


def read(text: str, path: str, *, logs: bool = False) -> GraphicalModel:
    """Read a model; ``logs`` says that the tables hold natural logs (LG), where -inf is a zero."""
    tokens = Tokens(text, path)
    word = tokens.next_word("MARKOV or BAYES")
    if word.upper() not in ("MARKOV", "BAYES"):
        tokens.fail(f"expected MARKOV or BAYES as the first word, found {shortened(word)!r}")
    domain_sizes = tokens.next_int_list(tokens.next_int("the number of variables"), "a domain size", low=1)
    if problem := tokens.budget.problem_with_domains(domain_sizes):
        tokens.fail(problem)
    scopes, table_sizes = _read_scopes(tokens, domain_sizes)
    tables = _read_tables(tokens, table_sizes, logs)
    tokens.expect_end()
    return GraphicalModel.from_tables(domain_sizes, zip(scopes, tables, strict=True))


def write(model: GraphicalModel, *, logs: bool = False) -> str:
    """The model as a MARKOV file in full precision; names and labels have no place in it."""
    sizes = model.domain_sizes.tolist()
    head = ["MARKOV", str(len(sizes)), _joined(sizes), str(model.num_factors)]
    scopes = [_joined([len(factor.scope), *factor.scope]) for factor in model.factors]
    return "\n".join([*head, *scopes, *_written_tables(model, logs), ""])


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


def _read_scopes(tokens: Tokens, domain_sizes: list[int]) -> tuple[list[list[int]], list[int]]:
    """The scope of each factor, and the number of entries that its table needs."""
    num_factors = tokens.next_int("the number of factors")
    if num_factors * _LEAST_TOKENS_PER_FACTOR > tokens.remaining:
        tokens.fail(
            f"the file ends too early: expected {num_factors} factors, found {tokens.remaining} tokens"
        )
    scopes, table_sizes = [], []
    for index in range(num_factors):
        scope = _read_scope(tokens, index, len(domain_sizes))
        size = math.prod([domain_sizes[i] for i in scope])
        if size > MAX_TABLE_ENTRIES:
            tokens.fail(f"factor {index}: its table would have more than {MAX_TABLE_ENTRIES} entries")
        scopes.append(scope)
        table_sizes.append(size)
    return scopes, table_sizes


def _read_scope(tokens: Tokens, index: int, num_variables: int) -> list[int]:
    length = tokens.next_int(f"the number of variables in the scope of factor {index}", high=num_variables)
    if length > MAX_SCOPE:
        tokens.fail(f"factor {index}: a scope may have at most {MAX_SCOPE} variables, found {length}")
    scope = tokens.next_int_list(length, f"a variable in the scope of factor {index}", high=num_variables - 1)
    if len(set(scope)) != length:
        tokens.fail(f"factor {index}: a scope must not repeat a variable, found {scope}")
    return scope


def _read_tables(tokens: Tokens, sizes: list[int], logs: bool) -> list[NDArray[np.float64]]:
    """Flat log tables, read as one block: each table is led by its number of entries."""
    first = tokens.position
    starts = list(accumulate((1 + size for size in sizes), initial=0))
    numbers = tokens.next_floats(min(starts[-1], tokens.remaining), "a table entry")
    _check_table_sizes(tokens, first, numbers, starts, sizes)
    _check_entries(tokens, first, numbers, logs)
    if not logs:
        with np.errstate(divide="ignore"):
            numbers = np.log(numbers)
    return [numbers[start + 1 : end] for start, end in pairwise(starts)]


def _check_table_sizes(
    tokens: Tokens, first: int, numbers: NDArray[np.float64], starts: list[int], sizes: list[int]
) -> None:
    """Compare the sizes in the file with those the scopes need; a wrong one explains a missing end too."""
    num_found = bisect_left(starts, len(numbers), hi=len(sizes))
    is_wrong = numbers[starts[:num_found]] != sizes[:num_found]
    if is_wrong.any():
        index = int(is_wrong.argmax())
        token = first + starts[index]
        wanted = f"expected {sizes[index]}, the number of entries that its scope needs"
        tokens.fail(f"the table of factor {index}: {wanted}, found {tokens.word_at(token)!r}", token)
    if len(numbers) < starts[-1]:
        wanted = f"{starts[-1]} tokens for the tables of {len(sizes)} factors"
        tokens.fail(f"the file ends too early: expected {wanted}, found {len(numbers)}")


def _check_entries(tokens: Tokens, first: int, numbers: NDArray[np.float64], logs: bool) -> None:
    is_good = numbers < np.inf if logs else (numbers >= 0) & (numbers < np.inf)
    if not is_good.all():
        token = first + int(is_good.argmin())
        wanted = "a natural log below +inf" if logs else "a finite number of at least 0"
        tokens.fail(f"expected a table entry, {wanted}, found {tokens.word_at(token)!r}", token)


def _written_tables(model: GraphicalModel, logs: bool) -> Iterator[str]:
    """A blank line, the number of entries and the entries of each table."""
    log_tables = np.concatenate([np.empty(0), *(factor.log_table.ravel() for factor in model.factors)])
    numbers = log_tables if logs else potentials(log_tables)
    ends = list(accumulate((factor.log_table.size for factor in model.factors), initial=0))
    if not logs:
        _check_potentials(numbers, log_tables, ends)
    words = list(map(repr, numbers.tolist()))
    for start, end in pairwise(ends):
        yield f"\n{end - start}\n{' '.join(words[start:end])}"


def _check_potentials(numbers: NDArray[np.float64], log_tables: NDArray[np.float64], ends: list[int]) -> None:
    """Refuse a log-potential whose exponential no double holds: it would come back as another one."""
    with np.errstate(divide="ignore"):
        is_exact = np.log(numbers) == log_tables
    is_normal = (numbers >= np.finfo(np.float64).tiny) & (numbers < np.inf)
    is_lost = ~is_exact & ~is_normal
    if is_lost.any():
        entry = int(is_lost.argmax())
        raise ModelError(
            f"factor {bisect_right(ends, entry) - 1}: exp({log_tables[entry]:.6g}) is out of the range of a "
            "UAI file; write an .LG file (natural logs), or scale the model first"
        )


def _joined(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
