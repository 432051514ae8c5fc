"""From a suite to the networks of it that can be found."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from beacon.errors import BeaconError, UsageError
from beacon.evaluation.problem import Problem
from beacon.evaluation.suite import SuiteNetwork, load_suite

log = logging.getLogger("beacon.evaluation")


def problems_of_suite(
    path: Path, data: Path | None = None, only: Sequence[str] = ()
) -> tuple[list[Problem], list[dict[str, str]]]:
    """The networks whose files are in ``data`` (default: beside the suite), and those that are missing."""
    networks = load_suite(path).networks
    known = {name for network in networks for name in (network.name, network.short_name)}
    for name in only:
        if name not in known:
            raise UsageError(
                f"--only: {path} has no network {name!r}; it has: {', '.join(n.name for n in networks)}"
            )
    folder = path.parent if data is None else data
    if not folder.is_dir():
        raise BeaconError(f"cannot read {folder}: no such folder")
    wanted = [n for n in networks if not only or n.name in only or n.short_name in only]
    found = [(network, network.find(folder)) for network in wanted]
    problems = [_problem(network, file) for network, file in found if file is not None]
    if not problems:
        raise BeaconError(
            f"none of the suite's {len(wanted)} networks is in {folder}, the first: {wanted[0].file}"
        )
    absent = [network for network, file in found if file is None]
    for network in absent:
        log.warning(
            "%s: no file %s in %s; to be had from %s", network.name, network.file, folder, network.source
        )
    return problems, [{"name": n.name, "file": n.file, "source": n.source} for n in absent]


def _problem(network: SuiteNetwork, file: Path) -> Problem:
    queries, guide = file.parent / f"{network.name}.parquet", file.parent / f"{network.name}.guide"
    return Problem(
        network.name,
        file,
        queries if queries.exists() else None,
        str(guide) if guide.exists() else None,
        network,
    )
