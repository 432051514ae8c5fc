"""``beacon queries``: sample a query set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from beacon.cli.console import one_line, say, say_json
from beacon.cli.kernels import load_kernels
from beacon.cli.options import DEFAULT_COUNT, Json, ModelFile, Quiet, Seed, at_least
from beacon.cli.outputs import check_writable
from beacon.cli.progress import ProgressBar

if TYPE_CHECKING:
    from beacon.model.graphical_model import GraphicalModel
    from beacon.query.query_set import QuerySet


def queries(
    model_file: ModelFile,
    *,
    out: Annotated[str, typer.Option("-o", "--out", metavar="Q.parquet", help="File to write (Parquet).")],
    count: Annotated[
        int, typer.Option("--count", metavar="N", callback=at_least(1), help="Number of queries.")
    ] = DEFAULT_COUNT,
    seed: Seed = 0,
    query_ratio: Annotated[
        tuple[float, float],
        typer.Option(
            "--query-ratio", metavar="LOW HIGH", help="Shares of the variables that a query asks for."
        ),
    ] = (0.8, 0.95),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample queries: evidence that the model itself may produce, split for training, validation and test.

    Example:  beacon queries alarm.bif -o alarm.parquet --count 200
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.query.query_set import sample_queries  # noqa: PLC0415

    check_writable(out, [model_file])
    model = read_model(model_file)
    load_sampling(model, quiet)
    with ProgressBar(f"sampling {count:,} queries", None, quiet):
        made = sample_queries(model, count, seed, query_ratio=query_ratio)
        made.save(out)
    if json:
        say_json({"out": out, **facts_of(made)})
    else:
        say(one_line(f"wrote {out}: {summary_of(made)}"))


def load_sampling(model: GraphicalModel, quiet: bool) -> None:
    """GLS+ is needed where sampling has to begin at a possible assignment: with zeros, not Bayesian."""
    from beacon.model.bayes import child_of_factors  # noqa: PLC0415

    if model.zero_fraction > 0 and child_of_factors(model) is None:
        from beacon.strategies.strategy import GlsPlus  # noqa: PLC0415

        load_kernels(GlsPlus(), quiet)


def facts_of(made: QuerySet) -> dict[str, Any]:
    """A query set in numbers."""
    from beacon.query.query_set import SPLITS  # noqa: PLC0415

    splits = {name: len(made.split(name)) for name in SPLITS}
    observed = float(made.observed.sum(axis=1).mean())
    return {"queries": len(made), **splits, "variables": made.num_variables, "mean_observed": observed}


def summary_of(made: QuerySet) -> str:
    """A query set in words."""
    from beacon.query.query_set import SPLITS  # noqa: PLC0415

    splits = ", ".join(f"{len(made.split(name)):,} {name}" for name in SPLITS)
    observed = made.observed.sum(axis=1).mean()
    return f"{len(made):,} queries ({splits}); on average {observed:.1f} of {made.num_variables:,} observed"
