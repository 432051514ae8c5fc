"""Starts that learn from solved queries, for starts.py."""

from __future__ import annotations

import json
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import beacon
from beacon.engine.cross import LaterOpinions, num_affordable
from beacon.engine.message_start import begin_in_time
from beacon.guide.fast_guide import FastGuide
from beacon.guide.solved import SolvedGuide
from beacon.guided.guide import EvidenceGuide
from beacon.learn.train import FastSettings
from beacon.strategies.auto.profile import Profile

if TYPE_CHECKING:
    from starts import Begin, Case


def library(case: Case) -> NDArray[np.int16]:
    """[training queries, variables] what short searches found."""
    seconds = 1.0 if case.is_large else min(0.05, 60 / case.num_train)

    def make() -> NDArray[np.int16]:
        rows = [case.solved(case.evidence_of(fixed), seconds) for fixed in case.train_fixed]
        return np.array(rows, dtype=np.int16)

    return case.kept(f"library {case.num_train}", make)


def train_solved(case: Case, count: int | None = None) -> SolvedGuide:
    return SolvedGuide(case.model, case.library[:count])


def train_fast(case: Case, count: int | None = None, width: int = FastSettings().width) -> FastGuide:
    """The fast guide of the training queries; a tenth of them decides when it is done."""
    from beacon.learn.examples import Examples, measured  # noqa: PLC0415
    from beacon.learn.fast import _epochs  # noqa: PLC0415

    rows, observed = case.library[:count].astype(np.int64), case.train_fixed[:count] >= 0
    cut, settings = len(rows) * 9 // 10, FastSettings(width=width)
    train, validation = Examples(rows[:cut], observed[:cut]), Examples(rows[cut:], observed[cut:])
    losses, guides = list[float](), list[FastGuide]()
    for _, weights in _epochs(case.model, train, settings, 0):
        guides.append(FastGuide(case.model, weights))
        losses.append(measured(guides[-1], validation).loss)
        if int(np.argmin(losses)) + settings.patience < len(losses):
            break
    return guides[int(np.argmin(losses))]


def guided(case: Case, k: int, seconds: float, guide: EvidenceGuide, most: int = 10) -> Begin:
    """Where a guide would begin, and its opinions."""
    from starts import Begin  # noqa: PLC0415

    began = thread_time()
    fixed = case.fixed[k]
    seen, observed = np.maximum(fixed, 0).astype(np.int64), fixed >= 0
    start = guide.moves.best_values(guide.probabilities(seen[None], observed[None]))[0]
    count = int(min(most, num_affordable(case.runner.flat, seconds)))
    opinions = guide.opinions(seen, observed, count)
    return Begin(start, thread_time() - began, opinions=opinions)


def messages_crossed(case: Case, k: int, seconds: float, share: float = 0.0) -> Begin:
    """A start by messages, crossed with answers, and later with more of them."""
    from starts import Begin  # noqa: PLC0415

    return opined(case, k, seconds, Begin(begin=begin_in_time(case.runner.searched, seconds)), MANY, share)


def opined(case: Case, k: int, seconds: float, begin: Begin, count: int, share: float) -> Begin:
    """The same start crossed with ``count`` answers as time allows, and later with up to ``LATER``."""
    began, fixed = thread_time(), case.fixed[k]
    seen, observed = np.maximum(fixed, 0).astype(np.int64), fixed >= 0
    now = int(min(count, num_affordable(case.runner.searched, seconds)))
    rows = case.solved_guide().opinions(seen, observed, max(now, LATER if share else 0))
    later = LaterOpinions(np.roll(rows, -now, axis=0), share) if share else None
    seconds = begin.seconds + thread_time() - began
    return begin._replace(opinions=rows[:now], later=later, seconds=seconds)


def vote_crossed(case: Case, k: int, seconds: float, share: float = 0.0) -> Begin:
    """The guide's start, crossed with answers, and later with more of them."""
    return opined(case, k, seconds, guided(case, k, seconds, case.solved_guide(), 0), MANY, share)


def plain(case: Case, k: int, seconds: float, share: float) -> Begin:
    """The mix as it is, crossed with answers later alone."""
    from starts import Begin  # noqa: PLC0415

    return opined(case, k, seconds, Begin(), 0, share)


def crossed_at_random(case: Case, k: int, seconds: float) -> Begin:
    """A control: a random start and opinions that nobody has."""
    from starts import Begin  # noqa: PLC0415

    count = int(min(10, num_affordable(case.runner.flat, seconds)))
    rows = np.random.default_rng(k).integers(
        0, case.model.domain_sizes, (count + 1, case.model.num_variables)
    )
    return Begin(rows[0], opinions=rows[1:])


def tuned(case: Case) -> Begin:
    """The profile that `beacon tune` finds on training queries."""
    from starts import Begin  # noqa: PLC0415

    path = case.cache / f"{case.name} profile.json"
    if not path.exists():
        evidences = [case.evidence_of(fixed) for fixed in case.train_fixed[:16]]
        queries = beacon.QuerySet.from_evidence(evidences, case.model, splits=(0.0, 1.0, 0.0))
        settings = beacon.TuneSettings(seconds=(0.01, 0.03, 0.1), queries=16)
        best = beacon.tune(case.model, queries, settings=settings).best.profile
        assert best is not None
        path.write_text(json.dumps(best.to_dict()), encoding="utf-8")
    return Begin(profile=Profile.from_dict(json.loads(path.read_text(encoding="utf-8"))))


LEARNED: dict[str, Any] = {
    "solved": lambda case, k, seconds: guided(case, k, seconds, case.solved_guide()),
    "vote": lambda case, k, seconds: guided(case, k, seconds, case.solved_guide(), most=0),
    "fast": lambda case, k, seconds: guided(case, k, seconds, case.fast_guide()),
    "crossed at random": crossed_at_random,
    "tuned": lambda case, k, _: tuned(case),
}
LATER, MANY, SHARE = 200, 50, 0.1
WIDE = 256
LEARNED |= {
    "crossed later": lambda c, k, s: plain(c, k, s, SHARE),
    "messages, crossed": messages_crossed,
    "messages, crossed, and later": lambda c, k, s: messages_crossed(c, k, s, SHARE),
    "vote, crossed": vote_crossed,
    "vote, crossed, and later": lambda c, k, s: vote_crossed(c, k, s, SHARE),
}
NUMBERS = (25, 50, 200, 800, 3000)
LEARNED |= {
    f"solved of {n}": lambda case, k, seconds, n=n: guided(case, k, seconds, case.solved_guide(n))
    for n in NUMBERS
}
LEARNED["wide fast of 3000"] = lambda case, k, seconds: guided(case, k, seconds, case.fast_guide(3000, WIDE))
LEARNED |= {
    f"fast of {n}": lambda case, k, seconds, n=n: guided(case, k, seconds, case.fast_guide(n))
    for n in NUMBERS
}
