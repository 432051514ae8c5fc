"""The tables of research/learning.md, made from results/starts.csv.

    python benchmarks/starts_tables.py [STUDY=ROWS.jsonl ...]

With rows of starts.py or tuned_default.py these studies are put into the results file first, a study for each
file; the others stay as they are.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pages import ROOT, markdown, rows_of, updated

PAGE = ROOT / "research" / "learning.md"
RESULTS = ROOT / "results" / "starts.csv"
TUNED, LATE = ROOT / "results" / "tuned.csv", ROOT / "results" / "late_crossing.csv"
MARKS = ("0.003", "0.01", "0.03", "0.1", "0.3", "1", "3")
FIRST_TIME, TIMES_A_DECADE = 0.001, 10  # of the way to the last limit, see starts.py
BASES = ("auto", "constructed")
"""What other starts are compared with: the first that a study has."""
NEAR, CLOSE = 1e-2, 1e-3  # of the score: the times to come this close
COLUMNS = ("study", "network", "query", "method", "best", "close", *MARKS, "near")
SIZES = ("grid20x20.f5.wrap", "grid40x40.f10", "grid80x80.f10", "grid 250 × 250")
SIZES += ("le450_5a_4.wcsp", "colouring 4,500")
LARGE = ("grid 250 × 250", "colouring 4,500", "RBM 500 + 500", "diagnosis 10,000", "pedigree 10,000")
UAI = ("Grids_", "ObjectDetection_", "Promedas_", "ProteinFolding_", "Segmentation_", "wcsp_13")
WON, LOST = 60, 48  # percent: what the default is to win, and not to fall below
TIE = 1e-6
Row = dict[str, str]


def keep(files: dict[str, Path]) -> None:
    """Write what each method knew at the marks, and when it was close to the best known score."""
    raw = [
        {"study": study, **json.loads(line)}
        for study, path in files.items()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    others = [row for row in rows_of(RESULTS) if row["study"] not in files] if RESULTS.exists() else []
    best: dict[tuple[str, int], float] = {}
    for row in raw:
        key = row["network"], row["query"]
        found = [score for score in (*row["scores"].values(), *row["way"]) if score is not None]
        best[key] = max([best.get(key, -np.inf), *found])
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row.get(name, "") for name in COLUMNS] for row in others)
        for row in raw:
            top = best[row["network"], row["query"]]
            close, near = (_within(row, top, share) for share in (CLOSE, NEAR))
            cells = [f"{top:.10g}", close, *(_known(row, mark) for mark in MARKS), near]
            writer.writerow([row["study"], row["network"], row["query"], row["method"], *cells])


def _within(row: dict[str, Any], best: float, share: float) -> str:
    """When the score is within a share of the best known; empty: not by the end.

    On the way of the longest search, or by the limit of a shorter one.
    """
    ends = [(FIRST_TIME * 10 ** (k / TIMES_A_DECADE), score) for k, score in enumerate(row["way"])]
    ends += [(float(limit), score) for limit, score in row["scores"].items()]
    times = [time for time, score in ends if score is not None and best - score <= share * abs(best)]
    return f"{min(times):.3g}" if times else ""


def _known(row: dict[str, dict[str, float | None]], mark: str) -> str:
    """The score at a mark, by the search with that limit, else on the way to the last; - for nothing."""
    scores, way = row["scores"], list(row["way"])
    if mark not in scores and not min(map(float, scores)) < float(mark) < max(map(float, scores)):
        return ""
    place = round(np.log10(float(mark) / FIRST_TIME) * TIMES_A_DECADE)
    score = scores[mark] if mark in scores else way[place]
    return "-" if score is None else f"{score:.10g}"


class Study:
    """The rows of one study, by network and method; ``base``: what other starts are compared with."""

    def __init__(self, rows: Iterable[Row], name: str, base: str = "") -> None:
        self.rows = [row for row in rows if row["study"] == name]
        self.networks = list(dict.fromkeys(row["network"] for row in self.rows))
        methods = list(dict.fromkeys(row["method"] for row in self.rows))
        self.base_name = base or next((name for name in BASES if name in methods), BASES[-1])
        self.methods = [name for name in methods if name != self.base_name]

    def of(self, network: str, method: str) -> dict[str, Row]:
        """The rows of a method on a network, by query."""
        return {
            row["query"]: row for row in self.rows if (row["network"], row["method"]) == (network, method)
        }

    def wins(self, network: str, method: str, mark: str) -> NDArray[np.float64]:
        """For each query 100, 50 or 0: is the method ahead of what it is compared with, level, or behind?"""
        ours, base = self.of(network, method), self.of(network, self.base_name)
        every = [(_score(ours[k], mark), _score(base[k], mark), float(ours[k]["best"])) for k in ours]
        pairs = [pair for pair in every if not np.isnan(pair[:2]).any()]
        return np.array(
            [50 if a == b or abs(a - b) <= TIE * abs(top) else 100 * (a > b) for a, b, top in pairs]
        )

    def base(self, network: str, method: str) -> dict[str, Row]:
        """The rows of what a method is compared with, on its queries."""
        asked = self.of(network, method)
        return {query: row for query, row in self.of(network, self.base_name).items() if query in asked}

    @staticmethod
    def gap(rows: Iterable[Row], mark: str) -> float:
        """Mean gap to the best known score in percent, at most 100 for a query; nan: not measured."""
        gaps = [
            min(100.0, 100 * (float(row["best"]) - _score(row, mark)) / abs(float(row["best"])))
            for row in rows
            if row[mark]
        ]
        return float(np.mean(gaps)) if gaps else np.nan

    @staticmethod
    def seconds(rows: Iterable[Row], column: str = "close") -> float:
        """The median time to come close; infinite where half of the queries or more do not.

        Of those with the longest searches alone.
        """
        some = list(rows)
        last = max((mark for mark in MARKS if any(row[mark] for row in some)), key=float)
        return float(np.median([float(row[column] or "inf") for row in some if row[last]]))

    def speed_up(self, network: str, method: str) -> float:
        """How many times as soon a method is close, by the medians; nan: neither is."""
        ours, base = (self.seconds(rows(network, method).values()) for rows in (self.of, self.base))
        return base / ours if np.isfinite(ours) else (0.0 if np.isfinite(base) else np.nan)


def _score(row: Row, mark: str) -> float:
    return float({"": "nan", "-": "-inf"}.get(row[mark], row[mark]))


def _mean(values: NDArray[np.float64]) -> str:
    """A mean and its standard error."""
    if not len(values):
        return ""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.0f} ± {error:.0f}"


def _time(seconds: float) -> str:
    return "–" if not np.isfinite(seconds) else f"{seconds:.3g}"


def summary(study: Study, marks: Iterable[str] = MARKS) -> str:
    """Win %: the mean over networks of each network's mean, with its standard error."""
    used = [mark for mark in marks if any(len(study.wins(n, study.methods[0], mark)) for n in study.networks)]
    lines = []
    for method in study.methods:
        cells = []
        for mark in used:
            means = [study.wins(network, method, mark) for network in study.networks]
            cells.append(_mean(np.array([wins.mean() for wins in means if len(wins)])))
        lines.append([method, *cells])
    return markdown(["start", *(f"{float(mark):g} s" for mark in used)], lines)


def by_network(study: Study, methods: Iterable[str]) -> str:
    """Win % with its error, and mean gaps: the method's and in brackets that of what it is compared with."""
    chosen = list(methods)
    used = [m for m in MARKS if any(len(study.wins(n, chosen[0], m)) for n in study.networks)]
    lines = []
    for network in study.networks:
        for method in (name for name in chosen if study.of(network, name)):
            cells, both = [], (study.of(network, method).values(), study.base(network, method).values())
            for mark in used:
                won = _mean(study.wins(network, method, mark))
                ours, base = (study.gap(rows, mark) for rows in both)
                cells.append(f"{won}, {ours:.3g} ({base:.3g})" if won else "")
            ours, base = (_time(study.seconds(rows)) for rows in both)
            lines.append([network, str(len(both[0])), method, *cells, f"{ours} ({base})"])
    marks = [f"{float(mark):g} s" for mark in used]
    return markdown(["network", "queries", "start", *marks, "s to 0.1 %"], lines)


def sizes(study: Study, methods: Iterable[str]) -> str:
    """The median seconds to come within 1 % and 0.1 % of the best known score, from small to large."""
    chosen, lines = list(methods), []
    for network in SIZES:
        of_method = [study.of(network, method).values() for method in chosen]
        cells = [_time(study.seconds(rows, column)) for column in ("near", "close") for rows in of_method]
        lines.append([network, *cells])
    return markdown(["network", *(f"{part}, {name}" for part in ("1 %", "0.1 %") for name in chosen)], lines)


def targets(studies: dict[str, Study]) -> str:
    """On how many networks the default is where it was to be, by what it is compared with."""
    lines = []
    for name, study in studies.items():
        kinds = [[n for n in study.networks if _kind(n) == kind] for kind in range(3)]
        for said, is_met in (
            (f"at least {WON} % at 0.1 s", lambda n, s=study: s.wins(n, "default", "0.1").mean() >= WON),
            (f"nowhere below {LOST} %", lambda n, s=study: _worst(s, n) >= LOST),
            ("within 0.1 % in half the time", lambda n, s=study: s.speed_up(n, "default") >= 2),
            ("within 0.1 % in a quarter of the time", lambda n, s=study: s.speed_up(n, "default") >= 4),
        ):
            counts = [f"{sum(bool(is_met(n)) for n in some)} of {len(some)}" for some in kinds]
            lines.append([name, said, *counts])
    return markdown(["against", "", "the paper's", "competition's", "large"], lines)


def _worst(study: Study, network: str) -> float:
    """The least share of queries that the default wins at any mark."""
    wins = (study.wins(network, "default", mark) for mark in MARKS)
    return min(float(won.mean()) for won in wins if len(won))


def _kind(network: str) -> int:
    """0: of the paper, 1: of the competition, 2: large."""
    return 2 if network in LARGE else int(network.startswith(UAI))


def tables() -> dict[str, str]:
    """All tables by name."""
    rows = rows_of(RESULTS)
    study = {name: Study(rows, name) for name in dict.fromkeys(row["study"] for row in rows)}
    curve = ("scattered 10 %", "clusters 2 %", "clusters 10 %", "optimum")
    constructed = Study(rows, "default", "constructed")
    return {
        "curve": summary(study["curve"]),
        "curve by network": by_network(study["curve"], curve),
        "solved": summary(study["solved"]),
        "solved by network": by_network(study["solved"], ("solved",)),
        "trial": summary(study["trial"]),
        "ideas": summary(study["ideas"]),
        "ideas by network": by_network(study["ideas"], ("crossed", "crossed, not learned", "tuned")),
        "large": by_network(study["large"], curve),
        "large solved": by_network(study["large solved"], ("solved", "crossed at random")),
        "messages together": summary(study["messages"]),
        "messages": by_network(study["messages"], ("messages", "network")),
        "answers": by_network(study["answers"], study["answers"].methods),
        "fixing": by_network(study["fixing"], ("fixed first",)),
        "restarts": summary(study["restarts"]),
        "restarts by network": by_network(study["restarts"], study["restarts"].methods),
        "more answers together": summary(study["more answers"]),
        "more answers": by_network(study["more answers"], study["more answers"].methods),
        "generated together": summary(study["generated"]),
        "generated": by_network(study["generated"], study["generated"].methods),
        "default": summary(study["default"]),
        "default by network": by_network(study["default"], ("default",)),
        "default against constructed": summary(constructed),
        "sizes": sizes(study["default"], ("constructed", "auto", "default")),
        "targets": targets({"auto": study["default"], "constructed": constructed}),
        "beyond": by_network(study["beyond"], ("default",)),
        "tuned": tuned(),
        "late": late(),
    }


def late() -> str:
    """Mean gains in nats of searching longer, and of crossing with answers, with the time that takes."""
    rows, lines = rows_of(LATE), []
    for network, seconds in dict.fromkeys((row["network"], row["seconds"]) for row in rows):
        some = [row for row in rows if (row["network"], row["seconds"]) == (network, seconds)]
        mean = {
            name: float(np.mean([float(row[name]) for row in some])) for name in some[0] if name != "network"
        }
        cells = [f"{mean[f'gain {n}']:.3g} ({mean[f'ms {n}']:.0f} ms)" for n in (10, 50, 200)]
        longer = f"{mean['longer']:.3g} ({500 * float(seconds):.0f} ms)"
        lines.append([network, str(len(some)), f"{float(seconds):g} s", longer, *cells])
    head = ["network", "queries", "after", "half as long again", "10 answers", "50 answers", "200 answers"]
    return markdown(head, lines)


def tuned() -> str:
    """What training and tuning took, and what tuning chose."""
    lines = [
        [
            row["network"],
            row["answers"],
            row["train_seconds"],
            row["validation"],
            row["tune_seconds"],
            row["use"],
        ]
        for row in rows_of(TUNED)
    ]
    head = ["network", "answers", "s to find them", "validation queries", "s to tune", "chosen"]
    return markdown(head, lines)


def page() -> str:
    """The page with its tables made anew."""
    made = tables()
    return updated(PAGE.read_text(encoding="utf-8"), {name: lambda t=text: t for name, text in made.items()})


if __name__ == "__main__":
    if len(sys.argv) > 1:
        keep({study: Path(path) for study, _, path in (word.partition("=") for word in sys.argv[1:])})
    PAGE.write_text(page(), encoding="utf-8")
