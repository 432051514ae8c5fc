"""Ergo files (.erg): the Bayesian networks of the competitions of 2006 and 2008."""

from __future__ import annotations

import math
import re

import numpy as np

from beacon.formats.bayes_tables import problem_with_parents
from beacon.formats.tokens import Tokens, problem_with_scope
from beacon.model.factors import MAX_TABLE_ENTRIES, Factor
from beacon.model.graphical_model import GraphicalModel

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAMES, _LABELS = re.compile(r"/\*\s*names\b", re.IGNORECASE), re.compile(r"/\*\s*labels\b", re.IGNORECASE)


def without_comments(text: str) -> str:
    """The text with blanks for comments, and the same lines."""
    return COMMENT.sub(lambda comment: " " + "\n" * comment[0].count("\n"), text)


def read(text: str, path: str) -> GraphicalModel:
    """Read a network; each factor has the scope (parents …, child).

    Number of variables, domain sizes, the parents of each; then for each variable the number of entries and
    the entries, its own values for each configuration of the parents; then names and labels, if any. Rows
    need not sum to 1: in published pedigrees evidence is part of the tables.
    """
    tokens = Tokens(without_comments(text), path)
    count = tokens.next_int("the number of variables")
    sizes = tokens.next_int_list(count, "a domain size", low=1)
    if problem := tokens.budget.problem_with_domains(sizes):
        tokens.fail(problem)
    scopes = [_read_scope(tokens, child, count) for child in range(count)]
    parents = {str(scope[-1]): [str(parent) for parent in scope[:-1]] for scope in scopes}
    if problem := problem_with_parents(parents):
        tokens.fail(problem)
    factors = tuple(_read_factor(tokens, scope, sizes) for scope in scopes)
    plain = GraphicalModel.from_tables(sizes, ())
    names, labels = plain.names, plain.labels
    if _NAMES.search(text):
        names = tuple(tokens.next_word("the name of a variable") for _ in sizes)
    if _LABELS.search(text):
        labels = tuple(tuple(tokens.next_word("a label") for _ in range(size)) for size in sizes)
    tokens.expect_end()
    return GraphicalModel(names, labels, factors)


def _read_scope(tokens: Tokens, child: int, count: int) -> tuple[int, ...]:
    num_parents = tokens.next_int(f"the number of parents of variable {child}", high=count - 1)
    parents = tokens.next_int_list(num_parents, f"a parent of variable {child}", high=count - 1)
    if problem := problem_with_scope([*parents, child]):
        tokens.fail(problem)
    return (*parents, child)


def _read_factor(tokens: Tokens, scope: tuple[int, ...], sizes: list[int]) -> Factor:
    shape = [sizes[i] for i in scope]
    wanted = math.prod(shape)
    if wanted > MAX_TABLE_ENTRIES:
        tokens.fail(f"variable {scope[-1]}: its table would have more than {MAX_TABLE_ENTRIES} entries")
    tokens.next_int(f"{wanted}, the number of entries of variable {scope[-1]}", low=wanted, high=wanted)
    first = tokens.position
    rows = tokens.next_floats(wanted, "a probability").reshape(-1, shape[-1])
    is_good = (rows >= 0) & (rows < np.inf)
    if not is_good.all():
        bad = first + int(is_good.argmin())
        tokens.fail(f"expected a probability, found {tokens.word_at(bad)!r}", bad)
    with np.errstate(divide="ignore"):
        return Factor(scope, np.log(rows).reshape(shape))
