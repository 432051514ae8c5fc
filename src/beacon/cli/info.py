"""``beacon info``: what a model is like, and what a query on it will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from beacon.cli.console import ProgressBar, one_line, say, say_json, say_table
from beacon.cli.options import Json, ModelFile, Quiet, option

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel

MOST_LABELS = 20


def info(
    model_file: ModelFile,
    *,
    json: Json = False,
    variables: Annotated[bool, option("--variables", "List the variables and their values, too.")] = False,
    timing: Annotated[
        bool,
        option(
            "--timing/--no-timing",
            "Measure what exactness and a step cost, and whether a guide would be worth its training (2 s).",
        ),
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Show what a model is like, what a query on it will cost, and whether training a guide is worth it.

    Example:  beacon info alarm.bif --variables
    """
    from beacon.evaluation.model_facts import (  # noqa: PLC0415
        exactness_facts,
        facts_in_words,
        measured_facts,
        model_facts,
    )
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.query.query_set import DEFAULT_COUNT  # noqa: PLC0415

    model = read_model(model_file)
    facts = model_facts(model) | {"exactness": None, "seconds_per_1000_steps": None, "training": None}
    if timing:
        with ProgressBar("measuring", None, quiet):
            facts["exactness"] = exactness_facts(model)
            facts |= measured_facts(model, DEFAULT_COUNT)
    if json:
        listed = {"names": list(model.names), "labels": [list(values) for values in model.labels]}
        say_json(facts | (listed if variables else {}))
        return
    say_table([("model", model_file), *facts_in_words(facts)])
    if variables:
        say("")
        _list_variables(model)


def _list_variables(model: GraphicalModel) -> None:
    """One variable a line: index, name and value labels."""
    width = max(map(len, model.names), default=0)
    for index, (name, labels) in enumerate(zip(model.names, model.labels, strict=True)):
        values = ", ".join(labels[:MOST_LABELS]) + (", …" if len(labels) > MOST_LABELS else "")
        say(f"{index:>6}  {one_line(name):<{width}}  {one_line(values)}")
