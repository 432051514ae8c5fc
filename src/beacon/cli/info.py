"""``beacon info``: what a model is like, and what a query on it will cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.console import one_line, say, say_json, say_table
from beacon.cli.options import DEFAULT_COUNT, SWITCH, Json, ModelFile, Quiet
from beacon.cli.progress import ProgressBar

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel

MOST_LABELS = 20


def info(
    model_file: ModelFile,
    *,
    json: Json = False,
    variables: Annotated[
        bool, typer.Option("--variables", metavar=SWITCH, help="List the variables and their values, too.")
    ] = False,
    timing: Annotated[
        bool,
        typer.Option(
            "--timing/--no-timing",
            metavar=SWITCH,
            help="Measure what a step costs and whether a guide would be worth its training (2 s).",
        ),
    ] = True,
    quiet: Quiet = False,
) -> None:
    """Show what a model is like, what a query on it will cost, and whether training a guide is worth it.

    Example:  beacon info alarm.bif --variables
    """
    from beacon.formats import read_model  # noqa: PLC0415

    model = read_model(model_file)
    facts = gather_facts(model)
    facts |= _measured(model, quiet) if timing else {"seconds_per_1000_steps": None, "training": None}
    if json:
        say_json(facts | (_variables(model) if variables else {}))
        return
    say_table([("model", model_file), *_described(facts)])
    if variables:
        say("")
        _list_variables(model)


def gather_facts(model: GraphicalModel) -> dict[str, Any]:
    """All that can be told without searching."""
    from beacon.model.bayes import child_of_factors  # noqa: PLC0415

    return {
        "variables": model.num_variables,
        "single_valued": int((model.domain_sizes == 1).sum()),
        "factors": model.num_factors,
        "max_domain": model.max_domain,
        "max_scope": model.max_scope,
        "entries": model.num_entries,
        "table_bytes": 8 * model.num_entries,
        "zero_fraction": model.zero_fraction,
        "bayesian_network": child_of_factors(model) is not None,
        "width_bound": model.width_bound,
        "fingerprint": model.fingerprint,
    }


def _measured(model: GraphicalModel, quiet: bool) -> dict[str, Any]:
    """What takes a search to tell."""
    from beacon.cli.kernels import load_kernels  # noqa: PLC0415
    from beacon.cli.timing import seconds_per_1000_steps  # noqa: PLC0415
    from beacon.learn.prospect import prospect_of  # noqa: PLC0415
    from beacon.strategies.strategy import Auto, GlsPlus  # noqa: PLC0415

    load_kernels(GlsPlus(), quiet)
    load_kernels(Auto(), quiet)
    with ProgressBar("measuring", None, quiet):
        prospect = prospect_of(model, DEFAULT_COUNT)
        return {
            "seconds_per_1000_steps": seconds_per_1000_steps(model, GlsPlus()),
            "training": prospect.to_dict() if prospect else None,
        }


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
        rows.append(
            (
                "search cost",
                f"{1000 * cost:.2g} ms for 1,000 gls+ steps, {_rounded(1000 / cost)} steps a second",
            )
        )
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


def _rounded(number: float) -> str:
    """To two digits: a measurement of 0.1 s says no more."""
    return f"{float(f'{number:.2g}'):,.0f}"


def _size(num_bytes: int) -> str:
    power = min(3, max(0, num_bytes.bit_length() - 1) // 10)
    return f"{num_bytes / 1024**power:,.4g} {('bytes', 'KiB', 'MiB', 'GiB')[power]}"


def _variables(model: GraphicalModel) -> dict[str, Any]:
    return {"names": list(model.names), "labels": [list(values) for values in model.labels]}


def _list_variables(model: GraphicalModel) -> None:
    """One variable a line: index, name and value labels."""
    width = max(map(len, model.names), default=0)
    for index, (name, labels) in enumerate(zip(model.names, model.labels, strict=True)):
        values = ", ".join(labels[:MOST_LABELS]) + (", …" if len(labels) > MOST_LABELS else "")
        say(f"{index:>6}  {one_line(name):<{width}}  {one_line(values)}")
