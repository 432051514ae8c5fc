"""The budget of memory: what a text would become is counted before it is taken."""

from __future__ import annotations

import pytest

from beacon.errors import UsageError
from beacon.io.files import MARK_BYTES, TEXT_COPIES, WIDE_COPIES, WORD_BYTES, Budget, budget_bytes


def taken(*parts: bytes) -> int:
    budget = Budget()
    for part in parts:
        assert budget.problem_with_text(part) is None
    return budget.taken


def test_words_and_marks_are_counted_wherever_the_parts_are_cut() -> None:
    whole = taken(b"MARKOV 12 0.5,[a]\n x")
    assert whole == 20 * TEXT_COPIES + 5 * WORD_BYTES + 3 * MARK_BYTES
    assert taken(b"MAR", b"KOV 1", b"2 0.5,", b"[a]\n x") == whole


def test_odd_characters_make_every_character_wide() -> None:
    assert taken("é".encode()) == 2 * WIDE_COPIES + WORD_BYTES


def test_the_budget_is_a_number_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert budget_bytes() == 1 << 30
    monkeypatch.setenv("BEACON_MEMORY", "2.5")
    assert budget_bytes() == 5 << 29
    for text in ("much", "0", "-1", "inf", "nan"):
        monkeypatch.setenv("BEACON_MEMORY", text)
        with pytest.raises(UsageError, match=f"BEACON_MEMORY must be a number of GiB; found '{text}'"):
            budget_bytes()


def test_what_is_too_much_says_how_much_and_what_to_do() -> None:
    budget = Budget(1 << 29)
    assert budget.problem(1 << 29) is None
    assert budget.problem(1 << 29) == (
        "expected what fits into 1 GiB of memory, found 1.5; "
        "if it is not a mistake, set BEACON_MEMORY to more GiB"
    )
    assert "found far more" in str(budget.problem(1e300))
