"""Whether a guide would be worth its training: verdicts from measurements, and small models measured."""

from __future__ import annotations

import pytest

from beacon.learn import prospect
from beacon.learn.prospect import Probe, duration, prospect_of, summed_up
from beacon.model.families import FAMILIES
from beacon.model.graphical_model import GraphicalModel


@pytest.fixture(autouse=True)
def _short_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("beacon.learn.prospect.PROBE_SECONDS", 0.05)


def probes(*settled: float, proved: bool = False) -> list[Probe]:
    return [Probe(s, int(1e5 * s), s < 0.25, proved, 0.2) for s in settled]


def test_a_search_that_still_improves_makes_a_guide_worth_a_try() -> None:
    prospect = summed_up(probes(0.4, 0.45, 0.1), num_moves=1000, queries=1000, cores=2)
    assert prospect.verdict == "yes"
    assert (prospect.reference_seconds, prospect.training_seconds) == (100, 6)
    assert prospect.sentence == "worth a try (1.8 min): unguided search is still improving after 50 ms"


def test_a_search_that_soon_settles_pays_for_many_queries_at_most() -> None:
    prospect = summed_up(probes(0.04, 0.06, 0.05), num_moves=1000, queries=1000, cores=2)
    assert prospect.verdict == "maybe"
    assert prospect.break_even_queries == 106 / 0.05
    assert prospect.sentence == (
        "for many queries: unguided search stops improving after 50 ms, and a guide saves at most that; "
        "training (1.8 min) pays after 2,120 queries or more"
    )


def test_a_search_that_settles_at_once_needs_no_guide() -> None:
    prospect = summed_up(probes(0.001, 0.002, 0.3), num_moves=10, queries=1000, cores=1)
    assert (prospect.verdict, prospect.settled_steps) == ("no", 200)
    assert prospect.sentence == (
        "hardly worth it unless milliseconds count: unguided search stops improving after 2 ms"
    )


def test_a_search_that_proves_its_answers_needs_no_guide() -> None:
    prospect = summed_up(probes(0.02, proved=True), num_moves=10, queries=1000, cores=1)
    assert prospect.verdict == "no"
    assert prospect.sentence == "hardly worth it: unguided search proves its answers optimal within 20 ms"


def test_a_grid_is_measured() -> None:
    prospect = prospect_of(FAMILIES["grid"](rows=6, columns=6, seed=0), 1000)
    assert prospect is not None
    assert 0 < prospect.settled_seconds < 1
    assert prospect.reference_seconds > 0
    assert prospect.to_dict()["verdict"] in {"no", "maybe"}


def test_one_query_of_a_large_model_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[int]()

    def sampled(_: GraphicalModel, count: int) -> list[dict[int, int]]:
        asked.append(count)
        return [{}] * count

    monkeypatch.setattr(prospect, "sampled_evidences", sampled)
    grid = FAMILIES["grid"](rows=3, columns=3, seed=0)
    for most in (grid.num_entries, grid.num_entries - 1):
        monkeypatch.setattr(prospect, "MAX_PROBED_ENTRIES", most)
        assert prospect_of(grid, 1000) is not None
    assert asked == [3, 1]


def test_a_model_that_cannot_be_sampled_is_searched_without_evidence() -> None:
    impossible = [((0,), [-float("inf")] * 2), ((0, 1), [0.0, 1.0, 2.0, 0.5])]
    assert prospect_of(GraphicalModel.from_tables([2, 2], impossible), 1000) is not None


@pytest.mark.parametrize("sizes", [[], [1, 1]])
def test_a_model_with_nothing_to_search_has_no_prospect(sizes: list[int]) -> None:
    assert prospect_of(GraphicalModel.from_tables(sizes, []), 1000) is None


def test_durations_have_two_digits() -> None:
    seconds = (0.0, 0.00234, 0.165, 3.21, 72.0, 256.0, 7000.0, 4e6)
    texts = ["0.1 ms", "2.3 ms", "160 ms", "3.2 s", "72 s", "4.3 min", "1.9 h", "1,100 h"]
    assert [duration(value) for value in seconds] == texts
