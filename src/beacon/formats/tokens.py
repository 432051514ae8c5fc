"""Text cut into words and numbers that know their place, and limits to what a small file may ask for."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beacon.errors import FormatError
from beacon.io.files import (
    LISTED_BYTES,
    NUMBER_BYTES,
    PART_BYTES,
    WORD_BYTES,
    Budget,
    TextFile,
    parts_of,
    unix_lines,
)
from beacon.model.factors import MAX_TABLE_ENTRIES
from beacon.model.graphical_model import MAX_SCOPE, MAX_VALUES

if TYPE_CHECKING:
    import pyarrow as pa

N = TypeVar("N", int, float)
T = TypeVar("T", list[str], NDArray[np.int64], NDArray[np.float64])
INT64_MAX = (1 << 63) - 1
_SHOWN = 40  # characters of a wrong token that an error repeats
ENTRY_BYTES = 32  # of a table that the file does not list: as costs, as logs, and while they are made
VALUE_BYTES = 160  # the label of a value, and while labels are compared
LARGE = 1 << 16  # bytes: from here on numbers are worth a look at the whole part
_BLANKS = b" \t\n\r"
_FIRST_ROOM = 1 << 20  # entries: what a file asks for may be more than it has
_NUMPY_KINDS = {"int64": np.int64, "double": np.float64}
_OF_NUMBERS = b"0123456789+-.eEinfaINFA" + _BLANKS


class Tokens:
    """The tokens of a text, read from first to last; bounds are inclusive, token indices count from 0.

    A text file is read part by part, and a part is gone once its tokens are read; where an error wants to
    name a line, the file is read again.
    """

    def __init__(self, source: str | TextFile, path: str, number_bytes: int = NUMBER_BYTES) -> None:
        """``number_bytes`` is what a token of a file takes that is read part by part."""
        self.path = path
        self.position = 0  # index of the next token
        self.num_parts = 0  # looked at so far
        self._source: TextFile | TextParts = TextParts(source) if isinstance(source, str) else source
        self._word_bytes = WORD_BYTES if isinstance(source, str) else number_bytes
        self.budget = ModelBudget(len(source) if isinstance(source, str) else 0)
        self._unread = iter(self._source)
        self._parts: deque[Words] = deque()  # looked at, and not read to their end
        self._at = 0  # index of the next token in the first of them

    @property
    def remaining(self) -> int:
        """Number of tokens not read yet; the rest of the text is kept in memory from now on."""
        while self._look_at_next_part():
            pass
        return sum(map(len, self._parts)) - self._at

    @property
    def is_at_end(self) -> bool:
        """Has every token been read?"""
        return not self._has_part()

    def next_word(self, expected: str) -> str:
        """Read one token; ``expected`` says in errors what it should have been."""
        return self._take(1, expected)[0]

    def next_int(self, expected: str, low: int = 0, high: int | None = None) -> int:
        """Read one integer in low..high."""
        return self.next_int_list(1, expected, low, high)[0]

    def next_int_list(self, count: int, expected: str, low: int = 0, high: int | None = None) -> list[int]:
        """Read ``count`` integers in low..high; the quickest way for a few."""
        return self._checked_ints(self._take(count, expected), expected, low, high)

    def next_ints(
        self, count: int, expected: str, low: int = 0, high: int | None = None
    ) -> NDArray[np.int64]:
        """Read ``count`` integers in low..high as an array."""
        found, most = Row(count, np.int64), INT64_MAX if high is None else high
        for words, begin, end in self._slices(count):
            numbers = words.numbers("int64")
            if numbers is None or numbers[begin:end].min() < low or numbers[begin:end].max() > most:
                found.append(self._checked_ints(words.listed[begin:end], expected, low, high))
            else:
                found.append(numbers[begin:end])
        return self._all_of(found.whole(), count, expected)

    def next_floats(self, count: int, expected: str) -> NDArray[np.float64]:
        """Read ``count`` numbers as an array; inf and nan pass, for the caller to judge."""
        found = Row(count, np.float64)
        for part in self.float_parts(count, expected):
            found.append(part)
        return self._all_of(found.whole(), count, expected)

    def float_parts(self, count: int, expected: str) -> Iterator[NDArray[np.float64]]:
        """The same part by part, or fewer where the text ends before."""
        if self._word_bytes == NUMBER_BYTES:  # what is looked at from now on are entries of tables
            self._word_bytes = LISTED_BYTES
        for words, begin, end in self._slices(count):
            numbers = words.numbers("double")
            if numbers is None:
                listed = self._converted(words.listed[begin:end], _strict_float, f"{expected}, a number")
                yield np.array(listed, dtype=np.float64)
            else:
                yield numbers[begin:end]

    def whole_ahead(self) -> NDArray[np.int64]:
        """What can be seen ahead without reading it: digits as numbers, -1 for all else."""
        if not self._has_part():
            return np.empty(0, dtype=np.int64)
        numbers = self._parts[0].numbers("int64")
        if numbers is not None:
            return numbers[self._at :]
        words = self._parts[0].listed[self._at :]
        return np.array([int(word) if _is_short_number(word) else -1 for word in words], dtype=np.int64)

    def skip(self, count: int) -> None:
        """Read what was seen ahead."""
        for _ in self._slices(count):
            pass

    def word_at(self, token: int) -> str:
        """The token at an index, shortened for an error message."""
        return shortened(self._found(token)[1])

    def expect_end(self) -> None:
        """Fail unless every token has been read."""
        if not self.is_at_end:
            extra = f"{self.remaining} more tokens, first {self.word_at(self.position)!r}"
            self.fail(f"expected the end of the file, found {extra}", self.position)

    def fail(self, problem: str, token: int | None = None) -> NoReturn:
        """Raise a FormatError that names the line and the token, by default the last one read."""
        index = max(0, self.position - 1) if token is None else token
        raise FormatError(self.path, f"line {self._found(index)[0]} (token {index + 1})", problem)

    def _take(self, count: int, expected: str) -> list[str]:
        found: list[str] = []
        for words, begin, end in self._slices(count):
            part = words.listed[begin:end]
            found = found + part if found else part
        return self._all_of(found, count, expected)

    def _slices(self, count: int) -> Iterator[tuple[Words, int, int]]:
        """Where the next tokens are, fewer where the text ends before; each part counts as read at once."""
        while count > 0 and self._has_part():
            words, begin = self._parts[0], self._at
            self._at = end = min(len(words), begin + count)
            self.position += end - begin
            count -= end - begin
            yield words, begin, end

    def _has_part(self) -> bool:
        """Is the first part one with tokens to be read? False at the end of the text."""
        while not self._parts or self._at == len(self._parts[0]):
            if self._parts:
                self._parts.popleft()
                self._at = 0
            elif not self._look_at_next_part():
                return False
        return True

    def _look_at_next_part(self) -> bool:
        data = next(self._unread, None)
        if data is None:
            return False
        words = Words(data)
        self.num_parts += 1
        self._parts.append(words)
        if problem := self.budget.problem(self._word_bytes * len(words)):
            raise FormatError(self.path, "", problem)
        return True

    def _all_of(self, found: T, count: int, expected: str) -> T:
        """What was found, unless the text has ended before."""
        if len(found) < count:
            self.position -= len(found)
            wanted = expected if count == 1 else f"{count} tokens ({expected})"
            amount = f"{len(found)} tokens" if len(found) else "nothing"
            last = max(0, self.position + len(found) - 1)
            self.fail(f"the file ends too early: expected {wanted}, found {amount}", last)
        return found

    def _checked_ints(self, words: list[str], expected: str, low: int, high: int | None) -> list[int]:
        """Words just read as integers in low..high."""
        most, numbers = INT64_MAX if high is None else high, list[int]()
        for offset, word in enumerate(words):
            if not _converts(word, _strict_int):
                self._fail_at(offset, words, f"{expected}, an integer")
            numbers.append(int(word))
            if not low <= numbers[-1] <= most:
                bounds = f"at least {low}" if high is None else f"in {low}..{high}"
                self._fail_at(offset, words, f"{expected}, an integer {bounds}")
        return numbers

    def _converted(self, words: list[str], convert: Callable[[str], N], wanted: str) -> list[N]:
        """Words just read as numbers."""
        try:
            return list(map(convert, words))
        except ValueError:
            wrong = next(i for i, word in enumerate(words) if not _converts(word, convert))
            self._fail_at(wrong, words, wanted)

    def _fail_at(self, offset: int, words: list[str], wanted: str) -> NoReturn:
        """Fail at one of the words just read."""
        index = self.position - len(words) + offset
        self.fail(f"expected {wanted}, found {shortened(words[offset])!r}", index)

    def _found(self, token: int) -> tuple[int, str]:
        """Line and word of a token, looked for only now: places are needed for errors alone."""
        seen, line = 0, 1
        for data in self._source:
            words = Words(data)
            if seen + len(words) > token:
                for number, text in enumerate(unix_lines(data.decode()).split("\n"), start=line):
                    if seen + len(text.split()) > token:
                        return number, text.split()[token - seen]
                    seen += len(text.split())
            seen += len(words)
            line += unix_lines(data.decode()).count("\n")
        return line, ""


class TextParts:
    """A text in memory, cut into parts as a file is."""

    def __init__(self, text: str) -> None:
        self._data = text.encode()

    def __iter__(self) -> Iterator[bytes]:
        """Each part, as often as wanted."""
        return parts_of(
            self._data[first : first + PART_BYTES] for first in range(0, len(self._data), PART_BYTES)
        )


class Row:
    """An array filled part by part, made longer in place: a copy would take as much again."""

    def __init__(self, most: int, dtype: type) -> None:
        self._most, self._length = most, 0
        self._array: NDArray[Any] = np.empty(min(most, _FIRST_ROOM), dtype=dtype)

    def __len__(self) -> int:
        """Number of entries so far."""
        return self._length

    def append(self, part: ArrayLike) -> None:
        """Add entries at the end, no more than ``most`` in all."""
        values = np.asarray(part)
        first, self._length = self._length, self._length + len(values)
        if self._length > len(self._array):
            room = min(self._most, max(2 * len(self._array), self._length))
            self._array.resize(room, refcheck=False)
        self._array[first : self._length] = values

    def whole(self) -> NDArray[Any]:
        """What was added; the row is not filled further."""
        self._array.resize(self._length, refcheck=False)
        return self._array


def shortened(word: str) -> str:
    """A token as errors show it: only the start of a very long one."""
    return word if len(word) <= _SHOWN else word[:_SHOWN] + "…"


def _strict_int(word: str) -> int:
    return int(_refuse_python_only(word))


def _strict_float(word: str) -> float:
    return float(_refuse_python_only(word))


def _is_short_number(word: str) -> bool:
    return len(word) < 18 and word.isascii() and word.isdigit()


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


class Words:
    """The words of a part of a text; a large part that is all numbers never becomes words."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._numbers: dict[str, NDArray[Any] | None] = {}

    def __len__(self) -> int:
        """Number of words."""
        return len(self.listed) if self._cut is None else len(self._cut)

    @cached_property
    def listed(self) -> list[str]:
        """The words themselves."""
        return self.data.decode().split()

    def numbers(self, kind: str) -> NDArray[Any] | None:
        """All words as "int64" or "double", read by Arrow; None where it cannot, or the part is small."""
        if kind not in self._numbers:
            self._numbers = {kind: self._converted(kind)}  # one kind is kept: parts are read one way
        return self._numbers[kind]

    def _converted(self, kind: str) -> NDArray[Any] | None:
        if self._cut is None:
            return None
        import pyarrow as pa  # noqa: PLC0415 - small files do without

        try:
            found = self._cut.cast(kind, memory_pool=pa.system_memory_pool())  # Arrow's own would keep much
        except pa.ArrowInvalid:
            return None
        return np.frombuffer(found.buffers()[1], _NUMPY_KINDS[kind], len(found))  # to_numpy would load pandas

    @cached_property
    def _cut(self) -> pa.StringArray | None:
        """The words without what is between them; None where there is more than numbers."""
        if len(self.data) < LARGE or self.data.translate(None, _OF_NUMBERS):
            return None
        import pyarrow as pa  # noqa: PLC0415

        is_word = np.zeros(len(self.data) + 2, dtype=np.bool_)
        np.greater(np.frombuffer(self.data, np.uint8), ord(" "), out=is_word[1:-1])
        edges = np.flatnonzero(is_word[1:] != is_word[:-1])  # where words begin and end
        ends = np.zeros(len(edges) // 2 + 1, dtype=np.int32)
        np.cumsum(edges[1::2] - edges[::2], out=ends[1:])
        letters = self.data.translate(None, _BLANKS)
        return pa.StringArray.from_buffers(len(ends) - 1, pa.py_buffer(ends), pa.py_buffer(letters))
