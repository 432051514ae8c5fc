"""The text that Prometheus reads."""

from __future__ import annotations

from beacon.serve.service import BUCKETS, Metrics


def test_counts_and_gauges_have_a_line_each() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.count("beacon_answers_total", model='a"b\\c\n', proof="none")
    metrics.gauge("beacon_queue_length", "Waiting.", lambda: 7)
    lines = metrics.text().splitlines()
    assert 'beacon_answers_total{model="a\\"b\\\\c\\n",proof="none"} 3' in lines
    assert "# TYPE beacon_queue_length gauge" in lines
    assert lines[-1] == "beacon_queue_length 7"


def test_a_histogram_counts_upwards() -> None:
    metrics = Metrics()
    for seconds in (0.0004, 0.001, 0.03, 100.0):
        metrics.time("beacon_wait_seconds", seconds)
    text = metrics.text()
    counts = {
        line.split('"')[1]: int(line.split()[-1])
        for line in text.splitlines()
        if line.startswith("beacon_wait_seconds_bucket")
    }
    assert list(counts) == [*map(str, BUCKETS), "+Inf"]
    assert (counts["0.001"], counts["0.025"], counts["0.05"], counts["60.0"], counts["+Inf"]) == (
        2,
        2,
        3,
        3,
        4,
    )
    assert "beacon_wait_seconds_sum 100.031400" in text
    assert "beacon_wait_seconds_count 4" in text
