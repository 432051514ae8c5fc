"""A model that is served: compiled, with a solver that stays, and what can be told about it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from beacon.errors import UsageError
from beacon.evaluation.model_facts import model_facts
from beacon.evaluation.problem import network_name
from beacon.formats import read_model
from beacon.formats.costs import CostKind, cost_kind
from beacon.model.bayes import child_of_factors
from beacon.model.evidence import resolve_variable
from beacon.model.families import demo_model
from beacon.model.families.diagnosis import diseases_of, findings_of
from beacon.model.graphical_model import GraphicalModel
from beacon.runner.result import Result
from beacon.runner.show import ALL, CHANGED, Show, as_json, probabilities
from beacon.serve.ask import Question
from beacon.serve.workers import Deadline
from beacon.session import Solver
from beacon.solver import guide_and_use

if TYPE_CHECKING:
    from beacon.runner.runner import Listener
    from beacon.solver import AnyGuide

DEMO = "clinic"
MOST_FACTORS = 60  # of a variable, in the view around it
Groups = Mapping[str, list[int]]


class ServedModel:
    """One model, ready to be asked by many clients at once."""

    def __init__(
        self,
        name: str,
        model: GraphicalModel,
        *,
        guide: AnyGuide | None = None,
        costs: CostKind | None = None,
        groups: Groups | None = None,
    ) -> None:
        """Compile model and kernels; ``costs``: what the numbers of the model's file are."""
        self.name, self.model, self.costs = name, model, costs
        self._guide, self._use = guide_and_use(model, guide, None, None)
        self.groups = groups_of(model) if groups is None else groups
        self.solver = self.new_solver()
        self.facts = {"name": name, **model_facts(model)}
        self._lock = threading.Lock()

    def new_solver(self) -> Solver:
        """A solver of one's own, for a session; tables, kernels and the guide are shared."""
        return Solver(self.model, guide=self._guide, use=self._use)

    def solve(
        self,
        question: Question,
        deadline: Deadline,
        *,
        session: Solver | None = None,
        on_improvement: Listener | None = None,
    ) -> Result:
        """Answer a question, or what a session observes, before the deadline."""
        return (session or self.solver).solve(
            question.evidence if session is None else None,
            stop=question.stop(deadline.seconds_left),
            **vars(question.asked),
            on_improvement=on_improvement,
            cancelled=deadline,
        )

    def as_json(self, result: Result, question: Question) -> dict[str, Any]:
        """The answer as ``beacon solve --json`` has it, with the variables that were asked for."""
        made = as_json(result, costs=self.costs)
        if question.ask.probability:
            made |= probabilities(result)
        if question.show.word != ALL:
            names = self._shown(result, question.show)
            for key in ("named_assignment", "margins", "margins_at_least"):
                if key in made:
                    made[key] = {name: made[key][name] for name in names if name in made[key]}
        return made

    def described(self) -> dict[str, Any]:
        """Sizes, variables with their values, and groups."""
        names, labels = self.model.names, self.model.labels
        variables = [{"name": name, "values": values} for name, values in zip(names, labels, strict=True)]
        groups = {group: [names[i] for i in members] for group, members in self.groups.items()}
        return self.facts | {"list": variables, "groups": groups}

    def around(self, variable: str) -> dict[str, Any]:
        """A variable with its factors and their other variables, as far as a small picture goes."""
        center = resolve_variable(self.model, variable)
        factors = [self.model.factors[k] for k in self._variable_to_factors[center]]
        scopes = [[self.model.names[i] for i in factor.scope] for factor in factors[:MOST_FACTORS]]
        return {"name": self.model.names[center], "num_factors": len(factors), "factors": scopes}

    def _shown(self, result: Result, show: Show) -> Iterable[str]:
        names = self.model.names
        if show.variables:
            return [names[i] for i in show.variables]
        free = [name for i, name in enumerate(names) if i not in result.evidence]
        if show.word != CHANGED:
            return free
        changes = result.changes_against(self._unobserved)
        return [name for name in free if name in changes]

    @property
    def _unobserved(self) -> Result:
        """The answer without any evidence, found when it is first asked for."""
        with self._lock:
            return self._without_evidence

    @cached_property
    def _without_evidence(self) -> Result:
        return self.solver.solve({})

    @cached_property
    def _variable_to_factors(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in self.model.names]
        for k, factor in enumerate(self.model.factors):
            for i in factor.scope:
                found[i].append(k)
        return found


def groups_of(model: GraphicalModel) -> Groups:
    """Variables of a Bayesian network: those without parents, those without children, and the others."""
    children = child_of_factors(model)
    if children is None:
        return {}
    families = [(i, set(f.scope) - {i}) for i, f in zip(children, model.factors, strict=True) if i >= 0]
    parents = set[int]().union(*(parents for _, parents in families))
    causes = {i for i, own in families if not own}
    effects = {i for i, own in families if own and i not in parents}
    between = set(range(model.num_variables)) - causes - effects
    return {"causes": sorted(causes), "between": sorted(between), "effects": sorted(effects)}


def clinic() -> ServedModel:
    """The demo's model, grouped so that it reads as a diagnosis."""
    model = demo_model()
    return ServedModel(DEMO, model, groups={"diseases": diseases_of(model), "findings": findings_of(model)})


def served_models(files: Iterable[str], guide: str | None = None) -> dict[str, ServedModel]:
    """The models of some files, by name; the demo's where there are none."""
    paths = list(files)
    if guide is not None and len(paths) != 1:
        raise UsageError(f"--guide belongs to one model; give exactly one model file (found {len(paths)})")
    if not paths:
        return {DEMO: clinic()}
    named = {network_name(path): path for path in paths}
    if len(named) < len(paths):
        raise UsageError(f"models are served by the names of their files, which must differ; found {paths}")
    return {
        name: ServedModel(name, read_model(path), guide=guide, costs=cost_kind(path))
        for name, path in named.items()
    }
