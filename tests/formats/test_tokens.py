"""Tokens: what is read, and how errors name the place."""

from __future__ import annotations

import numpy as np
import pytest

from beacon.errors import FormatError
from beacon.formats.tokens import Tokens


def test_tokens_are_read_in_order_whatever_the_whitespace() -> None:
    tokens = Tokens("MARKOV\n 2\t3\n\n0.5 -inf 1e-3", "m.uai")
    assert tokens.next_word("a word") == "MARKOV"
    assert tokens.next_int("an integer") == 2
    assert tokens.next_ints(1, "integers").tolist() == [3]
    assert tokens.remaining == 3
    assert tokens.next_floats(3, "numbers").tolist() == [0.5, -np.inf, 1e-3]
    tokens.expect_end()


def test_arrays_have_their_types_even_when_empty() -> None:
    tokens = Tokens("", "m.uai")
    assert tokens.next_ints(0, "nothing").dtype == np.int64
    assert tokens.next_floats(0, "nothing").dtype == np.float64


@pytest.mark.parametrize("word", ["abc", "1e5", "1.0", "1_0", "٣", "9" * 5000, "--1", "0x10"])
def test_what_is_not_an_integer_is_refused_at_its_place(word: str) -> None:
    tokens = Tokens(f"7\n8 {word}", "m.uai")
    with pytest.raises(
        FormatError, match=r"^m\.uai, line 2 \(token 3\): expected a size, an integer, found '"
    ):
        tokens.next_ints(3, "a size")


@pytest.mark.parametrize(
    ("word", "high", "wanted"),
    [("-3", None, "at least 0"), ("4", 3, r"in 0\.\.3"), ("99999999999999999999", None, "at least 0")],
)
def test_an_integer_out_of_bounds_is_refused(word: str, high: int | None, wanted: str) -> None:
    with pytest.raises(
        FormatError, match=rf"line 1 \(token 2\): expected a size, an integer {wanted}, found '{word}'"
    ):
        Tokens(f"1 {word} 2", "m.uai").next_ints(3, "a size", high=high)


@pytest.mark.parametrize("word", ["x", "1,5", "1_0.0", "٣"])
def test_what_is_not_a_number_is_refused_at_its_place(word: str) -> None:
    with pytest.raises(FormatError, match=r"line 3 \(token 2\): expected an entry, a number, found "):
        Tokens(f"0.5\n\n{word}", "m.uai").next_floats(2, "an entry")


def test_a_very_long_token_is_shortened_in_the_error() -> None:
    with pytest.raises(FormatError) as caught:
        Tokens("y" * 10_000, "m.uai").next_int("a size")
    assert len(str(caught.value)) < 150


def test_a_huge_count_fails_before_anything_is_read() -> None:
    tokens = Tokens("1 2\n3", "m.uai")
    problem = (
        r"line 2 \(token 3\): the file ends too early: expected 1000000000000 tokens \(a size\), found 3 t"
    )
    with pytest.raises(FormatError, match=problem):
        tokens.next_ints(10**12, "a size")
    assert tokens.position == 0


def test_a_missing_last_token_is_named() -> None:
    tokens = Tokens("5\n", "m.uai")
    tokens.next_int("a size")
    with pytest.raises(
        FormatError, match=r"line 1 \(token 1\): the file ends too early: expected a size, found nothing"
    ):
        tokens.next_int("a size")


def test_no_token_at_all_is_at_line_1() -> None:
    with pytest.raises(FormatError, match="line 1 "):
        Tokens("", "m.uai").next_word("a word")


def test_tokens_left_over_are_an_error() -> None:
    tokens = Tokens("1\n2 3", "m.uai")
    tokens.next_int("a size")
    problem = r"line 2 \(token 2\): expected the end of the file, found 2 more tokens, first '2'"
    with pytest.raises(FormatError, match=problem):
        tokens.expect_end()


def test_a_caller_may_fail_at_any_token() -> None:
    tokens = Tokens("a\nb\nc", "m.uai")
    tokens.next_word("a letter")
    tokens.next_word("a letter")
    with pytest.raises(FormatError, match=r"^m\.uai, line 2 \(token 2\): wrong$"):
        tokens.fail("wrong")
    with pytest.raises(FormatError, match=r"line 3 \(token 3\): wrong"):
        tokens.fail("wrong", 2)
