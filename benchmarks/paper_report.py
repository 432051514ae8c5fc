"""The report of an evaluation of the paper's networks: with the published figures beside ours, and drift.

    python benchmarks/paper_report.py RUN

writes what `beacon report RUN` does with two more sections.
"""

from __future__ import annotations

import sys
from pathlib import Path

from drift import drift_store
from drift_table import Rows, drift_table, share_plot
from published import published_tables

from beacon.evaluation.evaluation import Evaluation
from beacon.report.contents import Section, make_report
from beacon.report.html import write_parts, write_report


def published_section(results: Evaluation) -> Section:
    """Figures of others beside ours."""
    text = (
        "Figures published for the same networks beside ours. The queries are drawn by the same rules, but "
        "are not the same queries. An asterisk marks a stand-in for a network that could not be obtained."
    )
    return Section("published", "Beside the published figures", text, published_tables(results))


def drift_section(results: Evaluation, drift: Rows) -> Section:
    """Whether moves lead towards the best known assignment."""
    if not drift:
        return Section("drift", "Drift", "")
    text = (
        "Do moves lead towards the best known assignment? If each does with probability α > ½, a search at "
        "distance h₀ is expected to arrive within h₀/(2α−1) moves."
    )
    return Section("drift", "Drift", text, [drift_table(results, drift)], [share_plot(results, drift)])


def write(folder: Path) -> Path:
    """Write the page and its parts."""
    results = Evaluation.load(folder)
    extra = [published_section(results), drift_section(results, drift_store(folder).rows())]
    made = make_report(results, extra)
    page = folder / "report.html"
    write_report(made, page, "Beacon on the networks of the paper")
    write_parts(made, folder)
    return page


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
