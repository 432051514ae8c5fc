"""``beacon queries``: sample a query set."""

from __future__ import annotations

from typing import Annotated

import typer

from beacon.cli.console import ProgressBar, one_line, say, say_json
from beacon.cli.options import Json, ModelFile, Quiet, Seed, option
from beacon.io.files import check_writable
from beacon.query.query_set import DEFAULT_COUNT, SPLITS, QuerySettings, sample_queries


def queries(
    model_file: ModelFile,
    *,
    out: Annotated[str, option("-o --out Q.parquet", "File to write (Parquet).")],
    count: Annotated[int, option("--count N", "Number of queries.", low=1)] = DEFAULT_COUNT,
    seed: Seed = 0,
    query_ratio: Annotated[
        tuple[float, float],
        typer.Option(
            "--query-ratio", metavar="LOW HIGH", help="Shares of the variables that a query asks for."
        ),
    ] = QuerySettings.query_ratio,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Sample queries: evidence that the model itself may produce, split for training, validation and test.

    Example:  beacon queries alarm.bif -o alarm.parquet --count 200
    """
    from beacon.formats import read_model  # noqa: PLC0415
    from beacon.io.parquet_file import check_parquet_name  # noqa: PLC0415
    from beacon.pipeline.pipeline import queries_in_words  # noqa: PLC0415

    check_writable(out, [model_file])
    check_parquet_name(out)
    model = read_model(model_file)
    with ProgressBar(f"sampling {count:,} queries", None, quiet):
        made = sample_queries(model, count, seed, query_ratio=query_ratio)
        made.save(out)
    if json:
        splits = {name: len(made.split(name)) for name in SPLITS}
        observed = float(made.observed.sum(axis=1).mean())
        size = {"variables": made.num_variables, "mean_observed": observed}
        say_json({"out": out, "queries": len(made), **splits, **size})
    else:
        say(one_line(f"wrote {out}: {queries_in_words(made)}"))
