"""Words and punctuation of a text with comments and quotes, cut by one pattern; shared by BIF and CFN."""

from __future__ import annotations

import re
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from beacon.errors import FormatError
from beacon.formats.tokens import shortened

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Lexer:
    """The tokens of a text, read from first to last; quoted ones keep their quotes until they are used."""

    def __init__(self, text: str, path: str, pattern: re.Pattern[str], comments: tuple[str, ...]) -> None:
        self.path = path
        self.position = 0  # index of the next token
        self._text = text
        self._pattern = pattern
        self._comments = comments
        self.tokens = [token for token in pattern.findall(text) if not token.startswith(comments)]

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
        """Read one word that is no punctuation, without its quotes."""
        token = self.next(expected)
        if token in punctuation or token == '"':
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

    def numbers(self, words: list[str], start: int, expected: str) -> NDArray[np.float64]:
        """Tokens from index ``start`` on as numbers; inf passes, for the caller to judge, nan does not."""
        plain = [unquoted(word) for word in words] if any('"' in word for word in words) else words
        try:
            values = np.array(list(map(float, plain)), dtype=np.float64)
        except ValueError:
            self._fail_at_first_bad(plain, start, expected)
        joined = "".join(plain)
        if np.isnan(values).any() or "_" in joined or not joined.isascii():
            self._fail_at_first_bad(plain, start, expected)
        return values

    def fail(self, problem: str, token: int | None = None) -> NoReturn:
        """Raise a FormatError that names the line of a token, by default the last one read."""
        line = self._line_of(self.position - 1 if token is None else token)
        raise FormatError(self.path, f"line {line}", problem)

    def _fail_at_end(self, expected: str) -> NoReturn:
        self.fail(f"the file ends too early: expected {expected}", len(self.tokens) - 1)

    def _fail_at_first_bad(self, words: list[str], start: int, expected: str) -> NoReturn:
        bad = next(i for i, word in enumerate(words) if not is_number(word))
        self.fail(f"expected {expected}, a number, found {shortened(words[bad])!r}", start + bad)

    def _line_of(self, token: int) -> int:
        """Line of a token, found only now: places are needed for errors alone."""
        begins = (m.start() for m in self._pattern.finditer(self._text) if not m[0].startswith(self._comments))
        for index, begin in enumerate(begins):
            if index == token:
                return self._text.count("\n", 0, begin) + 1
        return 1


def unquoted(token: str) -> str:
    """A token without its quotes and escapes."""
    if len(token) < 2 or token[0] != '"':
        return token
    inside = token[1:-1]
    return _ESCAPED.sub(r"\1", inside) if "\\" in inside else inside


def quoted(name: str) -> str:
    """A name in quotes, such that :func:`unquoted` gives it back."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def is_number(word: str) -> bool:
    """Whether a word is a number in ASCII digits, inf included and nan not."""
    try:
        value = float(word)
    except ValueError:
        return False
    return word.isascii() and "_" not in word and value == value


