"""Parquet files with single wrong bits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FLIP_BITS = """
import sys
import pyarrow as pa
from beacon.errors import BeaconError
from beacon.io.parquet_file import ParquetKind, load_table, save_table

kind, path = ParquetKind(b"k", 1, "thing", "things", "make", ("a", "b")), sys.argv[1]
columns = {"a": pa.array([[1, 2], [], [3]]), "b": pa.array(["x", "y", "x"])}
save_table(kind, columns, {"num_variables": 1, "fingerprint": "f"}, path)
data = open(path, "rb").read()
footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
for k in range(8 * footer, 8 * len(data), 5):
    changed = bytearray(data)
    changed[k // 8] ^= 1 << k % 8
    with open(path, "wb") as file:
        file.write(changed)
    try:
        load_table(kind, path)
    except BeaconError as error:
        assert len(str(error).splitlines()) == 1
        print(error)
print("done")
"""


def test_no_wrong_bit_of_the_list_of_contents_ends_the_process(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FLIP_BITS, str(tmp_path / "x.parquet")]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert lines[-1] == "done"
    assert any("histogram" in line for line in lines)  # the kind of error that pyarrow does not catch
