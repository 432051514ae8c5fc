"""Every public name has an example in its documentation, and all of them run."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import beacon

FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def examples_of(name: str) -> list[doctest.DocTest]:
    found = doctest.DocTestFinder().find(getattr(beacon, name), f"beacon.{name}", globs={})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", beacon.__all__)
def test_the_examples_of_a_public_name_do_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.chdir(tmp_path)
    tests = examples_of(name)
    assert tests, f"beacon.{name} has no example"
    for test in tests:
        said: list[str] = []
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
        assert not said, "".join(said)


def test_every_public_name_is_documented() -> None:
    assert [name for name in beacon.__all__ if not inspect.getdoc(getattr(beacon, name))] == []
