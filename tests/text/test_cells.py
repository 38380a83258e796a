import pytest

from loci.errors import LociError
from loci.text.diagnosis import diagnose
from loci.text.questions import Questions
from loci.text.repair import write_repaired

RED, OLD, NEW = "Who wrote Red Clouds?", "Who wrote Old Roses?", "Who wrote New Rivers?"


@pytest.fixture
def table(tmp_path):
    def build(text):
        (tmp_path / "q.csv").write_text(text, newline="")
        return tmp_path / "q.csv"

    return build


def found(diagnosis, kind):
    return [(one.line, one.severity, one.repairable) for one in diagnosis.findings if one.kind == kind]


def repaired(file):
    out = file.parent / "out"
    write_repaired(diagnose(file), out)
    assert diagnose(out / file.name).changes == ()
    return (out / file.name).read_text(), (out / "repairs.tsv").read_text()


@pytest.mark.parametrize("header", ["question,answer\n", ""])
@pytest.mark.parametrize("cell", ['"Ana\nLima"', '"Ana\r\nLima"', '"Ana \n\n Lima"', '"\nAna\nLima\n"'])
def test_a_cell_over_several_lines_is_one_answer(table, header, cell):
    file = table(f"{header}{OLD},Bo Lee\n{RED},{cell}\n{NEW},Bo Lee\n")
    begins = header.count("\n") + 2
    read = Questions.read(file)
    assert [(row.text, row.answer) for row in read] == [(OLD, "Bo Lee"), (RED, "Ana Lima"), (NEW, "Bo Lee")]
    assert [row.number for row in read] == [begins - 1, begins, begins + 1 + cell.count("\n")]
    assert found(diagnose(file), "multiline-cell") == [(begins, "warning", True)]
    text, changes = repaired(file)
    assert text == f"{header}{OLD},Bo Lee\n{RED},Ana Lima\n{NEW},Bo Lee\n"
    assert f"q.csv\t{begins}\tmultiline-cell\t" in changes


def test_what_follows_a_long_cell_is_named_by_its_own_line(table):
    file = table(f'{RED},"Ana\nLima"\n\n{OLD}, Bo Lee\n{OLD},Bo Lee\n')
    diagnosis = diagnose(file)
    assert found(diagnosis, "empty-line") == [(3, "note", True)]
    assert found(diagnosis, "surrounding-space") == [(4, "note", True)]
    assert found(diagnosis, "duplicate") == [(5, "warning", True)]


@pytest.mark.parametrize("after", ["", f"{OLD},Bo Lee\n", f'{OLD},"Lee, Bo"\n', f'"{OLD}",Bo Lee\n'])
def test_an_unclosed_quote_is_named_and_its_row_never_kept(table, after):
    file = table(f'{NEW},Cy Dow\n{RED},"Ida Berg\n{after}')
    assert found(diagnose(file), "unclosed-quote") == [(2, "error", True)]
    with pytest.raises(LociError, match=r"q\.csv:2: a quote is opened and never closed: .*Ida Berg.* \(close it"):
        Questions.read(file)
    text, changes = repaired(file)
    assert [line.partition("?")[0] for line in text.splitlines()] == ["Who wrote New Rivers"] + (
        ["Who wrote Old Roses"] if after else []
    )
    assert f'q.csv\t2\tunclosed-quote\t{RED},"Ida Berg\t(removed)\n' in changes


def test_quotes_inside_a_cell_are_text(table):
    file = table(f'{RED},6\'2"\n{OLD},the "Lee"\n')
    assert [row.answer for row in Questions.read(file)] == ["6'2\"", 'the "Lee"']
