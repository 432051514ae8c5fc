"""The page in a real browser: it fits a phone, sorts, and draws the curves of a query.

Needs Chromium (``make browser``, or BEACON_CHROMIUM with the path of one); skipped without it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROBE = """
<script>
addEventListener("error", (event) => { document.title = "error: " + event.message; });
addEventListener("load", () => {
  const found = [];
  const check = (name, ok) => { if (!ok) found.push(name); };
  const page = document.documentElement;
  check("wider than the window: " + page.scrollWidth + " > " + innerWidth, page.scrollWidth <= innerWidth);
  for (const node of document.querySelectorAll("section, figure, figcaption, h2, p, summary")) {
    const box = node.getBoundingClientRect();
    check(node.tagName + " sticks out", box.right <= innerWidth + 1 && box.left >= -1);
  }
  for (const svg of document.querySelectorAll("svg.plot")) {
    const box = svg.getBoundingClientRect();
    check("a plot has no size", box.width > 100 && box.height > 40);
    check("a plot has no text", svg.querySelectorAll("text").length > 2);
  }
  const table = document.querySelector("#table-improvement-over-greedy-steps"), column = 2;
  const values = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value));
  const sorted = (list, sign) => list.every((v, k) => k === 0 || sign * (v - list[k - 1]) >= 0);
  const button = table.tHead.rows[0].cells[column].querySelector("button");
  button.click();
  check("not sorted downwards: " + values(), sorted(values(), -1));
  button.click();
  check("not sorted upwards: " + values(), sorted(values(), 1));
  const box = document.querySelector("details.queries");
  box.open = true;
  box.querySelector("tr[data-run]").click();
  const lines = box.querySelectorAll(".curves path").length;
  check("curves of a query: " + lines, lines >= 4);
  box.querySelectorAll(".curves button")[1].click();
  check("curves over seconds", box.querySelectorAll(".curves path").length >= lines);
  const result = document.createElement("div");
  result.id = "probe";
  result.textContent = found.length ? "found: " + found.join("; ") : "all is well";
  document.body.append(result);
});
</script></body>"""


@pytest.fixture(scope="module")
def probed_page(toy_page: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(toy_page.replace("</body>", PROBE), encoding="utf-8")
    return path


def dumped(chromium: str, page: Path, width: int, profile: Path) -> str:
    """The page after its scripts have run, in a window of that width."""
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--dump-dom"]
    options += [f"--user-data-dir={profile}", f"--window-size={width},900", "--virtual-time-budget=5000"]
    done = subprocess.run(
        [chromium, *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("width", [1280, 500])
def test_the_page_works_on_a_desk_and_on_a_phone(
    chromium: str, probed_page: Path, tmp_path: Path, width: int
) -> None:
    page = dumped(chromium, probed_page, width, tmp_path)
    assert "<title>A &lt;toy&gt; &amp; more</title>" in page, "a script failed"
    _, _, probe = page.partition('<div id="probe">')
    assert probe.partition("</div>")[0] == "all is well"
