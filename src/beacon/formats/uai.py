"""UAI models (MARKOV and BAYES), and LG: the same with natural logs in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.errors import ModelError
from beacon.formats.tokens import Tokens, append, shortened
from beacon.io.files import TextFile
from beacon.model.factors import MAX_TABLE_ENTRIES, Factors, first_repeat, starts_of, table_sizes
from beacon.model.graphical_model import MAX_SCOPE, GraphicalModel

Ints = NDArray[np.integer]
_BLOCK = 1 << 16  # factors that are written, or entries that are moved, at a time


def read(source: str | TextFile, path: str, *, logs: bool = False) -> GraphicalModel:
    """Read a model; ``logs`` says that the tables hold natural logs (LG), where -inf is a zero."""
    tokens = Tokens(source, path)
    word = tokens.next_word("MARKOV or BAYES")
    if word.upper() not in ("MARKOV", "BAYES"):
        tokens.fail(f"expected MARKOV or BAYES as the first word, found {shortened(word)!r}")
    domain_sizes = tokens.next_ints(tokens.next_int("the number of variables"), "a domain size", low=1)
    if problem := tokens.budget.problem_with_domains(domain_sizes.tolist()):
        tokens.fail(problem)
    arities, variables, sizes = _read_scopes(tokens, domain_sizes)
    log_table = _read_tables(tokens, sizes, logs)
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


def _read_scopes(tokens: Tokens, domain_sizes: NDArray[np.int64]) -> tuple[Ints, Ints, Ints]:
    """The number of variables of each factor, all scopes, and the number of entries that each table needs."""
    num_factors, num_variables = tokens.next_int("the number of factors"), len(domain_sizes)
    first, part = tokens.position, -1
    arities, variables = np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int32)
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
        append(arities, some)
        append(variables, members)
    sizes = table_sizes(domain_sizes, starts_of(arities), variables)
    if (sizes > MAX_TABLE_ENTRIES).any():
        index = int(sizes.argmax())
        token = first + index + int(arities[: index + 1].sum())
        tokens.fail(f"factor {index}: its table would have more than {MAX_TABLE_ENTRIES} entries", token)
    return arities, variables, sizes


def _scopes_ahead(tokens: Tokens, most: int, num_variables: int) -> tuple[Ints, Ints]:
    """Read the scopes that are complete in this part of the file; none if one of them is wrong."""
    ahead = tokens.whole_ahead()
    listed, end = _where_scopes_begin(ahead.tolist(), most, min(num_variables, MAX_SCOPE))
    begins = np.array(listed, dtype=np.int64)
    arities, variables = ahead[begins], np.delete(ahead[:end], begins)
    is_wrong = ((variables < 0) | (variables >= num_variables)).any()
    if is_wrong or first_repeat(starts_of(arities), variables) is not None:
        return ahead[:0], ahead[:0]
    tokens.skip(end)
    return arities, variables


def _where_scopes_begin(numbers: list[int], most: int, max_length: int) -> tuple[list[int], int]:
    """Where complete scopes begin, and where the last of them ends."""
    begins, at = list[int](), 0
    while at < len(numbers) and len(begins) < most:
        after = at + 1 + numbers[at]
        if not 0 <= numbers[at] <= max_length or after > len(numbers):
            break
        begins.append(at)
        at = after
    return begins, at


def _read_scope(tokens: Tokens, index: int, num_variables: int) -> list[int]:
    length = tokens.next_int(f"the number of variables in the scope of factor {index}", high=num_variables)
    if length > MAX_SCOPE:
        tokens.fail(f"factor {index}: a scope may have at most {MAX_SCOPE} variables, found {length}")
    scope = tokens.next_int_list(length, f"a variable in the scope of factor {index}", high=num_variables - 1)
    if len(set(scope)) != length:
        tokens.fail(f"factor {index}: a scope must not repeat a variable, found {scope}")
    return scope


def _read_tables(tokens: Tokens, sizes: Ints, logs: bool) -> NDArray[np.float64]:
    """All log tables, read as one block: each table is led by its number of entries."""
    first = tokens.position
    starts = starts_of(sizes + 1)
    numbers = tokens.up_to_floats(int(starts[-1]), "a table entry")
    _check_table_sizes(tokens, first, numbers, starts, sizes)
    _check_entries(tokens, first, numbers, logs)
    _drop(numbers, starts[:-1])
    if not logs:
        with np.errstate(divide="ignore"):
            np.log(numbers, out=numbers)
    return numbers


def _drop(numbers: NDArray[np.float64], places: Ints) -> None:
    """Take out the numbers at some places; what is left moves up, for there may be no room for a copy."""
    is_left = np.ones(len(numbers), dtype=np.bool_)
    is_left[places] = False
    count = 0
    for first in range(0, len(numbers), _BLOCK):
        block = slice(first, first + _BLOCK)
        left = numbers[block][is_left[block]]
        numbers[count : count + len(left)] = left
        count += len(left)
    numbers.resize(count, refcheck=False)


def _check_table_sizes(
    tokens: Tokens, first: int, numbers: NDArray[np.float64], starts: Ints, sizes: Ints
) -> None:
    """Compare the sizes in the file with those the scopes need; a wrong one explains a missing end too."""
    num_found = int(np.searchsorted(starts[:-1], len(numbers)))
    is_wrong = numbers[starts[:num_found]] != sizes[:num_found]
    if is_wrong.any():
        index = int(is_wrong.argmax())
        token = first + int(starts[index])
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
