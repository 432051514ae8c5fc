"""One intact file of every kind, and the commands that read each kind."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from beacon.formats import read_model
from beacon.guide.trivial import FrequencyGuide
from tests.cli.conftest import SPRINKLER
from tests.cli.helpers import run

CFN = """{ "problem": { "name": "small", "mustbe": "<10.0" },
  "variables": { "sky": ["clear", "grey"], "n": 3 },
  "functions": {
    "f": { "scope": ["sky", "n"], "costs": [0, 1, 2, 3.5, 10, 12] },
    "g": { "scope": ["n"], "defaultcost": 1, "costs": [2, 4] },
    "h": { "scope": [], "costs": [0.5] } } }
"""
WCSP = "small 3 3 4 100\n2 2 3\n2 0 1 7 2\n0 0 1\n1 1 100\n1 2 0 2\n0 5\n2 100\n0 3 0\n-2 0 1 0 1\n1 1 2\n"
SUITE = """title = "Two"
[[network]]
name = "sprinkler"
short_name = "S"
file = "sprinkler.bif"
variables = 3
factors = 3
source = "here"
"""
SETTINGS = """seed = 3
[queries]
count = 10
query_ratio = [0.8, 0.95]
[teacher]
method = "auto"
steps = 100
[train]
preset = "fast"
[tune]
steps = [100, 1000]
seconds = []
[evaluate]
methods = ["greedy", "gls+"]
steps = [500, 1000]
"""


class Kind(NamedTuple):
    """A kind of file and what reads it; in the commands ``{}`` is the file, OUT something to write."""

    file: str
    folder: str
    """The folder that the file is a part of and that is read as a whole; empty for a file by itself."""
    commands: tuple[str, ...]


MODEL = (
    "info {} --no-timing --json",
    "solve {} --steps 20 --quiet",
    "check {} - sprinkler.MPE",
    "convert {} OUT.lg",
    "convert {} OUT.bif",
    "convert {} OUT.wcsp",
    "queries {} -o OUT --count 2 --quiet",
    "uai {} sprinkler.evid nothing MPE --time 0.1 -o OUT --quiet",
)
EVIDENCE = (
    "solve sprinkler.bif --evid {} --steps 5 --quiet",
    "check sprinkler.bif {} sprinkler.MPE",
    "uai sprinkler.bif {} nothing MPE --time 0.1 -o OUT --quiet",
)
COLLECT = "collect sprinkler.bif {} -o OUT --steps 20 --restart-interval 10 --teacher-steps 10 --jobs 1 -q"
QUERIES = (
    COLLECT,
    "tune sprinkler.bif {} guide --steps 5 --quiet --json",
    "evaluate sprinkler.bif {} -o OUT --methods greedy --steps 5 --quiet",
)
KINDS = (
    Kind("sprinkler.bif", "", MODEL),
    Kind("sprinkler.uai", "", MODEL),
    Kind("sprinkler.lg", "", MODEL),
    Kind("sprinkler.wcsp", "", MODEL),
    Kind("small.wcsp", "", MODEL),
    Kind("small.cfn", "", MODEL),
    Kind("sprinkler.uai.gz", "", MODEL),
    Kind("sprinkler.evid", "", EVIDENCE),
    Kind("patients.csv", "", ("solve sprinkler.bif --table {} --steps 5 --quiet",)),
    Kind(
        "sprinkler.MPE",
        "",
        ("check sprinkler.bif - {}", "solve sprinkler.bif --start {} --steps 5 --quiet"),
    ),
    Kind("queries.parquet", "", QUERIES),
    Kind(
        "trajectories.parquet",
        "",
        ("train sprinkler.bif queries.parquet --trajectories {} -o OUT --preset fast --epochs 1 -q",),
    ),
    Kind("guide.json", "guide", ("solve sprinkler.bif --guide {} --steps 5 --quiet",)),
    Kind("guide.safetensors", "guide", ("solve sprinkler.bif --guide {} --steps 5 --quiet",)),
    Kind("run.json", "run", ("evaluate sprinkler.bif queries.parquet -o {} --methods greedy --steps 5 -q",)),
    Kind("evaluation.parquet", "run", ("report {} -o OUT.html --no-parts --quiet",)),
    Kind("suite.toml", "", ("evaluate --suite {} --data missing -o OUT",)),
    Kind("run.toml", "", ("run missing.uai -o OUT --config {}",)),
)


def furnish(folder: Path) -> None:
    """Make one intact file of every kind; commands run in that folder."""
    texts = {"sprinkler.bif": SPRINKLER, "small.cfn": CFN, "small.wcsp": WCSP, "suite.toml": SUITE}
    texts |= {"run.toml": SETTINGS, "nothing": "", "sprinkler.evid": "1\n1 2 1\n"}
    texts |= {"patients.csv": "rain,grass\nyes,wet\n,dry\n", "sprinkler.MPE": "MPE\n3 0 1 1\n"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    for suffix in (".uai", ".lg", ".wcsp", ".uai.gz"):
        assert run("convert", "sprinkler.bif", f"sprinkler{suffix}").code == 0
    assert run("queries", "sprinkler.bif", "-o", "queries.parquet", "--count", 20, "-q").code == 0
    model = read_model("sprinkler.bif")
    FrequencyGuide(model, np.full(int(model.domain_sizes.sum()), 0.5)).save("guide")
    for command in (
        COLLECT.replace("{}", "queries.parquet").replace("OUT", "trajectories.parquet"),
        "tune sprinkler.bif queries.parquet guide --steps 5 --quiet",
        "evaluate sprinkler.bif queries.parquet -o run --methods greedy --steps 5 -q",
    ):
        assert run(*command.split()).code == 0


def copy_of(kind: Kind, target: Path) -> Path:
    """A copy of a file, or of the folder that it is a part of; the path of the file itself."""
    if not kind.folder:
        shutil.copy(kind.file, target)
        return target
    shutil.copytree(kind.folder, target)
    return target / kind.file
