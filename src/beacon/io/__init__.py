"""Files that are complete or absent: compression, atomic writes, Parquet, locks, work in progress."""
