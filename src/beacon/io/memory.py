"""One budget of memory for whatever is read: what a file would become is estimated before it is taken."""

from __future__ import annotations

import math
import os

from beacon.errors import UsageError

VARIABLE = "BEACON_MEMORY"
DEFAULT_GIGABYTES = 1.0
WORD_BYTES = 128  # a word in the text, as an object, in lists, as a number and in its table
NUMBER_BYTES = 24  # a word of a file that is read part by part into arrays: a number, its place, a copy
MARK_BYTES = 40  # a bracket, comma or quote, which may be a token or end an empty cell
TEXT_COPIES = 3  # as bytes, as text, and while it is joined or its line ends are changed
WIDE_COPIES = 12  # the same where one odd character may make four bytes of each
_MARKS = b'[]{}();,:|"='
_KINDS = bytes(
    ord(" ") if chr(byte).isspace() else ord(",") if byte in _MARKS else ord("w") for byte in range(128)
) + bytes([ord("w")] * 128)


def budget_bytes() -> int:
    """What reading one file may take; the environment can set it."""
    text = os.environ.get(VARIABLE, "").strip()
    try:
        gigabytes = float(text) if text else DEFAULT_GIGABYTES
    except ValueError:
        gigabytes = math.nan
    if not 0 < gigabytes < math.inf:
        raise UsageError(f"the environment variable {VARIABLE} must be a number of GiB; found {text!r}")
    return int(gigabytes * 2**30)


class Budget:
    """Adds up what one file takes."""

    def __init__(self, taken: int = 0) -> None:
        self.most, self.taken = budget_bytes(), taken
        self._is_in_word = False

    def problem(self, num_bytes: float) -> str | None:
        """What is wrong with taking this much more, if anything."""
        self.taken += int(min(num_bytes, 2**62))
        if self.taken <= self.most:
            return None
        found = f"found {self.taken / 2**30:,.1f}" if self.taken < 2**50 else "found far more"
        return (
            f"expected what fits into {self.most / 2**30:g} GiB of memory, {found}; "
            f"if it is not a mistake, set {VARIABLE} to more GiB"
        )

    def problem_with_text(self, part: bytes) -> str | None:
        """The same for one more part of a text, by its length, its words and its marks."""
        kinds = part.translate(_KINDS)
        words = kinds.replace(b",", b" ").count(b" w") + (kinds[:1] == b"w" and not self._is_in_word)
        self._is_in_word = kinds[-1:] == b"w"
        copies = TEXT_COPIES if part.isascii() else WIDE_COPIES
        return self.problem(copies * len(part) + WORD_BYTES * words + MARK_BYTES * kinds.count(b","))
