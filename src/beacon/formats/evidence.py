"""Evidence: UAI files of one or several queries, and Ergo's of one.

A file holds either one query, ``n v1 x1 .. vn xn``, or a number of queries and then that many such blocks.
``0`` and ``1 0`` both mean one query without evidence; a file without tokens is an error. Comments, as
``/* Evidence */`` in files of Ergo, do not count.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beacon.errors import FormatError
from beacon.formats.ergo import without_comments
from beacon.formats.tokens import Tokens
from beacon.io.files import read_text, write_text
from beacon.model.graphical_model import GraphicalModel

log = logging.getLogger("beacon.formats")


class _Block(NamedTuple):
    """Where one query is among the numbers of a file."""

    first: int
    num_pairs: int


def read_evidence(path: str | os.PathLike[str], model: GraphicalModel) -> list[dict[int, int]]:
    """Read the evidence of one or several queries, each as variable index -> value index.

    A few files read both as one query and as several: then they are one query, unless it does not fit the
    model, or the number of queries and each query stand on lines of their own. Where it does not fit, or a
    single line may have been cut off, a warning says how the file was read.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> beacon.write_evidence("one.evid", {0: 1})
    >>> beacon.read_evidence("one.evid", model)
    [{0: 1}]
    """
    text = read_text(path)
    tokens = Tokens(without_comments(text), os.fspath(path))
    if not tokens.remaining:
        tokens.fail("expected the number of observations, found nothing; write 0 for no evidence")
    numbers = tokens.next_int_list(tokens.remaining, "a number of observations, a variable or a value")
    problems: list[FormatError] = []
    for blocks in _readings(tokens, numbers, text):
        try:
            queries = [_read_block(tokens, numbers, block, model) for block in blocks]
        except FormatError as problem:
            problems.append(problem)
            continue
        _warn_if_unlikely(os.fspath(path), text, queries, problems)
        return queries
    raise problems[0]


def _warn_if_unlikely(
    path: str, text: str, queries: list[dict[int, int]], problems: Sequence[FormatError]
) -> None:
    """Say how a file was read that may have been meant otherwise."""
    if problems and len(queries) > 1:
        log.warning("read as %d queries, since it does not fit as one: %s", len(queries), problems[0])
    elif text.split() == ["1", "0"] and len(text.strip().splitlines()) == 1:
        log.warning("%s: read as one query without evidence; is the line cut off? 0 says the same", path)


def write_evidence(path: str | os.PathLike[str], evidence: Mapping[int, int]) -> None:
    """Write the evidence of one query, variable index -> value index, in the form ``n v1 x1 .. vn xn``.

    >>> from pathlib import Path
    >>> import beacon
    >>> beacon.write_evidence("two.evid", {0: 1, 5: 0})
    >>> print(Path("two.evid").read_text(), end="")
    2 0 1 5 0
    """
    pairs = [f"{variable} {value}" for variable, value in evidence.items()]
    write_text(path, " ".join([str(len(pairs)), *pairs]) + "\n")


def _readings(tokens: Tokens, numbers: list[int], text: str) -> list[list[_Block]]:
    """The ways to cut the numbers into queries, the likeliest first."""
    one, several = _single_block(numbers), _counted_blocks(numbers)
    if not one and not several:
        pairs = numbers[0]
        tokens.fail(
            f"expected {pairs} pairs of variable and value ({1 + 2 * pairs} tokens), or {pairs} queries "
            f"that each begin with their number of pairs; found {len(numbers)} tokens"
        )
    line_lengths = [len(line.split()) for line in text.splitlines() if line.strip()]
    if several and line_lengths == [1, *(1 + 2 * block.num_pairs for block in several)]:
        return [reading for reading in (several, one) if reading]
    return [reading for reading in (one, several) if reading]


def _single_block(numbers: list[int]) -> list[_Block]:
    return [_Block(1, numbers[0])] if len(numbers) == 1 + 2 * numbers[0] else []


def _counted_blocks(numbers: list[int]) -> list[_Block]:
    """The blocks after a leading number of queries; none if they do not end where the numbers do."""
    blocks: list[_Block] = []
    position = 1
    while position < len(numbers) and len(blocks) < numbers[0]:
        blocks.append(_Block(position + 1, numbers[position]))
        position += 1 + 2 * numbers[position]
    return blocks if position == len(numbers) and len(blocks) == numbers[0] else []


def _read_block(tokens: Tokens, numbers: list[int], block: _Block, model: GraphicalModel) -> dict[int, int]:
    evidence: dict[int, int] = {}
    for token in range(block.first, block.first + 2 * block.num_pairs, 2):
        variable, value = numbers[token : token + 2]
        if variable >= model.num_variables:
            tokens.fail(f"expected a variable in 0..{model.num_variables - 1}, found {variable}", token)
        if value >= len(model.labels[variable]):
            most = len(model.labels[variable]) - 1
            tokens.fail(f"expected a value of variable {variable} in 0..{most}, found {value}", token + 1)
        if evidence.setdefault(variable, value) != value:
            both = f"{evidence[variable]} and {value}"
            tokens.fail(f"variable {variable} is observed twice with different values: {both}", token + 1)
    return dict(sorted(evidence.items()))
