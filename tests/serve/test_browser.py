"""The page in a real browser: by mouse, by keyboard alone, on a phone, and with names that mean harm.

Needs Chromium (``make browser``, or BEACON_CHROMIUM with the path of one) and Playwright; skipped without.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beacon.model.graphical_model import GraphicalModel
from beacon.serve.models import ServedModel, clinic
from tests.serve.helpers import Running, garden, running

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect
SCRIPT, IMAGE = "<script>document.title = 'taken'</script>", "<img src=x onerror=\"document.title='taken'\">"


def harmful() -> GraphicalModel:
    """Two variables that tend to be equal, with names and values that a careless page would run."""
    tables = [((0, 1), np.log([[4.0, 1.0], [1.0, 2.0]]))]
    return GraphicalModel.from_tables([2, 2], tables, [SCRIPT, IMAGE], [["a", SCRIPT], ["a", IMAGE]])


@pytest.fixture(scope="module")
def served(models: dict[str, ServedModel]) -> Iterator[Running]:
    more = {"clinic": clinic(), "harm": ServedModel("harm", harmful())}
    with running({"garden": ServedModel("garden", garden()), "grid": models["grid"], **more}) as made:
        yield made


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on which every error and every breach of the policy fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made, problems = context.new_page(), []
    made.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: problems.append(str(error)))
    yield made
    context.close()
    assert problems == []


def opened(page: Any, served: Running, model: str, **evidence: str) -> Any:
    pairs = "".join(f"&.{name}={value}" for name, value in evidence.items())
    page.goto(f"{served.url}#model={model}{pairs}")
    expect(page.locator(".badge")).to_be_visible()
    return page


def row(page: Any, variable: str) -> Any:
    return page.locator(f'#explanation [data-variable="{variable}"]')


def test_evidence_by_keyboard_changes_the_answer_and_undo_takes_it_back(page: Any, served: Running) -> None:
    opened(page, served, "garden")
    expect(row(page, "sprinkler")).to_contain_text("off")
    page.keyboard.press("/")
    page.keyboard.type("gra wet")
    page.keyboard.press("Enter")
    expect(page.locator('#known [data-variable="grass"]')).to_contain_text("grass")
    expect(row(page, "sprinkler").locator(".pill")).to_have_text("on")
    expect(row(page, "sprinkler")).to_contain_text("was off")
    expect(page.locator(".status")).to_contain_text("Proved optimal")
    expect(page.locator(".status")).to_contain_text("probability 64.2 %")
    page.keyboard.press("Tab")
    page.keyboard.press("Control+z")
    expect(row(page, "sprinkler").locator(".pill")).to_have_text("off")
    expect(page.locator("#known")).to_contain_text("Nothing yet")


def test_the_list_of_choices_is_walked_with_arrows(page: Any, served: Running) -> None:
    opened(page, served, "garden")
    page.focus("#search")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator('#choices [aria-selected="true"]')
    expect(chosen).to_contain_text("wet")
    assert page.get_attribute("#search", "aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.locator('#known [data-variable="grass"] select')).to_have_value("wet")
    page.keyboard.type("no such name")
    expect(page.locator("#choices")).to_contain_text("nothing is called that")
    page.keyboard.press("Escape")
    expect(page.locator("#choices")).to_be_hidden()


def test_alternatives_margins_and_what_if(page: Any, served: Running) -> None:
    opened(page, served, "garden", grass="wet")
    best = ["no", "on"]
    expect(page.locator("#alternatives td.same, #alternatives td:nth-child(2)").first).to_be_visible()
    assert page.locator("#alternatives tbody td:nth-child(2)").all_text_contents() == best
    assert page.locator("#alternatives tbody td:nth-child(3)").all_text_contents() == ["yes", "off"]
    expect(row(page, "rain").locator(".times")).to_have_text("1.8×")  # 0.8 · 0.4 · 0.9 / (0.2 · 0.99 · 0.8)
    width = row(page, "rain").locator(".bar .seen").evaluate("bar => parseFloat(bar.style.width)")
    assert width == pytest.approx(100 * np.log(0.288 / 0.1584) / 4, abs=0.1)
    row(page, "rain").get_by_role("button", name="if yes?").click()
    expect(page.locator(".whatif")).to_contain_text("That is 1.8× less probable (0.60 nats)")
    expect(page.locator(".whatif .changes")).to_have_text("sprinkleroff")
    page.get_by_role("button", name="Take it as known").click()
    expect(page.locator('#known [data-variable="rain"] select')).to_have_value("yes")
    expect(page.locator(".whatif")).to_have_count(0)


def test_a_variable_with_its_values_and_neighbours(page: Any, served: Running) -> None:
    opened(page, served, "garden")
    row(page, "rain").get_by_role("button", name="rain", exact=True).click()
    expect(page.locator("#variable h2")).to_contain_text("rain")
    expect(page.locator(".network .node")).to_have_count(3)
    expect(page.locator("figcaption").first).to_have_text("3 factors, 2 neighbours")
    page.locator(".node", has_text="grass").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#variable h2")).to_contain_text("grass")
    page.locator(".values li", has_text="wet").get_by_role("button", name="is so").click()
    expect(page.locator('#known [data-variable="grass"] select')).to_have_value("wet")


def test_the_curve_of_a_search_has_a_score_and_a_bound(page: Any, served: Running) -> None:
    opened(page, served, "grid", x_0_0="1")
    expect(page.locator(".badge")).to_contain_text("nats of the best possible")
    expect(page.locator(".curve path.score")).to_have_count(1)
    expect(page.locator(".curve path.bound")).to_have_count(1)
    assert "NaN" not in page.locator(".curve").inner_html()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_clinic_reads_as_a_diagnosis_on_a_phone(browser: Any, served: Running, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = opened(context.new_page(), served, "clinic", fever="yes", cough="yes", wheezing="yes")
    titles = page.locator("#explanation .group > h3 > :first-child")
    assert titles.all_text_contents() == ["diseases", "findings"]
    expect(page.locator(".headline")).not_to_be_empty()
    sizes = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1], "nothing sticks out"
    color = page.evaluate("getComputedStyle(document.body).backgroundColor")
    light = sum(map(int, color[4:-1].split(","))) > 3 * 128
    assert light == (scheme == "light")
    context.close()


def test_names_are_text_whatever_they_say(page: Any, served: Running) -> None:
    opened(page, served, "harm")
    page.fill("#search", "script")
    page.keyboard.press("Enter")
    expect(page.locator("#known .name")).to_have_text(SCRIPT)
    expect(page.locator("#alternatives table")).to_contain_text(IMAGE)
    expect(page.locator(".network")).to_contain_text("<img")
    assert page.title() == "Beacon"
    assert page.locator("main script, main img").count() == 0


def test_a_link_holds_the_evidence(page: Any, served: Running) -> None:
    opened(page, served, "garden", grass="wet", rain="yes", nothing="of this")
    page.locator('#known [data-variable="rain"]').get_by_role("button", name="Forget").click()
    expect(page.locator('#known [data-variable="rain"]')).to_have_count(0)
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator('#known [data-variable="grass"] select')).to_have_value("wet")
    expect(page.locator("#known li")).to_have_count(1)


def test_the_answer_can_be_taken_along(page: Any, served: Running, tmp_path: Path) -> None:
    opened(page, served, "garden", grass="wet")
    expect(page.locator("#alternatives table")).to_be_visible()
    saved = {}
    for kind in ("CSV", "JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=kind).click()
        saved[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(saved[kind])
    with saved["CSV"].open(newline="") as file:
        rows = {line["variable"]: line for line in csv.DictReader(file)}
    assert (rows["grass"]["value"], rows["grass"]["observed"]) == ("wet", "yes")
    assert float(rows["rain"]["margin_nats"]) == pytest.approx(np.log(0.288 / 0.1584))
    answer = json.loads(saved["JSON"].read_text())
    assert (answer["evidence"], answer["named_assignment"]["sprinkler"]) == ({"grass": "wet"}, "on")
    assert len(answer["alternatives"]) > 1


def test_the_page_asks_for_the_token(browser: Any, models: dict[str, ServedModel]) -> None:
    context = browser.new_context()
    with running({"garden": models["garden"]}, token="sesame") as guarded:
        page = context.new_page()
        page.goto(guarded.url)
        page.fill("#token-text", "sesame")
        page.keyboard.press("Enter")
        expect(page.locator(".badge")).to_have_text("Proved optimal")
    context.close()
