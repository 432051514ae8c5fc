"""Profiles: what they make of the automatic mix, and what they refuse."""

from __future__ import annotations

import pytest

from beacon.errors import UsageError
from beacon.strategies.auto import Auto, OtherWeight
from beacon.strategies.auto.profile import Profile
from beacon.strategies.gls import GlsPlus
from beacon.strategies.tree import Tree


def test_the_default_profile_is_the_default_mix() -> None:
    assert Profile().strategy() == Auto()
    assert str(Profile()) == "auto"


def test_a_profile_says_what_differs() -> None:
    profile = Profile(2.0, "tree", 0.2, "random")
    assert profile.strategy() == Auto((Tree(), GlsPlus(2.0), OtherWeight(2.0)), 0.2, start="random")
    assert str(profile) == "auto, tree first, weight 2, shares from 0.2, random start"
    assert Profile.from_dict(profile.to_dict()) == profile


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"first": "luck"}, "first must be one of gls.*; found 'luck'"),
        ({"min_share": 0.5}, r"min_share must lie in 0\.\."),
        ({"start": "here"}, "start must be 'messages', 'constructed' or 'random'; found 'here'"),
        ({"penalty_weight": -1.0}, "penalty_weight"),
        ({"wight": 1.0}, "a profile has no setting 'wight'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Profile.from_dict(settings)
