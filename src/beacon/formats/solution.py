"""Solutions: complete assignments in UAI files, ``MPE`` and then ``n x1 .. xn``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beacon.formats.tokens import Tokens, shortened
from beacon.io.files import read_text, write_text
from beacon.model.graphical_model import GraphicalModel


def read_solution(path: str | os.PathLike[str], model: GraphicalModel) -> NDArray[np.int64]:
    """Read a complete assignment as value indices; a leading number of solutions must be 1.

    >>> import beacon
    >>> model = beacon.GraphicalModel.from_tables([2, 2], [((0, 1), [0.0, -1.0, -2.0, 0.5])])
    >>> beacon.write_solution("answer.MPE", [1, 1])
    >>> beacon.read_solution("answer.MPE", model).tolist()
    [1, 1]
    """
    tokens = Tokens(read_text(path), os.fspath(path))
    word = tokens.next_word("MPE or MAP")
    if word.upper() not in ("MPE", "MAP"):
        tokens.fail(f"expected MPE or MAP as the first word, found {shortened(word)!r}")
    if tokens.remaining == 2 + model.num_variables and tokens.word_at(2) == str(model.num_variables):
        tokens.next_int("the number of solutions", low=1, high=1)
    if (found := tokens.next_int("the number of variables")) != model.num_variables:
        tokens.fail(f"expected a solution of {model.num_variables} variables, found one of {found}")
    values = tokens.next_ints(model.num_variables, "a value of each variable")
    tokens.expect_end()
    _check_values(tokens, values, model)
    return values


def write_solution(path: str | os.PathLike[str], assignment: Iterable[int]) -> None:
    """Write a complete assignment of value indices.

    >>> from pathlib import Path
    >>> import beacon
    >>> beacon.write_solution("answer.MPE", [1, 0, 2])
    >>> print(Path("answer.MPE").read_text(), end="")
    MPE
    3 1 0 2
    """
    values = [str(int(value)) for value in assignment]
    write_text(path, "\n".join(["MPE", " ".join([str(len(values)), *values]), ""]))


def _check_values(tokens: Tokens, values: NDArray[np.int64], model: GraphicalModel) -> None:
    is_wrong = values >= model.domain_sizes
    if is_wrong.any():
        variable = int(is_wrong.argmax())
        most = model.domain_sizes[variable] - 1
        tokens.fail(
            f"expected a value of variable {variable} in 0..{most}, found {values[variable]}",
            tokens.position - len(values) + variable,
        )


def check_solution(
    model: GraphicalModel, evidence: Mapping[int, int], assignment: NDArray[np.int64]
) -> dict[str, Any]:
    """Does an assignment keep the evidence, and what is its score? What ``beacon check --json`` prints."""
    violations = [
        {"variable": model.names[i], "observed": model.labels[i][v], "found": model.labels[i][assignment[i]]}
        for i, v in evidence.items()
        if assignment[i] != v
    ]
    log_score = model.log_score(assignment)
    return {
        "evidence_kept": not violations,
        "observed": len(evidence),
        "violations": violations,
        "log_score": log_score if math.isfinite(log_score) else None,
        "zero_factors": model.num_zero_factors(assignment),
    }
