"""The tables of research/exactness.md, made from results/exact.csv and results/bounds.csv.

python benchmarks/exact_tables.py
"""

from __future__ import annotations

from pathlib import Path

from pages import ROOT, markdown, rows_of, updated

PAGE = ROOT / "research" / "exactness.md"
EXACT = {
    "within 100 ms": "within_100_ms",
    "solve": "solve_ms",
    "our kernel": "ms",
    "C++": "yardstick_ms",
    "ratio": "ratio",
    "order and eliminate": "plan_and_eliminate_ms",
    "toulbar2": "toulbar2_ms",
    "a second": "per_second_on_two_threads",
}
BOUNDS = {
    "median seconds to the proof": "median_seconds_to_proof",
    "mean gap, %": "mean_gap_percent",
    "largest gap, %": "largest_gap_percent",
}


def table(path: Path, columns: dict[str, str]) -> str:
    """How many queries of each network are proved, and what else the columns say."""
    rows = [
        [row["network"], f"{row['proved']} of {row['queries']}", *(row[name] for name in columns.values())]
        for row in rows_of(path)
    ]
    return markdown(["network", "proved", *columns], rows)


def page(results: Path) -> str:
    """The page with its tables made anew."""
    made = {
        "exact": lambda: table(results / "exact.csv", EXACT),
        "bounds": lambda: table(results / "bounds.csv", BOUNDS),
    }
    return updated(PAGE.read_text(encoding="utf-8"), made)


if __name__ == "__main__":
    PAGE.write_text(page(ROOT / "results"), encoding="utf-8")
