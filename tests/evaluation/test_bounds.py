"""Upper bounds are kept with the runs, and say how far the best known may be below the optimum."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import beacon
from beacon.evaluation.metrics import Floats
from beacon.model.families import ising_grid
from beacon.report.contents import Report, make_report
from beacon.runner import known

GRID = np.geomspace(1e-4, 0.2, 40)


@pytest.fixture(scope="module")
def results() -> beacon.Evaluation:
    """A grid that is solved exactly by one of two methods."""
    model = ising_grid(3, 4, seed=1)
    queries = beacon.sample_queries(model, 20, seed=0)
    return beacon.evaluate(model, queries, methods=["auto", "greedy"], steps=[20], propagate=True)


def test_only_methods_that_know_a_bound_have_one(results: beacon.Evaluation) -> None:
    known = {record.method: record.upper_bound for record in results.records}
    assert known["greedy"] is None
    assert known["auto"] is not None
    for record in results.records:
        assert record.upper_bound is None or record.upper_bound >= record.score - 1e-9


def test_the_best_is_no_further_below_the_optimum_than_the_bound_says(results: beacon.Evaluation) -> None:
    (network,) = results.networks
    gaps = results.bound_gaps(network)
    assert gaps.shape == (len(results.queries(network)),)
    assert (gaps == 0).all()  # elimination proves this grid


def test_a_bound_above_the_best_is_a_gap_in_percent(results: beacon.Evaluation) -> None:
    (network,) = results.networks
    best = results.best(network)
    changed = [
        {**vars(record), "proved": False, "upper_bound": record.score + abs(record.score) / 50}
        if record.method == "auto"
        else {**vars(record), "proved": False}
        for record in results.records
    ]
    later = beacon.Evaluation(results.run, [type(results.records[0])(**row) for row in changed])
    np.testing.assert_allclose(later.bound_gaps(network), np.full(len(best), 2.0))
    without = [row for row in changed if row["method"] == "greedy"]
    blind = beacon.Evaluation(results.run, [type(results.records[0])(**row) for row in without])
    assert np.isinf(blind.bound_gaps(network)).all()


@pytest.fixture(scope="module")
def bounded() -> beacon.Evaluation:
    """A grid that elimination may not touch, searched with a bound and without one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(known, "ENTRIES_PER_SECOND", 0)
        model = ising_grid(7, 7, seed=1)
        queries = beacon.sample_queries(model, 40, seed=0)
        return beacon.evaluate(model, queries, methods=["auto", "greedy"], seconds=[0.2], propagate=True)


def plots_of(report: Report) -> dict[str, object]:
    return {plot.key: plot.axes for plot in report.plots if plot.key.startswith("bounds")}


def test_records_keep_every_bound_down_to_the_last(bounded: beacon.Evaluation) -> None:
    for record in bounded.records:
        assert record.bounds is not None
        assert record.bound_seconds is not None
        if record.method == "greedy":
            assert (record.bounds, record.bound_seconds) == ([], [])
            continue
        assert len(record.bounds) == len(record.bound_seconds) > 1
        assert (np.diff(record.bounds) < 0).all()
        assert (np.diff(record.bound_seconds) > 0).all()
        assert record.bounds[-1] == record.upper_bound
        assert record.bound_seconds[0] > 0
        assert record.bound_seconds[-1] <= record.setup_seconds + record.seconds + 1e-3


def test_the_band_is_the_mean_of_the_bounds_and_never_below_the_scores(bounded: beacon.Evaluation) -> None:
    (network,) = bounded.networks
    scores, bounds = bounded.band(network, "auto", GRID)
    runs = bounded.runs(network, "auto")
    begins = max(run.bound_seconds[0] for run in runs if run.bound_seconds)
    is_bounded = begins <= GRID
    assert is_bounded.any()
    assert (np.isfinite(bounds) == is_bounded).all()
    for at in np.flatnonzero(is_bounded):
        last = [
            [
                bound
                for when, bound in zip(run.bound_seconds or (), run.bounds or (), strict=True)
                if when <= GRID[at]
            ][-1]
            for run in runs
        ]
        assert bounds[at] == pytest.approx(np.mean(last))
    assert (np.diff(bounds[is_bounded]) <= 1e-12).all()
    assert (np.diff(scores[np.isfinite(scores)]) >= -1e-12).all()
    assert (bounds >= scores)[is_bounded].all()
    over = max(run.bound_seconds[-1] for run in runs if run.bound_seconds)
    (at_the_end,) = bounded.band(network, "auto", np.array([over]))[1]
    assert at_the_end == pytest.approx(np.mean([run.upper_bound or np.nan for run in runs]))
    assert np.isnan(bounded.band(network, "greedy", GRID)[1]).all()


def test_a_report_draws_the_band_of_methods_that_have_one(bounded: beacon.Evaluation) -> None:
    (network,) = bounded.networks
    (ax,) = plots_of(make_report(bounded)).values()
    (lower, upper), (band,) = ax.lines, ax.collections
    grid: Floats = np.geomspace(1e-4, 0.2, 45)
    scores, bounds = bounded.band(network, "auto", grid)
    is_bounded = np.isfinite(bounds)
    assert lower.get_label() == "auto"
    np.testing.assert_array_equal(lower.get_xdata(), grid[is_bounded])
    np.testing.assert_array_equal(lower.get_ydata(), scores[is_bounded])
    np.testing.assert_array_equal(upper.get_ydata(), bounds[is_bounded])
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (scores[is_bounded].min(), bounds[is_bounded].max())


def test_the_page_and_the_pictures_have_the_band(bounded: beacon.Evaluation, tmp_path: Path) -> None:
    page = bounded.report(tmp_path)
    assert "score and bound" in page.read_text(encoding="utf-8")
    assert (tmp_path / "plots" / "bounds-model.svg").exists()


def test_there_is_no_band_where_elimination_answers(results: beacon.Evaluation) -> None:
    assert plots_of(make_report(results)) == {}


def test_results_of_earlier_versions_have_no_band(bounded: beacon.Evaluation, tmp_path: Path) -> None:
    bounded.save(tmp_path)
    path = tmp_path / "evaluation.parquet"
    pq.write_table(pq.read_table(path).drop(["bounds", "bound_seconds"]), path)
    old = beacon.Evaluation.load(tmp_path)
    assert {(record.bounds, record.bound_seconds) for record in old.records} == {(None, None)}
    assert plots_of(make_report(old)) == {}
    assert [record.upper_bound for record in old.records] == [
        record.upper_bound for record in bounded.records
    ]
