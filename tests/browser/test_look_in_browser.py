import pytest
import torch

from loci.answering.answer import Answer
from loci.attention_lab.catalogue import EXERCISES
from loci.attention_lab.exercises.result import LabSettings
from loci.attention_lab.looking import look
from loci.model import GPT, GPTConfig
from loci.report.attention.lab_page import lab_page
from loci.report.attention.look_page import look_page
from loci.text.vocab import Vocab

pytestmark = pytest.mark.browser
QUESTION = "Where was Jolanta Maria Brzostowska Andrzejewska Pick born?"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("look")
    vocab = Vocab.from_text(QUESTION + "Warsaw")
    config = GPTConfig(len(vocab), block_size=128, n_layer=4, n_head=8, n_embd=32)
    model = GPT(config, generator=torch.Generator().manual_seed(0)).eval()
    answer = Answer(QUESTION, "Jolanta Maria Brzostowska Andrzejewska Pick", None, "Warsaw", 0.5, 0.5, known=True)
    view = look(model, vocab, answer, generator=torch.Generator().manual_seed(0), given="Warsaw", draws=2)
    look_page(view, "run").write(folder / "look.html")
    for name in ("parse", "noisy-keys", "heads"):
        lab_page(name, EXERCISES[name], EXERCISES[name].run(LabSettings())).write(folder / f"{name}.html")
    return folder


def opened(browser, path, width, scheme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_timeout(300)
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    return page


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_a_question_of_sixty_characters_reads(browser, pages, width, scheme):
    page = opened(browser, pages / "look.html", width, scheme)
    characters = page.locator(".strip.pick .c")
    assert characters.count() == len(QUESTION) + 1 + len("Warsaw")
    assert "".join(characters.all_inner_texts()).replace("·", " ").startswith(QUESTION)
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.strip .c')).fontSize)") >= 15
    # No word is cut at a line's end.
    assert page.evaluate(
        """[...document.querySelectorAll('.strip.pick .together')].every(
             (word) => new Set([...word.children].map((c) => c.getBoundingClientRect().top)).size === 1)"""
    )
    assert page.locator(".look-grid button").count() == 4 * 10
    assert min(page.evaluate("[...document.querySelectorAll('.look-grid button')].map(b => b.clientWidth)")) >= 24
    page.close()


def test_choosing_a_head_and_a_character(browser, pages):
    page = opened(browser, pages / "look.html", 1280, "light")
    page.locator('.look-grid button[aria-label="Layer 2, head 3"]').click()
    assert page.locator(".look-title").inner_text() == "Layer 2, head 3"
    assert page.locator('.look-grid button[aria-pressed="true"]').count() == 1
    page.locator(".strip.pick .c").nth(11).click()
    assert page.locator(".look-said").inner_text().startswith("From “o”, position 12:")
    assert page.locator(".strip.pick .c.later").count() == len(QUESTION) + 1 + len("Warsaw") - 12
    page.locator(".strip.pick").focus()
    page.keyboard.press("ArrowRight")
    assert "position 13" in page.locator(".look-said").inner_text()
    page.close()


@pytest.mark.parametrize("name", ["parse", "noisy-keys", "heads"])
@pytest.mark.parametrize("width", [1280, 360])
def test_exercises_fit_the_screen(browser, pages, name, width):
    opened(browser, pages / f"{name}.html", width, "light").close()
