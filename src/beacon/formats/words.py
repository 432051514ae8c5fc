"""A part of a text as words or as numbers; a large part that is all numbers never becomes words."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

LARGE = 1 << 16  # bytes: from here on numbers are worth a look at the whole part
_BLANKS = b" \t\n\r"
_OF_NUMBERS = b"0123456789+-.eEinfaINFA" + _BLANKS


class Words:
    """The words of a part of a text."""

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
        numbers: NDArray[Any] = found.to_numpy(zero_copy_only=False)
        return numbers

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
