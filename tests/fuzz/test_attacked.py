"""Later attacks by hand, each as a fixed case: folders of others, runs of strangers, what is sent to the web, outputs that
nobody reads."""

import json
import os
import subprocess
import sys

import pytest
from safetensors import SafetensorError

from loci.answering.parts import InParts
from loci.cli.main import main
from loci.cli.work import InterruptFlag
from loci.errors import LociError
from loci.files import atomic_folder, read_struct, remove_leftovers, sha256_file
from loci.generation.sampling import Sampler
from loci.interop.exchange import export_run
from loci.learn import learn, make_plan
from loci.pipeline import carry_out
from loci.registry import import_file
from loci.text.compiled import read_large
from loci.text.world import WorldSpec, write_world
from loci.training import checkpoint
from loci.training.run import read_run
from loci.web.app import create_app
from loci.web.library import Library
from run_files import record
from tiny_training import tiny_data, tiny_recipe

__all__ = ["tiny_data", "tiny_recipe"]


def test_an_export_onto_a_full_disk_is_one_line(tiny_recipe, tiny_data, tmp_path, monkeypatch):
    def full(*arguments):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    carry_out(tiny_recipe, tiny_data, tmp_path / "run")
    monkeypatch.setattr(checkpoint, "save_file", full)
    for kind in ("hf", "transformer-lens"):
        with pytest.raises(LociError, match=r"out: cannot be written: No space left"):
            export_run(tmp_path / "run", kind, tmp_path / "out")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["run"]


def test_a_folder_with_files_of_others_is_not_replaced(tmp_path):
    text, folder = tmp_path / "wiki.txt", tmp_path / "wiki.txt.compiled"
    text.write_text("Ana Lima. Ana Lima was born in Porto.\n")
    folder.mkdir()
    (folder / "thesis.txt").write_text("mine")
    with pytest.raises(LociError, match=r"also holds thesis.txt, which would be lost"):
        read_large(text)
    assert [file.name for file in folder.iterdir()] == ["thesis.txt"]
    (folder / "thesis.txt").rename(tmp_path / "thesis.txt")
    folder.rmdir()
    (tmp_path / "scratch").mkdir()
    folder.symlink_to(tmp_path / "scratch")  # as people do whose home is small
    assert read_large(text) is not None
    assert folder.is_symlink()
    assert (tmp_path / "scratch" / "ids.npy").is_file()
    assert not [file.name for file in tmp_path.iterdir() if file.name.endswith(".tmp")]


def test_arrays_of_a_killed_process_are_swept_when_they_are_made_again(tmp_path):
    text = tmp_path / "wiki.txt"
    text.write_text("Ana Lima. Ana Lima was born in Porto.\n")
    for name in (".wiki.txt.compiled.0123abcd.tmp", ".other.txt.compiled.0123abcd.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ids.npy").write_bytes(b"half")
    assert read_large(text) is not None
    assert [file.name for file in tmp_path.glob(".*.tmp")] == [".other.txt.compiled.0123abcd.tmp"]  # may be at work


def test_a_folder_moved_away_by_a_killed_process_comes_back(tmp_path, monkeypatch):
    with atomic_folder(tmp_path / "best") as folder:
        (folder / "weights").write_text("old")
    rename = os.rename

    def killed(old, new):
        if str(new).endswith("best"):
            raise KeyboardInterrupt
        rename(old, new)

    monkeypatch.setattr(os, "rename", killed)
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "best") as folder:
        (folder / "weights").write_text("new")
    assert not (tmp_path / "best").exists()
    monkeypatch.undo()
    remove_leftovers(tmp_path)
    assert (tmp_path / "best" / "weights").read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["best"]


def test_parts_of_an_evaluation_take_nothing_else_with_them(tmp_path):
    folder = tmp_path / ".rows.jsonl.parts"
    folder.mkdir()
    for name in ("0123456789abcdef-000001.jsonl", "mine.txt"):
        (folder / name).write_text("")
    with InParts(None, None, folder=folder):
        pass
    assert [file.name for file in folder.iterdir()] == ["mine.txt"]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learn") / "world"
    write_world(WorldSpec(people=20), folder)
    return folder


SMALL = ["model.n_layer=1", "model.n_embd=16", "model.n_head=2", "read.steps=1", "memorize.steps=1"]


def test_a_folder_is_not_learned_among_the_files_of_others(world, tmp_path):
    plan = make_plan(world, changes=SMALL)
    with pytest.raises(LociError, match=r"holds birth_dev.tsv already, and no run"):
        learn(plan, world)
    assert not (world / "run.json").exists()
    own = tmp_path / "run"
    own.mkdir()
    (own / ".manifest.json.0123abcd.tmp").write_text("")  # killed in its first moment
    done = learn(plan, own)
    assert done is not None
    (own / "report.html").write_text("mine")
    with pytest.raises(LociError, match="is no page of Loci"):
        learn(plan, own)
    assert (own / "report.html").read_text() == "mine"
    (own / "report.html").unlink()
    others = own / "predictions" / "held_back.jsonl"
    others.write_text(json.dumps({"question": "Mine?", "prediction": "x", "questions_hash": "of others"}) + "\n")
    before = others.read_bytes()
    learn(plan, own)
    assert others.read_bytes() == before
    assert len(list((own / "predictions").glob("held_back-*.jsonl"))) == 1


def _stranger(run, **named):
    told = json.loads((run / "run.json").read_text())
    told["data"] |= named
    (run / "run.json").write_text(json.dumps(told))
    record(run / "run.json")


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")
def test_a_file_without_an_end_is_not_read_on_a_strangers_word(tiny_recipe, tiny_data, tmp_path):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run")
    _stranger(tmp_path / "run", corpus="/proc/self/status")  # /proc/kmsg waits for ever
    assert read_run(tmp_path / "run").corpus() is None
    (tmp_path / "link.json").symlink_to("/proc/self/status")
    assert sha256_file(tmp_path / "link.json") == sha256_file(os.devnull)
    with pytest.raises(LociError, match="truncated"):
        read_struct(tmp_path / "link.json", dict, remedy="mend it")


def test_a_strangers_run_is_not_resumed_with_files_of_ours(tiny_recipe, tiny_data, tmp_path, capsys):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run", should_stop=lambda: True)
    secret = tmp_path / "secret.txt"
    secret.write_text("root:secret:0:0\n")
    _stranger(tmp_path / "run", corpus=str(secret))
    assert main(["train", "--resume", "--out", str(tmp_path / "run")]) == 2
    assert "what the run read as its corpus is gone or has changed" in (said := capsys.readouterr().err)
    assert "root:" not in said


def test_pages_of_a_run_are_its_own(tiny_recipe, tiny_data, tmp_path):
    carry_out(tiny_recipe, tiny_data, tmp_path / "run")
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "run" / "link.html").symlink_to(tmp_path / "secret")
    (tmp_path / "run" / "own.html").write_text("page")
    assert [page.name for page in Library([tmp_path / "run"], tmp_path / "out").reports("run")] == ["own.html"]


def test_a_large_json_file_of_tiny_values_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("loci.files.DENSE_JSON", 1000)
    (tmp_path / "x.json").write_text(json.dumps({"a": [[]] * 1000}))
    with pytest.raises(LociError, match="holds more values than any file of its kind"):
        read_struct(tmp_path / "x.json", dict, remedy="mend it")
    (tmp_path / "x.json").write_text(json.dumps({"taught": ["0123456789abcdef"] * 1000}, indent=2))
    assert len(read_struct(tmp_path / "x.json", dict, remedy="mend it")["taught"]) == 1000


@pytest.mark.parametrize("options", [{"temperature": 1e-300}, {"repetition_penalty": 1e-300}, {"temperature": 1e300}])
def test_temperatures_that_leave_nothing_to_draw_from_are_refused(options):
    with pytest.raises(LociError, match=r"must be"):
        Sampler(**options)


def test_a_server_is_not_opened_to_all_by_an_empty_token(capsys):
    assert main(["web", "--token", "", "--host", "0.0.0.0", "--port", "0", "--no-browser"]) == 2
    assert "--token has 0 characters" in capsys.readouterr().err


def test_whatever_a_visitor_sends_is_refused_as_json(tmp_path):
    from fastapi.testclient import TestClient

    with TestClient(create_app(out=tmp_path), base_url="http://127.0.0.1") as client:
        assert client.get("/api/runs", headers={"origin": "http://["}).status_code == 403
        for path, body in (("/api/ask", b"[" * 500_000), ("/api/ask", b"9" * 5000), ("/nowhere", b"")):
            found = client.post(path, content=body, headers={"content-type": "application/json"})
            assert found.status_code in (400, 404)
            assert list(found.json()) == ["error"]


def test_a_plugin_that_ends_the_program_is_named(tmp_path):
    (tmp_path / "mine.py").write_text("import sys\nsys.exit('bye')\n")
    with pytest.raises(LociError, match=r"mine.py:2: SystemExit: bye"):
        import_file(tmp_path / "mine.py")


@pytest.mark.parametrize("columns", ["³", "-5", "99999999999999999999", "0"])
def test_no_width_of_a_terminal_is_too_odd(columns):
    command = [sys.executable, "-m", "loci", "cost", "--help"]
    found = subprocess.run(command, env={**os.environ, "COLUMNS": columns}, capture_output=True, check=False)
    assert found.returncode == 0
    assert len(found.stdout) < 10**7


def test_long_work_goes_on_when_nobody_reads_its_output(monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as broken:
        monkeypatch.setattr("sys.stdout", broken)
        with InterruptFlag():
            for _ in range(3):
                print("on and on", flush=True)
        with pytest.raises(BrokenPipeError):
            print("nothing long", flush=True)
        monkeypatch.undo()
        with pytest.raises(BrokenPipeError):
            broken.close()
