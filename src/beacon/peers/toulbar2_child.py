"""toulbar2 in a process of its own: ``python toulbar2_child.py PROBLEM.json SECONDS`` prints one JSON line.

Imports neither Beacon nor numpy: it starts once for every query. The problem has the variables' ``sizes``, an
``upper_bound``, the ``decimals`` of costs that count, and ``functions``, each a scope and its costs.
"""

from __future__ import annotations

import json
import os
import sys


def main(path: str, seconds: int) -> None:
    """Solve and leave; its own clean-up at exit is fragile."""
    import pytoulbar2  # noqa: PLC0415

    with open(path, encoding="ascii") as file:
        problem = json.load(file)
    network = pytoulbar2.CFN(problem["upper_bound"], resolution=problem["decimals"])
    for i, size in enumerate(problem["sizes"]):
        network.AddVariable(f"x{i}", range(size))
    for scope, costs in problem["functions"]:
        network.AddFunction(scope, costs)
    found = network.Solve(timeLimit=seconds)
    answer = {
        "values": None if found is None else list(found[0]),
        "proved": found is not None and network.GetDDualBound() >= found[1] - 10.0 ** -problem["decimals"],
        "limited": bool(network.Option.limited),
    }
    print()
    print(json.dumps(answer), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
