"""Pages for users stay short, and their figures are those of the studies that they name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

DOCS, README = ROOT / "docs", ROOT / "README.md"
REFERENCE = ("api", "command-line", "formats", "options", "python")
PAGES = [path for path in sorted(DOCS.glob("*.md")) if path.stem not in REFERENCE]
MAX_WORDS, MAX_ROWS = 800, 8
MAX_TOGETHER = 15_000
MENU = {
    "Tutorials": "first-query many-queries training live-page",
    "How to": "howto-diagnosis howto-genetics howto-wcsp howto-research howto-python choosing howto-pgmpy "
    "gpu scaling-out container extending reproduction",
    "Reference": "api command-line options formats glossary",
    "Explanation": "concepts algorithm engine gls strategies exactness guides",
}
STUDY = re.compile(r"\]\((?:\.\./)?research/([\w-]+\.md)[^)]*\)")
MEASURED = re.compile(r"\d (?:%|ms|µs|s|seconds?|times)(?!\w)")  # a time, a share or a factor
STATED = ("95 % bootstrap", "about 5 ms of work", "1.6 times as probable")  # chosen, not measured
NOT_PROSE = re.compile(r"```[\s\S]*?```|`[^`\n]*`|^(?:    |\|).*$|\]\([^)]*\)", re.MULTILINE)
FIGURE = re.compile(r"(?<![\w.,^-])\d[\d,]*(?:\.\d+)?(?![\w.]*\w)")


def pages_of(group: str) -> list[str]:
    """The pages of one of the four groups of the menu."""
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    return re.findall(r"\]\(([\w-]+)\.md\)", index.partition(f"\n## {group}\n")[2].partition("\n## ")[0])


def sections_with_studies() -> Iterator[tuple[str, str, set[str]]]:
    """(page, section, names of the studies to which the section links); of the README, paragraphs."""
    readme = ((README, part) for part in README.read_text(encoding="utf-8").split("\n\n"))
    pages = ((page, part) for page in PAGES for part in page.read_text(encoding="utf-8").split("\n## "))
    for page, section in (*readme, *pages):
        if studies := set(STUDY.findall(section)) - {"README.md"}:
            yield page.name, section, studies


def figures_of(text: str) -> set[str]:
    """The numbers of a text, without the commas of thousands."""
    return {figure.replace(",", "") for figure in FIGURE.findall(text)}


def is_said(figure: str, found: set[str]) -> bool:
    """Has a study this figure? A figure with decimals may be a rounded one."""
    decimals = len(figure.partition(".")[2])
    return figure in found or (decimals > 0 and any(f"{float(one):.{decimals}f}" == figure for one in found))


@pytest.mark.parametrize(
    ("section", "studies"),
    [
        pytest.param(section, studies, id=f"{page}: {section.splitlines()[0].strip('# ')}")
        for page, section, studies in sections_with_studies()
    ],
)
def test_the_figures_of_a_section_are_those_of_its_studies(section: str, studies: set[str]) -> None:
    texts = [(ROOT / "research" / name).read_text(encoding="utf-8") for name in studies]
    found = set.union(*(figures_of(text) for text in texts))
    quoted = figures_of(NOT_PROSE.sub("", section))
    assert sorted(figure for figure in quoted if not is_said(figure, found)) == []


@pytest.mark.parametrize("page", ["README", *pages_of("Explanation")])
def test_a_measured_figure_stands_beside_its_study(page: str) -> None:
    path = README if page == "README" else DOCS / f"{page}.md"
    for section in path.read_text(encoding="utf-8").split("\n## "):
        said = NOT_PROSE.sub("", section)
        for words in STATED:
            said = said.replace(words, "")
        assert STUDY.search(section) or not MEASURED.findall(said), section[:60]


def test_a_figure_may_be_rounded_but_not_changed() -> None:
    assert figures_of("0.544 µs of BN_30, 1,000 steps, λ = 0.5, +3.5 %") == {"0.544", "1000", "0.5", "3.5"}
    assert is_said("0.5", {"0.544"})
    assert is_said("17", {"17"})
    assert not is_said("0.6", {"0.544"})
    assert not is_said("17", {"17.2"})


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_pages_and_their_tables_are_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert len(text.split()) <= MAX_WORDS
    tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert all(table.count("\n") - 2 <= MAX_ROWS for table in tables)


def test_the_pages_together_are_short() -> None:
    """All pages as they lie in docs/, tables and programs too; a word has a letter or a digit."""
    words = [word for path in DOCS.glob("*.md") for word in path.read_text(encoding="utf-8").split()]
    assert sum(any(map(str.isalnum, word)) for word in words) <= MAX_TOGETHER


@pytest.mark.parametrize("group", MENU)
def test_the_menu_has_four_groups_with_what_a_reader_looks_for(group: str) -> None:
    assert set(MENU[group].split()) <= set(pages_of(group))
    others = [page for other in MENU if other != group for page in pages_of(other)]
    assert not set(pages_of(group)) & set(others)


@pytest.mark.parametrize("page", [*pages_of("Tutorials"), *pages_of("How to")])
def test_a_page_to_follow_shows_what_to_do_in_its_first_ten_lines(page: str) -> None:
    first = (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()[:10]
    assert any(line.startswith(("```", "    ", "|")) for line in first)


@pytest.mark.parametrize("page", sorted((ROOT / "research").glob("*.md")), ids=lambda path: path.name)
def test_a_study_is_dated_and_listed(page: Path) -> None:
    if page.name == "README.md":
        return
    assert re.search(r"^\*\d+ \w+ 20\d\d", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert f"]({page.name})" in (ROOT / "research" / "README.md").read_text(encoding="utf-8")
