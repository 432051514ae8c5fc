"""``beacon info``: what a model is like, and what a query on it will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

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
            "Measure what a step costs and whether a guide would be worth its training (2 s).",
        ),
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Show what a model is like, what a query on it will cost, and whether training a guide is worth it.

    Example:  beacon info alarm.bif --variables
    """
    from beacon.evaluation.model_facts import measured_facts, model_facts  # noqa: PLC0415
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.io.settings import default_of  # noqa: PLC0415
    from beacon.query.query_set import sample_queries  # noqa: PLC0415

    model = read_model(model_file)
    facts = model_facts(model) | {"seconds_per_1000_steps": None, "training": None}
    if timing:
        with ProgressBar("measuring", None, quiet):
            facts |= measured_facts(model, default_of(sample_queries, "count"))
    if json:
        listed = {"names": list(model.names), "labels": [list(values) for values in model.labels]}
        say_json(facts | (listed if variables else {}))
        return
    say_table([("model", model_file), *_described(facts)])
    if variables:
        say("")
        _list_variables(model)


def _described(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts for a person."""
    cost = facts["seconds_per_1000_steps"]
    single = f" ({facts['single_valued']:,} of them with a single value)" if facts["single_valued"] else ""
    rows = [
        ("variables", f"{facts['variables']:,}{single}, at most {facts['max_domain']} values each"),
        ("factors", f"{facts['factors']:,}, each over at most {facts['max_scope']} variables"),
        ("tables", f"{facts['entries']:,} entries, {_size(facts['table_bytes'])}"),
        ("zeros", f"{facts['zero_fraction']:.1%} of the entries"),
        ("kind", "Bayesian network" if facts["bayesian_network"] else "Markov network"),
        ("width bound", f"{facts['width_bound']} (upper bound on the treewidth, by min-fill)"),
        ("fingerprint", facts["fingerprint"]),
    ]
    if cost is not None:
        speed = f"{float(f'{1000 / cost:.2g}'):,.0f} steps a second"  # 0.1 s measure no more than two digits
        rows.append(("search cost", f"{1000 * cost:.2g} ms for 1,000 gls+ steps, {speed}"))
    if facts["training"] is not None:
        rows += _training(facts["training"])
    return rows


def _training(training: dict[str, Any]) -> list[tuple[str, str]]:
    from beacon.learn.prospect import duration  # noqa: PLC0415

    references, learning = (duration(training[f"{stage}_seconds"]) for stage in ("reference", "training"))
    cost = f"about {references} for the references of {training['queries']:,} queries"
    return [
        ("to train", f"{cost}, then {learning} for the fast guide"),
        ("training is", training["sentence"]),
    ]


def _size(num_bytes: int) -> str:
    power = min(3, max(0, num_bytes.bit_length() - 1) // 10)
    return f"{num_bytes / 1024**power:,.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"


def _list_variables(model: GraphicalModel) -> None:
    """One variable a line: index, name and value labels."""
    width = max(map(len, model.names), default=0)
    for index, (name, labels) in enumerate(zip(model.names, model.labels, strict=True)):
        values = ", ".join(labels[:MOST_LABELS]) + (", …" if len(labels) > MOST_LABELS else "")
        say(f"{index:>6}  {one_line(name):<{width}}  {one_line(values)}")
