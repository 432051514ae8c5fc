"""Tokens of a CFN file: JSON where quotes, commas, colons, field names and kinds of brackets are optional."""

from __future__ import annotations

import re

from beacon.formats.lexer import QUOTED, Lexer, unquoted
from beacon.formats.tokens import shortened

# Commas and colons only separate, so they are no tokens.
_TOKEN = re.compile(rf'(?:[^\s"{{}}\[\],:#/]++|/(?!/))++|[{{}}\[\]]|{QUOTED}|#[^\n]*|//[^\n]*', re.DOTALL)
_SAME_BRACKET = {"{": "[", "}": "]"}  # the format lets either stand for the other


class CfnTokens(Lexer):
    """Tokens in which every bracket is [ or ]."""

    def __init__(self, text: str, path: str) -> None:
        super().__init__(text, path, _TOKEN, comments=("#", "//"))
        self.tokens = [_SAME_BRACKET.get(token, token) for token in self.tokens]
        self.is_tagged = False  # whether fields have names; the short form leaves them out

    def open(self) -> None:
        """Read an opening bracket."""
        self._expect_bracket("[", "an opening bracket")

    def close(self) -> None:
        """Read a closing bracket."""
        self._expect_bracket("]", "a closing bracket")

    def tag(self, name: str) -> None:
        """Read the name of a field, where fields have names."""
        if self.is_tagged:
            found = unquoted(self.next(repr(name)))
            if found != name:
                self.fail(f"expected {name!r}, found {shortened(found)!r}")

    def word(self, expected: str) -> str:
        """Read a word, with or without quotes."""
        return self.next_name(expected, punctuation="[]")

    def _expect_bracket(self, bracket: str, expected: str) -> None:
        found = self.next(expected)
        if found != bracket:
            self.fail(f"expected {expected}, found {shortened(found)!r}")


def begins_number(token: str) -> bool:
    """Whether a token is a number by its first character, which is the format's own rule."""
    return token[:1] in tuple("0123456789+-.")
