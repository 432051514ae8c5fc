"""Small files that would become large: refused before memory is taken, compressed or not."""

from __future__ import annotations

import lzma
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beacon.errors import FormatError
from beacon.formats import read_evidence, read_evidence_table, read_model, read_solution
from beacon.model.graphical_model import GraphicalModel

MANY = 200_000  # words; with a budget of 16 MiB they do not fit
MODEL = GraphicalModel.from_tables([2] * 3, [])
CFN = '{problem: {name: a, mustbe: "<9"}, variables: {a: %d}, functions: {f: {scope: [a], %s}}}'
READ: dict[str, Callable[[Path], Any]] = {
    ".evid": lambda path: read_evidence(path, MODEL),
    ".csv": lambda path: read_evidence_table(path, MODEL),
    ".MPE": lambda path: read_solution(path, MODEL),
}


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".uai", f"MARKOV 1 {MANY} 1 1 0 {MANY} " + "0.25 " * MANY),
        (".uai", "MARKOV 1 5000000 0"),
        (".lg", "MARKOV 2 90000 90001 0"),
        (".wcsp", f"n 1 2 1 9\n2\n1 0 0 {MANY}\n" + "10 11\n" * MANY),
        (".wcsp", "n 2 2000 1 9\n2000 2000\n2 0 1 0 0\n"),
        (".cfn", CFN % (2, "costs: [" + "1.5 " * MANY + "]")),
        (".cfn", CFN % (1_000_000, "costs: []")),
        (".cfn", CFN % (50_000, "defaultcost: 0, costs: [7, 1]")),
        (".cfn", "[" * 1_000_000),
        (".cfn", '""' * 500_000),
        (".bif", "variable a { type discrete [ 2 ] { x, y }; }\n" * 30_000),
        (".bif", "variable " + "é" * 5_000_000),
        (".evid", f"{MANY}\n" + "1 0 1\n" * MANY),
        (".csv", "x0\n" + "1\n" * MANY),
        (".csv", "\n" * 1_000_000),
        (".csv", "x0" + "," * 1_000_000),
        (".MPE", "MPE 3 " + "10 " * MANY),
    ],
)
def test_a_bomb_is_refused_before_its_memory_is_taken(
    suffix: str, text: str, compressed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, data = tmp_path / f"bomb{suffix}", text.encode()
    path.write_bytes(lzma.compress(data, preset=0) if compressed else data)
    monkeypatch.setenv("BEACON_MEMORY", str(16 / 1024))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError, match=r"expected what fits into 0\.015625 GiB of memory"):
            READ.get(suffix, read_model)(path)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20  # with the decompressor's own
    finally:
        tracemalloc.stop()
