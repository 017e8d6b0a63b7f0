"""Pages in a real browser: who cannot see them reads them, nothing is cut off, nothing leaves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.report.pages import FOLDER, PAGES, written

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
missing = shutil.which(BROWSER) is None or find_spec("axe_playwright_python") is None
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        missing and os.environ.get("OMIT_BROWSER") != "required",
        reason="Pages are tested in Chromium with Playwright, and one of them is not installed.",
    ),
]

# What sticks out of the window, texts of pictures that leave them, and texts that meet.
CUT_OFF = """() => {
  const found = [], width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) found.push("the page is wider than the window");
  for (const one of document.body.querySelectorAll("*")) {
    const box = one.getBoundingClientRect();
    if (!box.width || one.closest(".picture, thead")) continue;
    if (box.right > width + 1 || box.left < -1) found.push(one.outerHTML.slice(0, 80));
  }
  for (const picture of document.querySelectorAll("svg")) {
    const whole = picture.getBoundingClientRect();
    const boxes = [...picture.querySelectorAll("text")]
      .filter(text => text.textContent.trim())
      .filter(text => !/rotate\\(-?[1-9]/.test(text.getAttribute("transform")))
      .map(text => [text.textContent, text.getBoundingClientRect()]);
    boxes.forEach(([said, box], number) => {
      if (box.left < whole.left - 2 || box.right > whole.right + 2) found.push("clipped: " + said);
      for (const [other, second] of boxes.slice(number + 1)) {
        const across = Math.min(box.right, second.right) - Math.max(box.left, second.left);
        const down = Math.min(box.bottom, second.bottom) - Math.max(box.top, second.top);
        if (across > 2 && down > box.height / 2) found.push("struck: " + said + " by " + other);
      }
    });
  }
  return found;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield chromium.new_context(offline=True)
        chromium.close()


@pytest.mark.parametrize("name", [*PAGES, FOLDER])
def test_everybody_can_read_a_page_at_every_width_and_nothing_leaves_it(
    browser: Any, tmp_path: Path, name: str
) -> None:
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(written(name, tmp_path).as_uri())
    page.evaluate(axe)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in bad] == [], scheme
    page.emulate_media(color_scheme="light")
    for width in (360, 800, 1400):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CUT_OFF) == [], width
    page.set_viewport_size({"width": 718, "height": 1000})  # what A4 has between its margins
    page.emulate_media(media="print")
    assert page.evaluate(CUT_OFF) == []
    page.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []


def test_pictures_far_down_a_page_are_there_when_it_is_printed(
    browser: Any, tmp_path: Path
) -> None:
    page = browser.new_page()
    page.goto(written(FOLDER, tmp_path).as_uri())
    widths = page.evaluate("[...document.images].map(one => one.naturalWidth)")
    assert len(widths) == 2
    assert all(widths)
    page.close()
