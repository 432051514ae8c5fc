"""Text cut into words and numbers that know their place, and limits to what a small file may ask for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from beacon.errors import FormatError
from beacon.io.memory import WORD_BYTES, Budget
from beacon.model.graphical_model import MAX_SCOPE, MAX_TABLE_ENTRIES, MAX_VALUES

INT64_MAX = (1 << 63) - 1
_SHOWN = 40  # characters of a wrong token that an error repeats
_CONVERTED_AT_ONCE = 1 << 16
ENTRY_BYTES = 32  # of a table that the file does not list: as costs, as logs, and while they are made
VALUE_BYTES = 160  # the label of a value, and while labels are compared


class Tokens:
    """The tokens of a text, read from first to last; bounds are inclusive, token indices count from 0."""

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.position = 0  # index of the next token
        self._text = text
        self._words = text.split()
        self.budget = ModelBudget(len(text) + WORD_BYTES * len(self._words))
        is_plain = text.isascii() and "_" not in text  # spares a check per token
        self._to_int = int if is_plain else _strict_int
        self._to_float = float if is_plain else _strict_float

    @property
    def remaining(self) -> int:
        """Number of tokens not read yet."""
        return len(self._words) - self.position

    def next_word(self, expected: str) -> str:
        """Read one token; ``expected`` says in errors what it should have been."""
        return self._take(1, expected)[0]

    def next_int(self, expected: str, low: int = 0, high: int | None = None) -> int:
        """Read one integer in low..high."""
        return self.next_int_list(1, expected, low, high)[0]

    def next_int_list(self, count: int, expected: str, low: int = 0, high: int | None = None) -> list[int]:
        """Read ``count`` integers in low..high; the quickest way for a few."""
        words = self._take(count, expected)
        try:
            numbers = list(map(self._to_int, words))
        except ValueError:
            self._fail_at_unreadable(words, self._to_int, f"{expected}, an integer")
        most = INT64_MAX if high is None else high
        if numbers and (min(numbers) < low or max(numbers) > most):
            wrong = next(i for i, number in enumerate(numbers) if not low <= number <= most)
            bounds = f"at least {low}" if high is None else f"in {low}..{high}"
            self._fail_at(wrong, words, f"{expected}, an integer {bounds}")
        return numbers

    def next_ints(
        self, count: int, expected: str, low: int = 0, high: int | None = None
    ) -> NDArray[np.int64]:
        """Read ``count`` integers in low..high as an array."""
        return np.array(self.next_int_list(count, expected, low, high), dtype=np.int64)

    def next_floats(self, count: int, expected: str) -> NDArray[np.float64]:
        """Read ``count`` numbers as an array; inf and nan pass, for the caller to judge."""
        words = self._take(count, expected)
        try:
            numbers = np.empty(len(words))
            for first in range(0, len(words), _CONVERTED_AT_ONCE):  # objects of all at once would take much
                part = slice(first, first + _CONVERTED_AT_ONCE)
                numbers[part] = list(map(self._to_float, words[part]))
            return numbers
        except ValueError:
            self._fail_at_unreadable(words, self._to_float, f"{expected}, a number")

    def word_at(self, token: int) -> str:
        """The token at an index, shortened for an error message."""
        return shortened(self._words[token])

    def expect_end(self) -> None:
        """Fail unless every token has been read."""
        if self.remaining:
            extra = f"{self.remaining} more tokens, first {self.word_at(self.position)!r}"
            self.fail(f"expected the end of the file, found {extra}", self.position)

    def fail(self, problem: str, token: int | None = None) -> NoReturn:
        """Raise a FormatError that names the line and the token, by default the last one read."""
        index = max(0, self.position - 1) if token is None else token
        raise FormatError(self.path, f"line {self._line_of(index)} (token {index + 1})", problem)

    def _take(self, count: int, expected: str) -> list[str]:
        end = self.position + count
        if end > len(self._words):
            wanted = expected if count == 1 else f"{count} tokens ({expected})"
            found = f"{self.remaining} tokens" if self.remaining else "nothing"
            last = max(0, len(self._words) - 1)
            self.fail(f"the file ends too early: expected {wanted}, found {found}", last)
        words = self._words[self.position : end]
        self.position = end
        return words

    def _fail_at_unreadable(self, words: list[str], convert: Callable[[str], float], wanted: str) -> NoReturn:
        wrong = next(i for i, word in enumerate(words) if not _converts(word, convert))
        self._fail_at(wrong, words, wanted)

    def _fail_at(self, offset: int, words: list[str], wanted: str) -> NoReturn:
        """Fail at one of the words just read."""
        index = self.position - len(words) + offset
        self.fail(f"expected {wanted}, found {shortened(words[offset])!r}", index)

    def _line_of(self, token: int) -> int:
        """Line of a token, counted only now: places are needed for errors alone."""
        seen = 0
        lines = self._text.split("\n")
        for number, line in enumerate(lines, start=1):
            seen += len(line.split())
            if seen > token:
                return number
        return len(lines)


def shortened(word: str) -> str:
    """A token as errors show it: only the start of a very long one."""
    return word if len(word) <= _SHOWN else word[:_SHOWN] + "…"


def _strict_int(word: str) -> int:
    return int(_refuse_python_only(word))


def _strict_float(word: str) -> float:
    return float(_refuse_python_only(word))


def _refuse_python_only(word: str) -> str:
    """Refuse what Python takes for a number and no format does: "1_0", digits of other scripts."""
    if "_" in word or not word.isascii():
        raise ValueError(word)
    return word


def _converts(word: str, convert: Callable[[str], object]) -> bool:
    try:
        convert(word)
    except ValueError:
        return False
    return True


class ModelBudget(Budget):
    """Adds up what a model takes: its text, and what the text asks for without listing it."""

    def problem_with_domains(self, sizes: Iterable[int]) -> str | None:
        """What is wrong with domains given by their sizes alone, if anything."""
        listed = list(sizes)
        total = sum(listed)
        if total > MAX_VALUES:
            return f"expected at most {MAX_VALUES} values in all, found {total}"
        return self.problem(VALUE_BYTES * sum(set(listed)))  # variables of the same size share their labels

    def problem_with_table(self, shape: Sequence[int], num_listed: int) -> str | None:
        """What is wrong with one more table of that shape and that many listed entries, if anything."""
        size = math.prod(shape)
        if size > MAX_TABLE_ENTRIES:
            return f"expected a table of at most {MAX_TABLE_ENTRIES} entries, found one of {size:.3g}"
        return self.problem(ENTRY_BYTES * max(0, size - num_listed))


def problem_with_scope(scope: Sequence[object]) -> str | None:
    """What is wrong with the variables of a factor, if anything."""
    if len(scope) > MAX_SCOPE:
        return f"expected a scope of at most {MAX_SCOPE} variables, found {len(scope)}"
    if len(set(scope)) != len(scope):
        return f"expected a scope of different variables, found one of them twice: {list(scope)}"
    return None
