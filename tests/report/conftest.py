from __future__ import annotations

from pathlib import Path

import pytest

from beacon.evaluation.evaluation import Evaluation
from beacon.report.contents import Report, make_report
from beacon.report.html import as_html
from tests.report.helpers import toy_evaluation


@pytest.fixture(scope="session")
def toy_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished evaluation; not to be written to."""
    folder = tmp_path_factory.mktemp("toy")
    toy_evaluation(folder)
    return folder


@pytest.fixture(scope="session")
def toy_page(toy_report: Report) -> str:
    """Its page; drawing takes a few seconds."""
    return as_html(toy_report, "A <toy> & more")


@pytest.fixture(scope="session")
def toy_report(toy_folder: Path) -> Report:
    """The report of that evaluation."""
    return make_report(Evaluation.load(toy_folder))
