"""Small files that the tests of the command line share."""

from __future__ import annotations

from pathlib import Path

import pytest

from beacon.pipeline.kernels import compile_kernels

SPRINKLER = """\
network unknown { }
variable rain { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable grass { type discrete [ 2 ] { dry, wet }; }
probability ( rain ) { table 0.8, 0.2; }
probability ( sprinkler | rain ) { (no) 0.6, 0.4; (yes) 0.99, 0.01; }
probability ( grass | rain, sprinkler ) {
  (no, off) 1.0, 0.0;
  (no, on) 0.1, 0.9;
  (yes, off) 0.2, 0.8;
  (yes, on) 0.01, 0.99;
}
"""


@pytest.fixture(scope="session", autouse=True)
def _kernels_are_compiled() -> None:
    """On a fresh machine, the note on compiling must not land in a test of what stderr holds."""
    compile_kernels()


@pytest.fixture(autouse=True)
def _short_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """``beacon info`` need not measure for long."""
    monkeypatch.setattr("beacon.learn.prospect.PROBE_SECONDS", 0.05)


@pytest.fixture
def sprinkler(tmp_path: Path) -> Path:
    """Three variables with names: wet grass is best explained by the sprinkler (0.8 · 0.4 · 0.9)."""
    return _written(tmp_path / "sprinkler.bif", SPRINKLER)


@pytest.fixture
def equal_pair(tmp_path: Path) -> Path:
    """Two variables that must be equal, without names, not a Bayesian network."""
    return _written(tmp_path / "pair.uai", "MARKOV\n2\n2 2\n1\n2 0 1\n4\n2 0 0 3\n")


@pytest.fixture
def bad_models(tmp_path: Path) -> dict[str, Path]:
    """Paths that hold no model, each with what an error says of it."""
    (tmp_path / "folder").mkdir()
    return {
        "no such file or directory": tmp_path / "missing.uai",
        "is a directory": tmp_path / "folder",
        "expected a text file, found binary data": _written(tmp_path / "binary.uai", "\0\1\2"),
        "the file is empty": _written(tmp_path / "empty.uai", ""),
        "cannot tell the format by the content": _written(tmp_path / "words.txt", "nothing but words\n"),
    }


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
