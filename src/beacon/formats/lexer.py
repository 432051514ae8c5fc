"""Words and punctuation of a text with comments and quotes, cut by one pattern; shared by BIF and CFN."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from beacon.errors import FormatError
from beacon.formats.tokens import ModelBudget, shortened
from beacon.io.files import WORD_BYTES

# A quoted text; an unfinished one runs to the end of the file, so that cutting stays linear.
QUOTED = r'"(?:[^"\\]|\\.)*+"?'


class Lexer:
    """The tokens of a text, read from first to last; quoted ones keep their quotes until they are used."""

    def __init__(self, text: str, path: str, pattern: re.Pattern[str], comments: tuple[str, ...]) -> None:
        self.path = path
        self.position = 0  # index of the next token
        self._text = text
        self._pattern = pattern
        self._comments = comments
        found: list[str] = pattern.findall(text)
        self.tokens = [token for token in found if not token.startswith(comments)]
        self.budget = ModelBudget(len(text) + WORD_BYTES * sum(len(token) > 1 for token in self.tokens))

    @property
    def at_end(self) -> bool:
        """Whether every token has been read."""
        return self.position >= len(self.tokens)

    def peek(self) -> str:
        """The next token, without reading it; empty at the end of the file."""
        return "" if self.at_end else self.tokens[self.position]

    def next(self, expected: str) -> str:
        """Read one token; ``expected`` says in errors what it should have been."""
        if self.at_end:
            self._fail_at_end(expected)
        self.position += 1
        return self.tokens[self.position - 1]

    def next_name(self, expected: str, punctuation: str) -> str:
        """Read one word, without its quotes; punctuation is none."""
        token = self.next(expected)
        if token in punctuation:
            self.fail(f"expected {expected}, found {token!r}")
        return unquoted(token)

    def expect(self, token: str) -> None:
        """Read one token that must be this one."""
        found = self.next(repr(token))
        if found != token:
            self.fail(f"expected {token!r}, found {shortened(found)!r}")

    def next_until(self, end: str, expected: str) -> list[str]:
        """Read all tokens before the next ``end``, and ``end`` itself."""
        start = self.position
        try:
            stop = self.tokens.index(end, start)
        except ValueError:
            self._fail_at_end(f"{expected} and {end!r}")
        self.position = stop + 1
        return self.tokens[start:stop]

    def numbers(self, words: list[str], places: Sequence[int], expected: str) -> NDArray[np.float64]:
        """Tokens, read at those indices, as numbers; inf passes, for the caller to judge, nan does not."""
        plain = unquoted_all(words)
        try:
            values = np.array(list(map(float, plain)), dtype=np.float64)
        except ValueError:
            self._fail_at_first_bad(plain, places, expected)
        joined = "".join(plain)
        if np.isnan(values).any() or "_" in joined or not joined.isascii():
            self._fail_at_first_bad(plain, places, expected)
        return values

    def fail(self, problem: str, token: int | None = None) -> NoReturn:
        """Raise a FormatError that names the line of a token, by default the last one read."""
        line = self._line_of(self.position - 1 if token is None else token)
        raise FormatError(self.path, f"line {line}", problem)

    def _fail_at_end(self, expected: str) -> NoReturn:
        self.fail(f"the file ends too early: expected {expected}", len(self.tokens) - 1)

    def _fail_at_first_bad(self, words: list[str], places: Sequence[int], expected: str) -> NoReturn:
        bad = next(i for i, word in enumerate(words) if not is_number(word))
        self.fail(f"expected {expected}, a number, found {shortened(words[bad])!r}", places[bad])

    def _line_of(self, token: int) -> int:
        """Line of a token, found only now: places are needed for errors alone."""
        matches = self._pattern.finditer(self._text)
        begins = (m.start() for m in matches if not m[0].startswith(self._comments))
        for index, begin in enumerate(begins):
            if index == token:
                return self._text.count("\n", 0, begin) + 1
        return 1


def unquoted(token: str) -> str:
    """A token without its quotes; escapes are those of JSON, and a backslash that begins none stays."""
    if len(token) < 2 or token[0] != '"':
        return token
    if "\\" in token:
        try:
            text: str = json.loads(token, strict=False)
            text.encode()  # half a surrogate pair is no character
            return text
        except ValueError:
            pass
    return token[1:-1]


def unquoted_all(tokens: list[str]) -> list[str]:
    """Tokens without quotes; the same list where there are none, which is the usual case."""
    if not any(token[:1] == '"' for token in tokens):
        return tokens
    return [unquoted(token) for token in tokens]


def quoted(name: str) -> str:
    """A name in quotes, such that :func:`unquoted` gives it back."""
    return json.dumps(name, ensure_ascii=False)


def is_number(word: str) -> bool:
    """Whether a word is a number in ASCII digits; inf is one, nan is not."""
    try:
        value = float(word)
    except ValueError:
        return False
    return word.isascii() and "_" not in word and not math.isnan(value)


def first_repeated(names: Iterable[str]) -> str | None:
    """The first name that was there before, if one was."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
