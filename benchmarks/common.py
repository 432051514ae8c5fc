"""What the measuring scripts share: models, queries and options."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from beacon.formats import read_model
from beacon.model.graphical_model import GraphicalModel
from beacon.query.query_set import sample_queries

SPEED_MODELS = (
    "BN_30",
    "pedigree18",
    "Promedas_60",
    "grid40x40.f15.wrap",
    "grid80x80.f10",
    "1405.wcsp",
    "le450_5a_3.wcsp",
    "rus_20_40_9_3",
    "rus_100_200_1_1",
)
PROVABLE_MODELS = (
    "BN_30",
    "BN_32",
    "BN_45",
    "BN_61",
    "BN_65",
    "Promedas_60",
    "Promedas_62",
    "or_chain_89.fg",
    "pedigree18",
    "pedigree30",
)
GRIDS = ("grid20x20.f5.wrap", "grid40x40.f10", "grid40x40.f15.wrap", "grid80x80.f10")

BIF_MODELS = (
    "alarm",
    "andes",
    "asia",
    "cancer",
    "child",
    "hailfinder",
    "insurance",
    "link",
    "munin1",
    "pathfinder",
    "water",
    "win95pts",
)
ALL_MODELS = (
    *PROVABLE_MODELS,
    *GRIDS,
    "1405.wcsp",
    "1407.wcsp",
    "le450_5a_2.wcsp",
    "le450_5a_3.wcsp",
    "le450_5a_4.wcsp",
    "rus_20_40_9_3",
    "rus_50_100_4_1",
    "rus_50_100_6_1",
    "rus_100_200_1_1",
    "rus_100_200_3_3",
    "wcsp_14",
)


def options(description: str | None, models: tuple[str, ...]) -> argparse.ArgumentParser:
    """A parser with what every script takes: models and where they are, how many queries, the seed."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=os.environ.get("BEACON_BENCHMARKS"),
        required="BEACON_BENCHMARKS" not in os.environ,
        help="folder with paper/NAME.uai.xz and bif/NAME.bif.xz (or set BEACON_BENCHMARKS)",
    )
    parser.add_argument("--models", nargs="+", default=list(models))
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def load(data: Path, name: str, queries: int, seed: int) -> tuple[GraphicalModel, list[dict[int, int]]]:
    """A model of the paper, or of a folder beside it, and sampled queries on it."""
    model = load_model(data, name)
    sampled = sample_queries(model, queries, seed)
    return model, [sampled.evidence(k) for k in range(len(sampled))]


def load_model(data: Path, name: str) -> GraphicalModel:
    """A model of the paper, or of a folder beside it."""
    paths = [data / folder / f"{name}.uai.xz" for folder in ("paper", "uai2014", "more")]
    paths.append(data / "bif" / f"{name}.bif.xz")
    return read_model(next((path for path in paths if path.exists()), paths[0]))
