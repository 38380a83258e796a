import json

import pytest
from lab_run import make_run

from loci.cli.main import main
from loci.text.corpus import Corpus
from loci.training.checkpoint import FINAL
from loci.training.plan import MixtureComponent, Recipe, Stage
from loci.training.run import start_run


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The cat sat on the mat. The dog ran to the log.\nA man had a hat, and the cat had none.\n" * 5)
    return path


def test_a_text_alone_is_counted(capsys, tmp_path, text):
    page = tmp_path / "repetition.html"
    assert main(["repetition", "--text", str(text), "--length", "60", "--samples", "2", "--out", str(page)]) == 0
    out = capsys.readouterr().out
    assert "trigrams" in out
    assert "repetition" in out
    assert "the text itself" in out
    assert page.is_file()


def test_a_run_writes_beside(capsys, tmp_path, text):
    run = make_run(tmp_path / "run")
    flags = ["--text", str(text), "--length", "20", "--samples", "2", "--n", "3", "--order", "1", "--json"]
    assert main(["repetition", str(run), *flags]) == 0
    result = json.loads(capsys.readouterr().out)
    assert set(result["models"]) == {"order-1 counts", "run"}
    greedy = next(p for p in result["models"]["order-1 counts"] if (p["setting"], p["value"]) == ("temperature", 0))
    assert greedy["looped"]["successes"] == 2


def test_the_run_s_own_corpus_is_found(capsys, tmp_path, text):
    run = tmp_path / "run"
    stage = Stage("pretrain", (MixtureComponent("language-model"),), steps=1)
    start_run(run, Recipe("course", {}, (stage,)), {"corpus": str(text), "corpus_hash": Corpus.read(text).hash})
    make_run(run / FINAL)
    assert main(["repetition", str(run), "--length", "12", "--samples", "1"]) == 0
    assert "run" in capsys.readouterr().out


def test_bad_input(capsys, tmp_path, text):
    run = make_run(tmp_path / "run")
    for arguments, message in (
        ([], "there is nothing to count"),
        ([str(run)], "the corpus of this run is not where it was"),
        (["--text", str(tmp_path / "none")], "no such file"),
        (["--text", str(text), "--length", "5"], "--length must be more than --n"),
        (["--text", str(text), "--prompt", "ß"], "which the vocabulary lacks"),
    ):
        assert main(["repetition", *arguments]) == 2
        assert message in capsys.readouterr().err
