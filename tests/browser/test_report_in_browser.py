import numpy as np
import pytest

from loci.evaluation.comparison.artifacts import Sources, load_entries
from loci.evaluation.comparison.comparison import compare
from loci.report.comparison.page import comparison_report
from synthetic_runs import Vices, make_run, make_world

pytestmark = pytest.mark.browser


def until(page, expression, seconds=600):
    """Playwright's own waiting uses eval, which the page's policy forbids; asking from outside does not."""
    for _ in range(seconds * 20):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    world = make_world(folder / "world", people=250)
    make_run(world, folder / "weak", Vices(0.2, 2.0), seed=1, steps=40)
    make_run(
        world, folder / "a-run-with-a-name-that-is-far-too-long-for-a-telephone", Vices(0.7, 1.0), seed=2, steps=40
    )
    runs = [folder / "weak", folder / "a-run-with-a-name-that-is-far-too-long-for-a-telephone"]
    page = comparison_report(compare(load_entries(runs, Sources(folder / "world")), np.random.default_rng(0)))
    page.page().write(folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_the_page_draws_everything_asks_for_nothing_and_fits(browser, report, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(report.as_uri())
    until(page, "[...document.querySelectorAll('.plot')].every(e => e.querySelector('.main-svg'))")
    assert page.locator(".plot").count() == 9
    for index in range(9):
        assert page.locator(".plot").nth(index).locator("svg.main-svg").count() >= 1
    assert complaints == []
    assert requests == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # Nothing may stick out either: a wide table scrolls inside its own box.
    outside = page.evaluate(
        "[...document.querySelectorAll('main > *, .plot svg.main-svg, h1, nav')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert outside == 0
    page.close()


def test_text_stays_legible_in_both_schemes(browser, report):
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(report.as_uri())
        page.wait_for_selector(".plot .main-svg")
        contrast = page.evaluate(
            """() => {
              const luminance = (colour) => {
                const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).slice(0, 3).map((c) => {
                  c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
                return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
              const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
              const ground = luminance(getComputedStyle(document.body).backgroundColor);
              const texts = [...document.querySelectorAll('p, td, th, figcaption, .good, .bad, .quiet')].slice(0, 400);
              const ticks = [...document.querySelectorAll('.xtick text')].slice(0, 20);
              return Math.min(...texts.map((e) => ratio(luminance(getComputedStyle(e).color), ground)),
                              ...ticks.map((e) => ratio(luminance(getComputedStyle(e).fill), ground)));
            }"""
        )
        assert contrast > 4.5
        page.close()


def test_the_contents_lead_to_their_sections_and_details_open(browser, report):
    page = browser.new_page(viewport={"width": 390, "height": 800}, reduced_motion="reduce")
    page.goto(report.as_uri())
    page.wait_for_selector(".plot .main-svg")
    page.get_by_role("link", name="Made-up answers").click()
    assert page.url.endswith("#made-up-answers")
    until(page, "Math.abs(document.getElementById('made-up-answers').getBoundingClientRect().top) < 50")
    details = page.locator("details").first
    details.locator("summary").click()
    assert details.locator("table").is_visible()
    page.close()
