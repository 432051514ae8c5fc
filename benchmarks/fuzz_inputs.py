"""Valid files of every kind that Beacon reads, and ways to spoil them: the inputs of ``fuzz.py``."""

from __future__ import annotations

import bz2
import copy
import gzip
import hashlib
import json
import lzma
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from damage import damaged

import beacon
from beacon.evaluation.problem import load_suite
from beacon.guide.trivial import FrequencyGuide
from beacon.learn.trajectories import Trajectories
from beacon.model.families import random_bayes_net
from beacon.pipeline.settings import make_settings, read_sections, seed_of

Rng = np.random.Generator
MOST_INSERTED = 2_000_000  # bytes
SOLVED_SHARE = 0.02  # of the models that can be read
HUGE = "9" * 400
WORDS = [
    *("0", "1", "-1", "2", "3.5", "1e400", "-1e400", "nan", "inf", "-inf", "1e-400", "1_0", "0x1", HUGE),
    *("16777216", "10000000", "2147483648", "4294967296", "9223372036854775808", "-9223372036854775809"),
    *("", '"', "'", "[", "]", "{", "}", "(", ")", ",", ";", ":", "|", "#", "//", "/*", "\\", "=", "\t", "\n"),
    *(
        "é",
        "٣",
        "\u2028",
        "\ufeff",
        "x0",
        "MARKOV",
        "MPE",
        "network",
        "variable",
        "probability",
        "true",
        "null",
    ),
]
VALUES: list[Any] = [
    *(None, True, 0, 1, -1, 2.5, 1e308, 10**400, 2**31, 2**63, "", "x", "../x", "/x", "\x00", "\n"),
    *([], {}, [[]], [None], {"a": None}, [1, "x"], "9" * 1000),
]
SUITE = """title = "t"
[[network]]
name = "a"
file = "a.uai"
short_name = "A"
variables = 4
factors = 3
source = "here"
[network.published]
steps = 5
[[network]]
name = "b"
file = "b.uai"
"""
SETTINGS = """seed = 3
[queries]
count = 20
query_ratio = [0.5, 0.9]
[teacher]
steps = 100
seconds = 0.5
[collect]
steps = 10
[train]
preset = "fast"
max_epochs = 3
learning_rate = 0.01
[tune]
steps = [20]
[evaluate]
methods = ["greedy", "beacon-gls+"]
steps = [5, 10]
seconds = [0.1]
lambdas = [0.5]
"""
CFN = """{"problem": {"name": "p", "mustbe": "<100.0"},
 "variables": {"a": ["x", "y"], "b": 3, "c": ["u", "v", "w"]},
 "functions": {"f": {"scope": ["a", "b"], "costs": [0, 1, 2, 3.5, 4, 5]},
  "g": {"scope": ["c"], "defaultcost": 1, "costs": ["u", 0, "w", 7]},
  "h": {"scope": ["b", "c"], "defaultcost": 2, "costs": [0, "v", 1.5]}, "k": {"scope": ["c"], "costs": "g"}}}
"""
ERGO = """2
2 3
0
1 0
/* Probabilities */
2
0.3 0.7
6
0.2 0.3 0.5 0.6 0.3 0.1
/* Names */
a
b
/* Labels */
x y
u v w
"""


class Inputs:
    """Valid files of every kind in a folder, and ways to spoil them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model = random_bayes_net(8, seed=1)
        for strategy in ("greedy", "auto", beacon.Auto(exact=False)):  # compiles before the clock counts
            beacon.solve(self.model, strategy=strategy, stop=beacon.MaxSteps(5))
        self.texts: dict[str, str] = {"cfn": CFN, "erg": ERGO, "suite": SUITE, "settings": SETTINGS}
        self._make_texts()
        self._make_folders()
        self.readers: dict[str, tuple[float, Callable[[Rng], Callable[[], Any]]]] = {
            **{name: (3.0, lambda rng, name=name: self._model(rng, name)) for name in MODELS},
            "evid": (2.0, lambda rng: self._text(rng, "evid", self._read_evidence)),
            "csv": (2.0, lambda rng: self._text(rng, "csv", self._read_table)),
            "MPE": (2.0, lambda rng: self._text(rng, "MPE", self._read_solution)),
            "suite": (1.5, lambda rng: self._text(rng, "suite", load_suite)),
            "settings": (1.5, lambda rng: self._text(rng, "settings", _read_settings)),
            "queries": (1.0, lambda rng: self._parquet(rng, "queries.parquet", self._load_queries)),
            "trajectories": (1.0, lambda rng: self._parquet(rng, "trajectories.parquet", self._load_walks)),
            "evaluation": (0.4, self._evaluation),
            "guide": (1.0, self._guide),
            "from_tables": (1.0, self._tables),
            "solve": (0.5, self._arguments),
        }

    def _make_texts(self) -> None:
        for name in ("uai", "lg", "wcsp", "bif", "xmlbif"):
            path = self.folder / f"valid.{name}"
            beacon.write_model(self.model, path)
            self.texts[name] = path.read_text()
        self.texts["evid"] = "2\n1 0 1\n2 3 0 4 1\n"
        self.texts["csv"] = ",".join(self.model.names) + "\n" + "0,1,,,0,,,\n,,1,0,,,,1\n"
        self.texts["MPE"] = f"MPE\n8 {' '.join(['0'] * 8)}\n"

    def _make_folders(self) -> None:
        queries = beacon.sample_queries(self.model, 10, splits=(0.5, 0.2, 0.3))
        queries.save(self.folder / "queries.parquet")
        teacher = beacon.TeacherSettings(method="gls+", steps=50)
        walks = beacon.collect(self.model, queries, beacon.CollectSettings(teacher, steps=3), jobs=1)
        walks.save(self.folder / "trajectories.parquet")
        beacon.evaluate(self.model, queries, methods=["greedy"], steps=[5]).save(self.folder / "evaluation")
        beacon.train(self.model, queries, "fast", walks, epochs=1).save(self.folder / "fast.guide")
        FrequencyGuide(self.model, np.full(int(self.model.domain_sizes.sum()), 0.5)).save(
            self.folder / "frequency.guide"
        )
        try:
            guide = beacon.train(self.model, queries, "small", walks, epochs=1, device="cpu")
        except beacon.BeaconError:  # without torch
            return
        guide.save(self.folder / "attention.guide")

    def input(self, seed: int, number: int) -> tuple[str, Callable[[], Any]]:
        """The reader of an input, and what reads it; the same for the same numbers."""
        rng = np.random.default_rng([seed, number])
        names, weights = list(self.readers), np.array([weight for weight, _ in self.readers.values()])
        name = names[rng.choice(len(names), p=weights / weights.sum())]
        return name, self.readers[name][1](rng)

    def _text(self, rng: Rng, name: str, read: Callable[[str], Any]) -> Callable[[], Any]:
        path = self.folder / f"input.{name}"
        data, kind = _spoilt(rng, self.texts[name].encode()), rng.integers(20)
        path.write_bytes(COMPRESS[kind](data) if kind < len(COMPRESS) else data)
        return lambda: read(str(path))

    def _model(self, rng: Rng, name: str) -> Callable[[], Any]:
        is_solved = rng.random() < SOLVED_SHARE

        def read(path: str) -> None:
            model = beacon.read_model(path)
            if is_solved and model.num_entries < 10_000 and model.num_variables < 100:
                beacon.solve(model, strategy="greedy", stop=beacon.MaxSteps(20))

        return self._text(rng, name, read)

    def _read_evidence(self, path: str) -> Any:
        return beacon.read_evidence(path, self.model)

    def _read_table(self, path: str) -> Any:
        return beacon.read_evidence_table(path, self.model)

    def _read_solution(self, path: str) -> Any:
        return beacon.read_solution(path, self.model)

    def _load_queries(self, path: str) -> Any:
        return beacon.QuerySet.load(path, self.model)

    def _load_walks(self, path: str) -> Any:
        return Trajectories.load(path, self.model)

    def _parquet(self, rng: Rng, name: str, read: Callable[[str], Any]) -> Callable[[], Any]:
        path = self.folder / "input.parquet"
        _spoil_parquet(rng, self.folder / name, path)
        return lambda: read(str(path))

    def _evaluation(self, rng: Rng) -> Callable[[], Any]:
        folder = _copied(self.folder / "evaluation", self.folder / "input.evaluation")
        if rng.random() < 0.5:
            _spoil_parquet(
                rng, self.folder / "evaluation" / "evaluation.parquet", folder / "evaluation.parquet"
            )
        else:
            _spoil_json(rng, folder / "run.json")
        return lambda: repr(beacon.Evaluation.load(folder)) + str(_means(beacon.Evaluation.load(folder)))

    def _guide(self, rng: Rng) -> Callable[[], Any]:
        guides = sorted(path for path in self.folder.glob("*.guide") if path.stem != "input")
        source = guides[rng.integers(len(guides))]
        folder = _copied(source, self.folder / "input.guide")
        weights = folder / "guide.safetensors"
        if rng.random() < 0.5:
            weights.write_bytes(damaged(weights.read_bytes(), rng))
        if rng.random() < 0.7:
            _spoil_json(rng, folder / "guide.json")
        _sign(folder)
        steps = beacon.MaxSteps(5)
        return lambda: beacon.solve(self.model, guide=folder, strategy="greedy", stop=steps)

    def _tables(self, rng: Rng) -> Callable[[], Any]:
        sizes: list[Any] = rng.integers(1, 4, 4).tolist()
        tables: list[Any] = [
            ([0, 1], np.zeros(sizes[0] * sizes[1])),
            ([2], [0.0] * sizes[2]),
            [[3], [0.0] * sizes[3]],
        ]
        names: list[Any] = ["a", "b", "c", "d"]
        for _ in range(rng.integers(1, 3)):
            where = (sizes, names, tables[0][0], tables[1][1], tables[2])[rng.integers(5)]
            where[rng.integers(len(where))] = VALUES[rng.integers(len(VALUES))]
        return lambda: beacon.GraphicalModel.from_tables(sizes, tables, names)

    def _arguments(self, rng: Rng) -> Callable[[], Any]:
        options: dict[str, Any] = {"strategy": "greedy", "stop": beacon.MaxSteps(5)}
        name = ("log_zero", "seed", "strategy", "start", "stop", "evidence")[rng.integers(6)]
        options[name] = VALUES[rng.integers(len(VALUES))]
        if name == "evidence":
            options[name] = {_key(rng): VALUES[rng.integers(len(VALUES))]}
        return lambda: beacon.solve(self.model, **options)


COMPRESS = (
    lambda data: gzip.compress(data, mtime=0),
    bz2.compress,
    lambda data: lzma.compress(data, preset=0),
)
MODELS = ("uai", "lg", "wcsp", "cfn", "bif", "xmlbif", "erg")


def _key(rng: Rng) -> Any:
    keys = [value for value in VALUES if not isinstance(value, list | dict)]
    return [*keys, "x0", 0, np.int64(1)][rng.integers(len(keys) + 3)]


def _means(evaluation: beacon.Evaluation) -> list[Any]:
    return [evaluation.mean_scores(n, m, "step") for n in evaluation.networks for m in evaluation.methods]


def _read_settings(path: str) -> Any:
    sections = read_sections(path)
    return make_settings(sections), seed_of(sections)


def _spoilt(rng: Rng, data: bytes) -> bytes:
    """Damage of one kind or two; now and then a hostile word instead, seldom a great many copies of one."""
    if rng.random() < 0.6:
        return damaged(data, rng)
    word = WORDS[rng.integers(len(WORDS))].encode() + b" \n,"[(k := int(rng.integers(3))) : k + 1]
    at = int(rng.integers(len(data) + 1))
    most = 0.0 if rng.random() < 0.8 else 3.5 if rng.random() < 0.99 else 6.0
    copies = min(int(10 ** rng.uniform(0, most)), MOST_INSERTED // len(word))
    return data[:at] + word * copies + data[at:]


def _spoilt_value(rng: Rng, value: Any) -> Any:
    """One change somewhere inside of a value of JSON."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    changed = copy.copy(value)
    key: Any = rng.choice(sorted(changed)) if isinstance(changed, dict) else int(rng.integers(len(changed)))
    if rng.random() < 0.15:
        del changed[key]
    else:
        changed[key] = _spoilt_value(rng, changed[key])
    return changed


def _spoil_json(rng: Rng, path: Path) -> None:
    if rng.random() < 0.2:
        path.write_bytes(_spoilt(rng, path.read_bytes()))
        return
    value = json.loads(path.read_text())
    for _ in range(rng.integers(1, 4)):
        value = _spoilt_value(rng, value)
    path.write_text(json.dumps(value))


def _sign(folder: Path) -> None:
    """The digest of the weights as they are: damage that no digest shows."""
    try:
        facts = json.loads((folder / "guide.json").read_text())
        facts["weights_sha256"] = hashlib.sha256((folder / "guide.safetensors").read_bytes()).hexdigest()
        (folder / "guide.json").write_text(json.dumps(facts))
    except (ValueError, TypeError, RecursionError):
        return


def _spoil_parquet(rng: Rng, source: Path, target: Path) -> None:
    if rng.random() < 0.4:
        target.write_bytes(damaged(source.read_bytes(), rng))
        return
    table = pq.read_table(source)
    name = table.column_names[rng.integers(table.num_columns)]
    place, column = table.column_names.index(name), table[name]
    kind = rng.integers(6)
    if kind == 0:
        table = table.drop_columns([name])
    elif kind == 1:
        rows = column.to_pylist()
        rows[rng.integers(len(rows))] = None
        table = table.set_column(place, name, pa.array(rows, column.type))
    elif kind == 2:
        zeros = pa.array(np.zeros(len(table), dtype=rng.choice(["i1", "u1", "i8", "f8"])))
        table = table.set_column(place, name, zeros)
    elif kind == 3:
        table = table.append_column("extra", pa.array(["x" * 1000] * len(table)))
    elif kind == 4:
        table = pa.concat_tables([table] * int(rng.integers(2, 50)))
    else:
        metadata = dict(table.schema.metadata or {})
        for key in list(metadata):
            facts = metadata[key]
            if facts[:1] == b"{":
                metadata[key] = json.dumps(_spoilt_value(rng, json.loads(facts))).encode()
        table = table.replace_schema_metadata(metadata)
    pq.write_table(table, target)


def _copied(source: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target
