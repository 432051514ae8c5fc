from __future__ import annotations

from typing import Any

import pytest

from beacon.errors import UsageError
from beacon.guided.use import GuideUse


def test_a_use_survives_a_guides_file() -> None:
    use = GuideUse("random", 0.7, "all", 50, "guide", 3.0, False)
    assert GuideUse.from_dict(use.to_dict()) == use


def test_a_guide_that_holds_a_retired_setting_can_still_be_used() -> None:
    assert GuideUse.from_dict({"start": "random", "refresh": 5, "refresh_growth": 2.0}) == GuideUse(
        "random", refresh=5
    )


def test_by_default_the_guide_chooses_the_start_and_nothing_more() -> None:
    assert GuideUse().asks_guide
    assert not GuideUse().guidance.is_heeded
    assert not GuideUse(start="random").asks_guide


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "cold"}, "start must be 'random' or 'guide'; found 'cold'"),
        ({"refresh": -1}, "refresh must be a whole number of at least 0; found -1"),
        ({"refresh": 0.5}, "refresh must be a whole number of at least 0; found 0.5"),
        ({"weight": 2}, "the weight of a guide must be a number from 0 to 1; found 2"),
        ({"candidates": "few"}, "candidates must be 'all' or 'improving'; found 'few'"),
        ({"wieght": 0.5}, "guided search has no setting 'wieght'; did you mean 'weight'?"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        GuideUse.from_dict(settings)
