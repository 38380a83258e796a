import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from loci.evaluation.metrics import wilson
from loci.report.page import Markup, Page, markdown
from loci.report.style import PALETTE, faded, series_colour


def figure():
    return go.Figure(go.Scatter(x=np.arange(3), y=np.array([1.0, 4.0, 9.0]), name="</script><b>"))


def test_everything_from_outside_is_escaped():
    page = Page("<i>t", "<i>s").add_section("<i>h", "<i>text").add_table(["<i>c"], [["<i>cell"]], "<i>cap")
    page.add_cards([("<i>l", "<i>v", "<i>n")])
    assert "<i>" not in page.html()
    assert page.html().count("&lt;i&gt;") >= 9


def test_markup_goes_in_as_it_stands():
    assert "<mark>Oslo</mark>" in Page("t").add_table(["x"], [[Markup("<mark>Oslo</mark>")]]).html()
    assert "<hr>" in Page("t").add_text(Markup("<hr>")).html()


def test_plotly_stands_once_for_many_figures_and_not_at_all_for_none():
    marker = "plotly.js v"
    assert marker not in Page("t").add_text("words").html()
    text = Page("t").add_figure(figure(), "one").add_figure(figure(), "two").html()
    assert text.count(marker) == 1
    assert text.count('class="plot"') == 2


def test_figure_data_survive_and_cannot_end_the_script():
    text = Page("t").add_figure(figure()).html()
    data = re.search(r'id="figure-1">(.*?)</script>', text).group(1)
    trace = json.loads(data)["data"][0]
    assert trace["name"] == "</script><b>"
    assert "template" not in json.loads(data)["layout"]


def test_add_figure_leaves_the_figure_alone():
    drawn = figure()
    before = drawn.to_json()
    Page("t").add_figure(drawn)
    assert drawn.to_json() == before


def test_no_address_is_fetched_by_the_page_itself():
    text = Page("t", "s").add_section("a", "b").add_table(["x"], [[1]]).html()
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text


def test_number_columns_and_rates():
    text = Page("t").add_table(["run", "em", "n"], [["a", wilson(25, 500), 1234], ["b", wilson(0, 0), None]]).html()
    assert '5.0 % <span class="interval">3.4–7.3</span>' in text
    assert '<td class="number">1,234</td>' in text
    assert '<td class="number">–</td>' in text
    assert "<td>a</td>" in text


def test_uneven_rows_are_our_mistake():
    with pytest.raises(AssertionError):
        Page("t").add_table(["a", "b"], [["only one"]])


def test_sections_of_one_name_have_two_anchors():
    text = Page("t").add_section("Bias").add_section("Bias").add_section("¿").html()
    anchors = re.findall(r'<h2 id="([^"]+)"', text)
    assert len(set(anchors)) == 3


def test_write_is_whole(tmp_path):
    Page("Title").add_text("**x**").write(tmp_path / "deep" / "page.html")
    text = (tmp_path / "deep" / "page.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "<strong>x</strong>" in text
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["page.html"]


def test_markdown_shows_tags():
    assert markdown("a <b>c</b>") == "<p>a &lt;b&gt;c&lt;/b&gt;</p>\n"


def test_palette():
    assert series_colour(len(PALETTE)) == PALETTE[0]
    assert faded("#102030", 0.5) == "rgba(16,32,48,0.5)"
