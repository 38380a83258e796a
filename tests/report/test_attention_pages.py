import json
import re

import numpy as np
import pytest
import torch

from loci.answering.answer import Answer
from loci.attention_lab.catalogue import EXERCISES
from loci.attention_lab.exercises.result import Curve, LabSettings, MatrixPanel, Panel
from loci.attention_lab.head_reading import parse_with_heads, random_model, readable
from loci.attention_lab.looking import look
from loci.attention_lab.parses import denver, make_parse
from loci.attention_lab.repetition_sweep import measure
from loci.generation.repetition import Loop
from loci.model import GPT, GPTConfig
from loci.report.attention.drawing import arc_diagram, arc_levels, formula, heat_maps, mathematics
from loci.report.attention.lab_page import heads_page, lab_page, loop_text, pooled_rates, repetition_page
from loci.report.attention.look_page import look_page
from loci.report.figures.attention import panel_figure, sweep_figure
from loci.text.vocab import Vocab

FOREIGN = re.compile(r"""(?:src|href)=["'](?!data:|#)""")


def assert_self_contained(text):
    assert "default-src 'none'" in text
    assert not FOREIGN.search(re.sub(r"<script.*?</script>", "", text, flags=re.S))


def lab(name):
    result = EXERCISES[name].run(LabSettings())
    return result, lab_page(name, EXERCISES[name], result).html()


@pytest.mark.parametrize("name", ["parse", "design", "noisy-keys", "temperature"])
def test_lab_pages_state_the_exercise_and_contain_findings_and_numbers(name):
    result, text = lab(name)
    exercise = EXERCISES[name]
    assert_self_contained(text)
    assert mathematics(exercise.question) in text
    assert text.count("<math") == len(exercise.symbols) + len(exercise.formulas)
    assert mathematics(result.findings[0]) in text
    assert text.count("<tr>") > len(result.rows)


def test_pages_without_curves_need_no_library():
    assert len(lab("parse")[1]) < 100_000


def test_subscripts_and_escapes():
    assert (
        mathematics("u_b < u_{12} & c_2, snake_ x") == "u<sub>b</sub> &lt; u<sub>12</sub> &amp; c<sub>2</sub>, snake_ x"
    )


def test_superscripts_and_formulas():
    assert mathematics("e^{−β²} e^β, ℝ^16") == "e<sup>−β²</sup> e<sup>β</sup>, ℝ<sup>16</sup>"
    assert "<mfrac>" in formula(r"\frac{1}{n}")
    assert 'display="block"' in formula("x < y", display=True)
    assert "x < y" not in formula("x < y")


@pytest.mark.parametrize("name", EXERCISES)
def test_every_formula_can_be_typeset(name):
    for latex in (*EXERCISES[name].symbols, *EXERCISES[name].formulas.values()):
        assert "\\" not in re.sub(r"<annotation.*?</annotation>", "", formula(latex))


def test_a_formula_and_its_measurement_share_a_colour_and_one_legend_entry():
    panel = Panel("t", "x", "y", (Curve("n = 4", [0.0, 1], [0.0, 1]), Curve("n = 4, measured", [0.0], [0.0], "dots")))
    line, dots = panel_figure(panel).data
    assert line.line.color == dots.marker.color
    assert (line.showlegend, dots.showlegend) == (True, False)


def test_heat_maps_colour_by_sign_and_leave_nothing_unsaid():
    text = heat_maps([MatrixPanel("V", ["a_1", "b"], ["c", "d"], np.array([[1.0, 0.0], [-0.5, 0.25]]))])
    assert "a<sub>1</sub>" in text
    assert "−0.5" in text
    assert text.count("<td") == 4


def test_arcs_rise_above_the_arcs_they_span():
    parse = denver()
    levels = arc_levels(parse)
    words = parse.words
    flight, prefer, the = (words.index(word) for word in ("flight", "prefer", "the"))
    assert levels[prefer, flight] > levels[flight, the] > levels[flight, words.index("morning")]
    text = arc_diagram(make_parse(["<b>", "x"], [2, 0], ["nsubj", "root"]))
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert text.count("<path") == 3  # one arc, the root's line, the arrow head


VOCAB = Vocab.from_text("Where was Ada Lovelace born? thedogsawcI<yR")


def tiny():
    config = GPTConfig(len(VOCAB), block_size=64, n_layer=2, n_head=2, n_embd=16)
    return GPT(config, generator=torch.Generator().manual_seed(0)).eval()


def seen(question, subject, text):
    answer = Answer(question, subject, None, text, 0.5, 0.5, known=True)
    return look(tiny(), VOCAB, answer, generator=torch.Generator().manual_seed(0), given=text, draws=2)


def test_the_page_of_an_answer():
    question = "Where was Ada Lovelace <b born?"
    view = seen(question, "Ada Lovelace", "Rhode")
    object.__setattr__(view.trace, "clean", float(view.trace.corrupted.mean()) + 1)
    text = look_page(view, "run").html()
    assert_self_contained(text)
    assert "<b born" not in text
    assert len(text) < 200_000
    data = json.loads(re.search(r'id="look-data">(.*?)</script>', text, re.S).group(1))
    assert "".join(data["symbols"]).startswith(question)
    assert len(data["maps"]) == 2 * (2 + 2)
    assert text.count('aria-pressed="false"') == len(data["maps"])
    assert data["from"] == len(question)
    assert text.count('<td class="said') == 3 * len("Rhode⁇") + 3 * len(view.trace.groups)
    assert text.count('<div class="strip">') == 3


def test_an_answer_that_noise_does_not_harm_has_no_trace_to_show():
    view = seen("Where was Ada born?", "Ada", "a")
    object.__setattr__(view.trace, "clean", float(view.trace.corrupted.mean()))
    assert "nothing to bring back" in look_page(view, "run").html()


def test_the_page_of_heads():
    rows = [(["the", "dog", "saw", "a", "cat"], [2, 3, 0, 5, 3], ["det", "nsubj", "root", "det", "obj"])] * 12
    sentences = readable([make_parse(*row) for row in rows], VOCAB, 64)
    model = tiny()
    reports = [
        parse_with_heads(m, VOCAB, sentences, least=5) for m in (model, random_model(model, 1), random_model(model, 2))
    ]
    text = heads_page("run", "bank", sentences, reports[0], reports[1:]).html()
    assert_self_contained(text)
    assert "12 sentences were read" in text
    assert "untrained 2" in text
    pooled = pooled_rates(reports[1:])["all", "either"]
    assert pooled.n == 2 * 48


def test_the_page_of_repetition():
    points = [
        measure([[1, 2, 3, 4, 5, 6, 7, 8]] * 3, 2, setting=setting, value=value)
        for setting in ("top-k", "min-p")
        for value in (1.0, 2.0)
    ]
    page = repetition_page(
        {"trigrams": points, "run": points},
        [("trigrams", "th", "e the the the", Loop(2, 4)), ("run", "th", "<i>", None)],
        n=2,
        reference=0.1,
        length=8,
        seed=0,
    )
    text = page.html()
    assert_self_contained(text)
    assert "<mark>the </mark>" in text
    assert "&lt;i&gt;" in text
    assert text.count('class="plot"') == 2
    figure = sweep_figure({"trigrams": points}, "top-k", 2, 0.1)
    assert [trace.name for trace in figure.data] == ["trigrams", "the text itself"]


def test_a_loop_is_marked_once():
    assert loop_text("w", "", "abcabcabc", Loop(0, 3)).count("<mark>") == 1
