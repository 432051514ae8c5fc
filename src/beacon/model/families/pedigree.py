"""Pedigrees: alleles handed down a family tree, seen only through the phenotypes of some people."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beacon.errors import check_count, check_number, check_seed
from beacon.model.factors import Factor
from beacon.model.families.settings import check_amount, check_size
from beacon.model.graphical_model import GraphicalModel

SIDES = ("paternal", "maternal")


def pedigree(
    num_founders: int = 10,
    num_children: int = 30,
    *,
    num_loci: int = 4,
    max_alleles: int = 4,
    typed: float = 0.6,
    recombination: float = 0.1,
    seed: int = 0,
) -> GraphicalModel:
    """Family tree with two alleles per person and locus, and deterministic tables of inheritance.

    A child's allele is a copy of one of its parent's two, chosen by a selector variable; selectors of
    neighbouring loci agree except with probability ``recombination``. A share ``typed`` of the people
    have known phenotypes, taken from a simulation of the tree: a phenotype is a variable with that single
    value, and its factor is zero for alleles that do not show it.
    """
    check_amount("num_founders", num_founders, 2)
    check_amount("num_children", num_children, 0)
    check_amount("num_loci", num_loci, 1)
    check_count("max_alleles", max_alleles, 2, 20)
    check_number("typed", typed, 0, 1)
    check_number("recombination", recombination, 0, 0.5)
    check_seed(seed)
    people = num_founders + num_children
    check_size(5 * people * num_loci, 4 * num_children * num_loci * max_alleles**3)
    rng = np.random.default_rng(seed)
    tree = _FamilyTree(num_loci, max_alleles, recombination, rng)
    for _ in range(num_founders):
        tree.add_founder()
    for _ in range(num_children):
        tree.add_child()
    for person in np.flatnonzero(rng.random(people) < typed).tolist():
        tree.add_phenotypes(person)
    return GraphicalModel(tuple(tree.names), tuple(tree.labels), tuple(tree.factors))


class _FamilyTree:
    """Variables and factors so far, with the value each variable has in one simulated family."""

    def __init__(
        self, num_loci: int, max_alleles: int, recombination: float, rng: np.random.Generator
    ) -> None:
        self.rng = rng
        self.recombination = recombination
        self.num_alleles = rng.integers(2, max_alleles + 1, num_loci).tolist()
        self.frequencies = [rng.dirichlet(np.full(k, 5.0)) for k in self.num_alleles]
        self.names: list[str] = []
        self.labels: list[tuple[str, ...]] = []
        self.factors: list[Factor] = []
        self.simulated: list[int] = []
        self.alleles: list[list[tuple[int, int]]] = []  # of each person, at each locus: the two variables

    def add_variable(self, name: str, labels: tuple[str, ...], value: int) -> int:
        self.names.append(name)
        self.labels.append(labels)
        self.simulated.append(value)
        return len(self.names) - 1

    def add_factor(self, scope: tuple[int, ...], table: NDArray[np.float64]) -> None:
        with np.errstate(divide="ignore"):
            self.factors.append(Factor(scope, np.log(table)))

    def add_allele(self, locus: int, side: str, value: int) -> int:
        labels = tuple(f"allele_{k}" for k in range(self.num_alleles[locus]))
        return self.add_variable(f"person{len(self.alleles)}_locus{locus}_{side}", labels, value)

    def add_founder(self) -> None:
        loci = []
        for locus, frequencies in enumerate(self.frequencies):
            values = self.rng.choice(len(frequencies), 2, p=frequencies).tolist()
            paternal, maternal = (self.add_allele(locus, *pair) for pair in zip(SIDES, values, strict=True))
            self.add_factor((paternal,), frequencies)
            self.add_factor((maternal,), frequencies)
            loci.append((paternal, maternal))
        self.alleles.append(loci)

    def add_child(self) -> None:
        parents = self.rng.choice(len(self.alleles), 2, replace=False).tolist()
        paternal, maternal = (self._inherit(*pair) for pair in zip(SIDES, parents, strict=True))
        self.alleles.append(list(zip(paternal, maternal, strict=True)))

    def _inherit(self, side: str, parent: int) -> list[int]:
        """The alleles a child has from one parent, locus by locus."""
        inherited, selector = [], -1
        for locus, pair in enumerate(self.alleles[parent]):
            selector = self._add_selector(locus, side, selector)
            copied = self.simulated[pair[self.simulated[selector]]]
            allele = self.add_allele(locus, side, copied)
            self.add_factor((*pair, selector, allele), _inheritance_table(self.num_alleles[locus]))
            inherited.append(allele)
        return inherited

    def _add_selector(self, locus: int, side: str, previous: int) -> int:
        """Which of the parent's alleles is handed down: linked to the choice at the locus before."""
        chance = self.recombination if previous >= 0 else 0.5
        before = self.simulated[previous] if previous >= 0 else 0
        value = before ^ int(self.rng.random() < chance)
        selector = self.add_variable(f"person{len(self.alleles)}_locus{locus}_{side}_selector", SIDES, value)
        if previous < 0:
            self.add_factor((selector,), np.array([0.5, 0.5]))
        else:
            self.add_factor((previous, selector), np.array([[1 - chance, chance], [chance, 1 - chance]]))
        return selector

    def add_phenotypes(self, person: int) -> None:
        """The unordered pair of alleles of each locus, as simulated."""
        for locus, pair in enumerate(self.alleles[person]):
            low, high = sorted(self.simulated[i] for i in pair)
            phenotype = self.add_variable(f"person{person}_locus{locus}_phenotype", (f"{low}/{high}",), 0)
            table = np.zeros((self.num_alleles[locus], self.num_alleles[locus], 1))
            table[[low, high], [high, low]] = 1
            self.add_factor((*pair, phenotype), table)


def _inheritance_table(num_alleles: int) -> NDArray[np.float64]:
    """[paternal, maternal, selector, child]: the child's allele is the selected one."""
    copy = np.eye(num_alleles)
    paternal, maternal = np.broadcast_arrays(copy[:, None, :], copy[None, :, :])
    return np.stack([paternal, maternal], axis=2)
