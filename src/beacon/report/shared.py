"""What a report compares: methods on the same queries, also where some have not run all of them yet."""

from __future__ import annotations

from beacon.errors import plural
from beacon.evaluation.evaluation import Evaluation


def everywhere(results: Evaluation) -> Evaluation:
    """The networks on which every method has run: sums over several networks are sums over these."""
    ran = {network: {m for m in results.methods if results.runs(network, m)} for network in results.networks}
    kept = [record for record in results.records if len(ran[record.network]) == len(results.methods)]
    return results if len(kept) == len(results.records) else Evaluation(results.run, kept, results.folder)


def shared_in_words(results: Evaluation, compared: Evaluation) -> str:
    """On how many of the queries the methods are compared; empty if each has run all."""
    every, counts = _starts(results), _counts(results)
    lacking = [f"{method} {count or 'none'}" for method, count in counts.items() if count < len(every)]
    if not lacking:
        return ""
    seeds = " and seeds" if len(results.seeds) > 1 else ""
    return (
        f"Methods are compared on {len(_starts(compared)):,} of {plural(len(every), 'query')}{seeds}, those "
        f"that all methods with results have run; so far {', '.join(lacking)}."
    )


def _starts(results: Evaluation) -> set[tuple[str, int, int]]:
    return {(record.network, record.seed, record.query) for record in results.records}


def _counts(results: Evaluation) -> dict[str, int]:
    """The runs of each method, also of those that have not begun."""
    counts = dict.fromkeys([*results.run["methods"], *results.methods], 0)
    for record in results.records:
        counts[record.method] += 1
    return counts
