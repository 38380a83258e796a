from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import conllu as reader
import pytest

from loci.errors import LociError
from loci.files import sha256_file
from loci.text.world import WorldSpec, people, tellings, world_text, write_world

# Same seed, same bytes on every machine. A change here is a new WORLD_VERSION.
GOLDEN = {
    "birth_dev.tsv": "e72918087808d3ce",
    "birth_places_train.tsv": "884cebb8f5b7a658",
    "birth_test_inputs.tsv": "54ae81904736478c",
    "people.jsonl": "e7f56db493c4f3c1",
    "relations/death_dev.tsv": "b395e89f560d2ae9",
    "relations/death_train.tsv": "043bc0b12a1abafb",
    "relations/work_dev.tsv": "0a43180d1e7321da",
    "relations/work_train.tsv": "95b0d95e3376a235",
    "wiki.conllu": "f0d34b6e7ebead61",
    "wiki.txt": "d1f793fccf55f9a8",
    "world.json": "f00d632c11b6caa7",
}


def read_questions(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("worlds") / "world"
    spec = WorldSpec(people=300, seed=5, paraphrases=2, permute=True, unstated=0.1, outside=0.2)
    write_world(spec, out, conllu=True)
    return out


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    write_world(WorldSpec(people=200, seed=0), tmp_path / "world", conllu=True)
    files = sorted(file for file in (tmp_path / "world").rglob("*") if file.is_file())
    hashes = {file.relative_to(tmp_path / "world").as_posix(): sha256_file(file)[:16] for file in files}
    assert hashes == GOLDEN


def test_hash_randomisation_and_locale_change_nothing(tmp_path: Path) -> None:
    script = "from loci.text.world import *; write_world(WorldSpec(people=60, seed=9), 'w')"
    hashes = set()
    for number, environment in enumerate(
        ({"PYTHONHASHSEED": "1", "LC_ALL": "C"}, {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo"})
    ):
        place = tmp_path / str(number)
        place.mkdir()
        subprocess.run([sys.executable, "-c", script], cwd=place, env={**os.environ, **environment}, check=True)
        hashes.add(sha256_file(place / "w" / "world.json"))  # which holds the hashes of all others
    assert len(hashes) == 1


def test_the_course_files_stand_in_the_course_order(folder: Path) -> None:
    truth = [json.loads(line) for line in (folder / "people.jsonl").read_text(encoding="utf-8").splitlines()]
    corpus = (folder / "wiki.txt").read_text(encoding="utf-8").splitlines()
    assert len(truth) == 300
    assert [number for person in truth for number in person["lines"]] == list(range(1, 2 * 240 + 1))
    assert [line for line in corpus[2 * 240 :] if not line.startswith("Alphabet. ")] == []
    for person in truth:
        assert all(corpus[number - 1].startswith(person["name"] + ". ") for number in person["lines"])
    for split, name in (("train", "birth_places_train"), ("dev", "birth_dev"), ("unstated", "birth_unstated")):
        expected = [[f"Where was {p['name']} born?", p["birth"]["place"]] for p in truth if p["split"] == split]
        assert read_questions(folder / f"{name}.tsv") == expected
    expected = [[f"Where was {p['name']} born?"] for p in truth if p["split"] == "test"]
    assert read_questions(folder / "birth_test_inputs.tsv") == expected
    outside = [p for p in truth if p["split"] == "outside"]
    assert len(read_questions(folder / "birth_outside.tsv")) == len(outside) == 60
    text = "\n".join(corpus)
    assert not any(p["name"] in text for p in outside)


def test_other_relations_ask_only_what_a_line_states(folder: Path) -> None:
    truth = [json.loads(line) for line in (folder / "people.jsonl").read_text(encoding="utf-8").splitlines()]
    corpus = (folder / "wiki.txt").read_text(encoding="utf-8").splitlines()
    for split in ("train", "dev"):
        died = [p for p in truth if p["split"] == split and "death" in p["told"]]
        did = [p for p in truth if p["split"] == split and "job" in p["told"]]
        assert read_questions(folder / "relations" / f"death_{split}.tsv") == [
            [f"Where did {p['name']} die?", p["death"]["place"]] for p in died
        ]
        assert read_questions(folder / "relations" / f"work_{split}.tsv") == [
            [f"What did {p['name']} do?", p["job"]] for p in did
        ]
        for person in died:
            assert all(person["death"]["place"] in corpus[number - 1] for number in person["lines"])
        for person in did:
            assert all(person["job"] in corpus[number - 1] for number in person["lines"])


def test_the_manifest_holds_the_knobs_and_the_hashes(folder: Path) -> None:
    manifest = json.loads((folder / "world.json").read_text(encoding="utf-8"))
    assert WorldSpec(**manifest["spec"]) == WorldSpec(
        people=300, seed=5, paraphrases=2, permute=True, unstated=0.1, outside=0.2
    )
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert set(manifest["files"]) == files - {"world.json"}
    for name, facts in manifest["files"].items():
        assert facts["sha256"] == sha256_file(folder / name)
        assert facts["bytes"] == (folder / name).stat().st_size
        assert facts["lines"] == (folder / name).read_bytes().count(b"\n")


def test_the_parses_stand_where_they_say(folder: Path) -> None:
    corpus = (folder / "wiki.txt").read_text(encoding="utf-8").splitlines()
    trees = reader.parse((folder / "wiki.conllu").read_text(encoding="utf-8"))
    assert len({tree.metadata["sent_id"] for tree in trees}) == len(trees)
    corpus = [line for line in corpus if not line.startswith("Alphabet. ")]  # about nobody, in no grammar
    covered = {number: len(line.split(". ")[0]) for number, line in enumerate(corpus, start=1)}
    for tree in trees:
        line, offset, text = int(tree.metadata["loci_line"]), int(tree.metadata["loci_offset"]), tree.metadata["text"]
        assert corpus[line - 1][offset : offset + len(text)] == text
        assert offset > covered[line]
        covered[line] = offset + len(text)
    assert covered == {number: len(line) for number, line in enumerate(corpus, start=1)}


def test_a_world_in_memory_is_the_world_on_disk(folder: Path) -> None:
    spec = WorldSpec(people=300, seed=5, paraphrases=2, permute=True, unstated=0.1, outside=0.2)
    text = world_text(spec)
    assert list(text.lines) == (folder / "wiki.txt").read_text(encoding="utf-8").splitlines()
    for name, pairs in text.questions.items():
        assert read_questions(folder / name) == [[part for part in pair if part is not None] for pair in pairs]


@pytest.mark.parametrize("size", [1, 3, 30, 400])
def test_the_corpus_holds_every_character_of_the_questions(size: int) -> None:
    text = world_text(WorldSpec(people=size, outside=0.3 if size > 3 else 0.0, multiword_places=True))
    symbols = set("".join(text.lines))
    for pairs in text.questions.values():
        for question, answer in pairs:
            assert set(question + (answer or "")) <= symbols
    assert sum(line.startswith("Alphabet. ") for line in text.lines) <= 1
    assert all(line.endswith(" .") for line in text.lines)


def test_a_world_of_the_usual_size_needs_no_line_about_nobody() -> None:
    for seed in range(3):
        assert not world_text(WorldSpec(people=600, seed=seed)).lines[-1].startswith("Alphabet. ")


def test_a_plain_world_has_no_file_it_does_not_need(tmp_path: Path) -> None:
    summary = write_world(WorldSpec(people=30), tmp_path / "w")
    names = {file.name for file in summary.files}
    assert {"wiki.txt", "birth_places_train.tsv", "birth_dev.tsv", "birth_test_inputs.tsv", "people.jsonl"} <= names
    assert not names & {"wiki.conllu", "birth_unstated.tsv", "birth_outside.tsv"}


def test_the_summary_counts_the_baseline(tmp_path: Path) -> None:
    spec = WorldSpec(people=400)
    summary = write_world(spec, tmp_path / "w")
    everybody = list(people(spec))
    train = [p.birth_place.name for p in everybody if p.split == "train"]
    dev = [p.birth_place.name for p in everybody if p.split == "dev"]
    birth, *others = summary.baselines
    assert train.count(birth.answer) == max(map(train.count, train))
    assert (birth.relation, birth.right, birth.questions) == ("birthplace", dev.count(birth.answer), len(dev))
    assert [baseline.relation for baseline in others] == ["occupation", "death_place"]
    assert summary.examples == tuple(lines[0].text for _, lines in list(tellings(spec))[:3])


def test_an_empty_folder_is_filled_and_a_full_one_is_left_alone(tmp_path: Path) -> None:
    spec, out = WorldSpec(people=20), tmp_path / "w"
    out.mkdir()
    write_world(spec, out)
    with pytest.raises(LociError, match=r"already here.*--force"):
        write_world(spec, out)
    write_world(WorldSpec(people=20, seed=1), out, force=True)
    assert json.loads((out / "world.json").read_text())["spec"]["seed"] == 1
    (out / "notes.md").write_text("mine")
    with pytest.raises(LociError, match=r"also holds notes\.md"):
        write_world(spec, out, force=True)
    assert (out / "notes.md").read_text() == "mine"


def test_force_replaces_nothing_but_a_world(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(LociError, match="holds no world"):
        write_world(WorldSpec(people=20), tmp_path, force=True)
    with pytest.raises(LociError, match="is a file"):
        write_world(WorldSpec(people=20), tmp_path / "thesis.txt", force=True)
    with pytest.raises(LociError, match="a part of this path is a file"):
        write_world(WorldSpec(people=20), tmp_path / "thesis.txt" / "world")
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_world_that_does_not_fit_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=100_000))
    with pytest.raises(LociError, match=r"would take about .* MB, and 0\.1 MB are free"):
        write_world(WorldSpec(people=1000), tmp_path / "new" / "w")
    assert list(tmp_path.iterdir()) == []


def test_a_killed_world_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    script = (
        "import os, signal\nfrom loci.text.world import *\n"
        "write_world(WorldSpec(people=600), 'w', progress=lambda done: os.kill(os.getpid(), signal.SIGKILL))"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == -signal.SIGKILL
    assert not (tmp_path / "w").exists()
    assert all(entry.name.startswith(".") for entry in tmp_path.iterdir())
    write_world(WorldSpec(people=20), tmp_path / "w")


def test_an_interrupted_world_leaves_nothing(tmp_path: Path) -> None:
    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_world(WorldSpec(people=600), tmp_path / "w", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_progress_ends_at_everybody(tmp_path: Path) -> None:
    done: list[int] = []
    write_world(WorldSpec(people=600), tmp_path / "w", progress=done.append)
    assert done == [500, 600]


def peak(size: int, out: Path) -> int:
    tracemalloc.start()
    write_world(WorldSpec(people=size), out)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most


def test_memory_does_not_grow_with_the_world(tmp_path: Path) -> None:
    write_world(WorldSpec(people=800), tmp_path / "warm")  # fills the caches of tables, wordings and years
    assert peak(1200, tmp_path / "large") < peak(400, tmp_path / "small") + 300_000  # 400 bytes a person


@pytest.mark.slow
def test_a_hundred_thousand_people_with_names_of_their_own_take_no_more_memory(tmp_path: Path) -> None:
    write_world(WorldSpec(people=2000), tmp_path / "warm")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    write_world(WorldSpec(people=100_000), tmp_path / "w")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 20_000  # kilobytes
    with (tmp_path / "w" / "people.jsonl").open(encoding="utf-8") as truth:
        names = [json.loads(line)["name"] for line in truth]
    assert len(set(names)) == 100_000


def test_a_split_of_nobody_has_no_file(tmp_path):
    write_world(WorldSpec(people=20, train_share=0.5, dev_share=0.5), tmp_path / "world")
    assert (tmp_path / "world" / "birth_dev.tsv").exists()
    assert not (tmp_path / "world" / "birth_test_inputs.tsv").exists()
