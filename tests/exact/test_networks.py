"""Published networks: optima by elimination and bounds, against toulbar2's proofs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beacon.exact.bound import Bound
from beacon.exact.plan import plan
from beacon.exact.solve import solve_parts
from beacon.formats import read_model
from beacon.peers.peer import find_peer
from beacon.query.query_set import sample_queries
from beacon.reduce.query import reduce_query
from tests.exact.small_models import flat_query

pytestmark = pytest.mark.benchmarks_data


@pytest.mark.parametrize("name", ["BN_30", "BN_45", "Promedas_60", "or_chain_89.fg"])
def test_optima_are_those_that_toulbar2_proves(name: str, benchmark_files: Path) -> None:
    pytest.importorskip("pytoulbar2")
    model = read_model(benchmark_files / f"paper/{name}.uai.xz")
    queries = sample_queries(model, 3, seed=11)
    for k in range(3):
        evidence = queries.evidence(k)
        reduced = reduce_query(*flat_query(model, evidence))
        answer = solve_parts(reduced, plan(reduced))
        peer = find_peer("toulbar2").solve(model, evidence, seconds=20.0)
        assert answer.is_complete
        assert peer.proved_optimal
        assert model.log_score(answer.complete()) == pytest.approx(peer.log_score, abs=1e-3)
        assert model.log_score(answer.complete()) >= peer.log_score - 1e-9


@pytest.mark.parametrize("name", ["BN_30", "BN_65"])
def test_bounds_close_in_on_the_optimum(name: str, benchmark_files: Path) -> None:
    model = read_model(benchmark_files / f"paper/{name}.uai.xz")
    reduced = reduce_query(*flat_query(model, sample_queries(model, 1, seed=12).evidence(0)))
    best = solve_parts(reduced, plan(reduced)).score
    prospect = Bound(solve_parts(reduced, plan(reduced), parts=np.zeros(reduced.num_parts, dtype=np.bool_)))
    prospect.run(passes=2000)
    assert best <= prospect.upper_bound <= best + 0.01 * abs(best)


def test_a_bound_proves_what_is_too_large_to_eliminate(benchmark_files: Path) -> None:
    pytest.importorskip("pytoulbar2")
    model = read_model(benchmark_files / "paper/BN_65.uai.xz")
    queries = sample_queries(model, 3, seed=11)
    open_queries = 0
    for k in range(3):
        reduced = reduce_query(*flat_query(model, queries.evidence(k)))
        answer = solve_parts(reduced, plan(reduced, max_entries=1 << 16))
        if not answer.is_complete:
            peer = find_peer("toulbar2").solve(model, queries.evidence(k), seconds=20.0)
            prospect = Bound(answer)
            prospect.run(passes=40, best=peer.log_score)
            assert prospect.proves(peer.log_score)
            open_queries += 1
    assert open_queries > 0
