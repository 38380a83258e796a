"""The web lab as a visitor uses it: every tab, at both widths and in both themes, in Debian's Chromium."""

import json
import re
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe

from loci.cli.main import main
from loci.web.app import create_app

pytestmark = pytest.mark.browser
TABS = ("ask", "attention", "heads", "generate", "runs", "guide")
HOSTILE = "<script>window.hacked=1</script> \"'><img src=x onerror=window.hacked=1> \u202eevil\u202c"
NAME = "Ana Lima"
QUESTION = f"Where was {NAME} born?"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A server with two small runs; one folder and the text they learnt from have hostile names and lines."""
    folder = tmp_path_factory.mktemp("site")
    world = folder / "world"
    world.mkdir()
    names = [NAME, "Bo Ray", "Cy Fox", "Di Wu", "<script>hacked=1</script>", "Ed \u202eeoP\u202c \"'"]
    places = ["Oslo", "Rome", "Lima", "Bern", "<img src=x onerror=hacked=1>", "Kyiv"]
    pairs = list(zip(names, places, strict=True))
    (world / "wiki.txt").write_text("".join(f"{name}. {name} was born in {place} .\n" for name, place in pairs))
    (world / "train.tsv").write_text("".join(f"Where was {name} born?\t{place}\n" for name, place in pairs))
    tiny = {"model.n_layer": 2, "model.n_embd": 32, "model.n_head": 2, "finetune.batch_size": 6, "finetune.pool": 1}
    settings = {**tiny, "finetune.steps": 12, "finetune.lr": 0.01, "finetune.optimiser": "adamw"}
    flags = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    runs = [folder / "one", folder / "two <script>hacked=1<"]
    for run in runs:
        where = ["--data", str(world), "--out", str(run), "--threads", "1", "--no-tensorboard"]
        assert main(["train", "--recipe", "demo-scratch", *where, *flags]) == 0
    (runs[0] / "page.html").write_text("<!doctype html><title>a report</title><h1>What was measured</h1>")
    table = folder / "table"
    table.mkdir()
    rate = {"value": 0.2, "successes": 2, "n": 10, "low": 0.1, "high": 0.5}
    row = {"name": "vanilla", "explanation": "as published", "held_out": rate, "taught": rate, "published": "22 %"}
    (table / "experiment.json").write_text('{"experiment": "course", "quick": true}')
    (table / "results.json").write_text(json.dumps({"rows": [row]}))
    (table / "report.html").write_text("<!doctype html><title>a report</title><h1>The table at length</h1>")
    with served([*runs, table], folder / "web") as (url, app):
        other = next(run["run"] for run in app.state.library.summaries() if run["run"] != "one")
        yield SimpleNamespace(url=url, other=other)


@contextmanager
def served(given, out):
    """A server in a thread, at its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(given, out=out)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}", app
    server.should_exit = True
    thread.join(10)


@pytest.fixture(scope="module")
def tab(browser, site):
    """One page for all tests: `open` an address in it; what it asked for and complained about is checked at the end."""
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme="light")
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))

    def show(address):
        page.goto("about:blank")
        page.goto(f"{site.url}/#/{address}")
        page.locator("main h1").wait_for()
        return page

    page.show = show
    yield page
    assert complaints == []
    assert [url for url in requests if not url.startswith((site.url, "about:", "data:", "blob:"))] == []
    page.close()


def until(page, expression, seconds=600):
    """Playwright's own waiting uses eval, which the page's policy forbids; asking from outside does not."""
    for _ in range(seconds * 20):
        if found := page.evaluate(expression):
            return found
        page.wait_for_timeout(50)
    raise AssertionError(f"never came true: {expression}")


def ask(page, question):
    page.get_by_label("Question or name").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator("p.answer").first.wait_for()


def test_ask_a_question_alone_and_two_runs_side_by_side(tab, site):
    page = tab.show("ask?run=one")
    ask(page, QUESTION)
    assert page.locator("p.question").inner_text() == QUESTION
    assert page.locator("p.answer").inner_text()
    assert "probability" in page.locator(".scale").get_attribute("aria-label")
    assert NAME in page.locator("p.evidence").first.inner_text()
    page.get_by_role("button", name="Look inside this answer").click()
    page.locator("table.lens").wait_for()
    page.get_by_label("Compare with").select_option(site.other)
    ask(page, QUESTION)
    until(page, "document.querySelectorAll('p.answer').length === 2")
    address = page.evaluate("location.hash")
    page.show(address.removeprefix("#/"))  # somebody else opens the address
    until(page, "document.querySelectorAll('p.answer').length === 2")
    assert page.get_by_label("Question or name").input_value() == QUESTION
    assert page.get_by_label("Compare with").input_value() == site.other


def test_somebody_to_try_is_asked_by_one_click(tab):
    page = tab.show("ask?run=one")
    chip = page.locator("aside .chip").first
    chip.wait_for()
    name = chip.inner_text()
    chip.click()
    page.locator("p.answer").wait_for()
    assert page.locator("p.question").inner_text() == f"Where was {name} born?"


def test_a_pasted_file_becomes_rows_to_download(tab):
    page = tab.show("ask?run=one")
    page.get_by_text("Ask a whole file").click()
    page.get_by_label("Questions", exact=True).fill(f"{QUESTION}\tOslo\nWhere was Bo Ray born?\tRome\n")
    page.get_by_role("button", name="Ask all").click()
    page.locator("details table").wait_for()
    assert page.locator("details tbody tr").count() == 2
    with page.expect_download() as download:
        page.get_by_role("button", name="Download rows").click()
    rows = [json.loads(line) for line in Path(download.value.path()).read_text().splitlines()]
    assert [row["question"] for row in rows] == [QUESTION, "Where was Bo Ray born?"]


def test_dragging_the_query_changes_the_weights_and_presets_come_with_their_text(tab):
    page = tab.show("attention?n=4&d=2&beta=4&query=both")
    board = page.locator("canvas.board")
    until(page, "document.querySelectorAll('.bars .value').length === 4")
    board.scroll_into_view_if_needed()
    before = page.locator(".bars .value").all_inner_texts()
    box = board.bounding_box()
    scale = min(box["width"], box["height"]) / 3.4
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x + scale, y - scale)  # the query is k_a + k_b = (1, 1)
    page.mouse.down()
    page.mouse.move(x - scale, y, steps=4)
    page.mouse.up()
    after = page.locator(".bars .value").all_inner_texts()
    assert before != after
    assert float(after[2]) > 0.9  # it now points at the third key
    page.locator(".chips .chip").nth(1).click()
    assert "exercise=" in page.evaluate("location.hash")
    assert page.locator(".formula math").count() > 0


def test_the_puzzle_checks_a_solution(tab):
    page = tab.show("attention?exercise=design")
    for name, terms in {"Q": "da + cd", "K": "I", "V": "bb - cc"}.items():
        assert page.locator(".ok").count() < 2
        page.get_by_label(f"matrix {name}").fill(terms)
    assert page.locator(".ok").count() == 2
    page.get_by_label("matrix Q").fill("<script>")
    assert "is no term" in page.locator(".error").inner_text()


def test_a_head_is_chosen_and_switched_off_and_the_answer_compared(tab):
    page = tab.show(f"heads?run=one&text={quote(QUESTION)}")
    button = page.get_by_role("button", name="layer 2, head 1")
    button.click()
    assert page.get_by_role("button", name="layer 2, head 1").get_attribute("aria-pressed") == "true"
    page.get_by_role("button", name="Switch this head off").click()
    page.get_by_text("Untouched:").wait_for()
    assert re.search(r"off=1\.0", page.evaluate("location.hash"))
    page.get_by_label("Take from another question").fill("Where was Cy Fox born?")
    for taken in ("name", "head"):
        page.get_by_label("What is taken").select_option(taken)
        page.get_by_role("button", name="Ask with these changes").click()
        page.get_by_text("Untouched:").wait_for()
    page.show(page.evaluate("location.hash").removeprefix("#/"))
    page.get_by_role("button", name="Switch this head on again").wait_for()


def test_text_streams_and_the_light_shows_the_loop(tab):
    page = tab.show("generate?run=one&temperature=0&length=2000&prompt=Where")
    page.get_by_role("button", name="Write").click()
    page.locator(".light.on").wait_for()
    assert re.search(r"period \d+", page.locator(".light").inner_text())
    page.get_by_role("button", name="Stop").click()
    until(page, "!document.querySelector('main button[type=submit]').disabled")
    assert len(page.locator(".output").inner_text()) < 2000


def test_runs_show_a_curve_and_a_report(tab):
    page = tab.show("runs")
    page.get_by_role("button", name="curve").first.click()
    page.locator("main svg").wait_for()
    page.get_by_role("button", name="page").first.click()
    assert page.frame_locator("iframe.report").get_by_role("heading").inner_text() == "What was measured"


def test_an_experiment_shows_the_course_s_table_and_its_report(tab):
    page = tab.show("runs")
    table = page.get_by_role("region", name="the course’s table")
    assert "20.0 %" in table.inner_text()
    page.get_by_role("button", name="Open its report").click()
    page.frame_locator("iframe.report").get_by_role("heading", name="The table at length").wait_for()
    page.show(page.evaluate("location.hash").removeprefix("#/"))
    page.frame_locator("iframe.report").get_by_role("heading", name="The table at length").wait_for()


@pytest.mark.slow
def test_without_a_run_a_training_is_offered_watched_stopped_and_resumed(browser, tmp_path):
    with served([], tmp_path / "web") as (url, app):
        page = browser.new_page()
        page.goto(f"{url}/#/ask")
        page.get_by_role("button", name="Train the demo").wait_for()
        page.get_by_role("link", name="Choose what to train").click()
        page.get_by_role("button", name="Start").click()
        page.locator("main svg.chart polyline").wait_for()  # the live curve
        assert page.get_by_role("progressbar").is_visible()
        page.goto(f"{url}/#/attention")  # the playground can be used meanwhile, and the header says how far it is
        page.locator("canvas.board").wait_for()
        page.locator("#training").wait_for()
        page.goto(f"{url}/#/runs")
        page.get_by_role("button", name="Stop").click()
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Stop").wait_for()
        page.close()
        app.state.trainings.close()


def test_hostile_names_and_lines_are_shown_as_text(tab, site):
    page = tab.show(f"ask?run={quote(site.other)}&q={quote(HOSTILE)}")
    page.locator("p.question").wait_for()
    assert HOSTILE in page.locator("p.question").evaluate("(element) => element.textContent")
    ask(page, "Where was <script>hacked=1</script> born?")
    until(page, "document.querySelector('p.evidence')?.textContent.includes('<script>hacked=1</script>')")
    for section in ("heads", "runs", "generate"):
        page.show(f"{section}?text={quote(HOSTILE)}&prompt={quote(HOSTILE)}&run={quote(HOSTILE)}")
    assert page.evaluate("window.hacked") is None
    assert page.locator("main script, main img").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_fits_both_widths_and_everybody_can_use_it(tab, scheme):
    axe, found, wide = Axe(), [], []
    tab.emulate_media(color_scheme=scheme)
    for section in TABS:
        page = tab.show(f"{section}?run=one&q={quote(QUESTION)}&text={quote(QUESTION)}")
        page.wait_for_load_state("networkidle")
        for width in (1200, 360):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(80)
            if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
                wide.append((section, width))
        result = axe.run(page, options={"resultTypes": ["violations"]})
        page.set_viewport_size({"width": 1200, "height": 900})
        serious = [one for one in result.response["violations"] if one["impact"] in ("serious", "critical")]
        found += [(section, one["id"], [node["target"] for node in one["nodes"]][:3]) for one in serious]
    assert wide == [], wide
    assert found == [], found
