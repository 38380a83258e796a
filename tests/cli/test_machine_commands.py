import json
from typing import Any

import pytest
import torch

from loci import machine
from loci.cli.bench import Ratio, chosen, markdown, ratios_of
from loci.cli.doctor import advise
from loci.cli.main import main
from loci.machine import Extra, Machine, Probe, best_of

SCRIPT = """
import json, sys
quick = "--quick" in sys.argv
rows = [{"what": "speed", "slow": "the other", "ratios": [2.0, 4.0, 3.0], "target": 2.5, "note": "a|b"}]
print(json.dumps({"rows": rows} if quick else rows))  # "ratios"
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "one.py").write_text(SCRIPT)
    (tmp_path / "_part.py").write_text('"ratios"')
    (tmp_path / "other.py").write_text("print('no figures of that kind')")
    (tmp_path / "broken.py").write_text('"ratios"; raise SystemExit(3)')
    return tmp_path


@pytest.mark.parametrize("flags", [[], ["--quick"]])
def test_ratios_are_gathered_and_written(folder, flags, capsys):
    out = folder / "page.md"
    assert main(["bench", "--folder", str(folder), "--only", "one", "--json", "--out", str(out), *flags]) == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["rows"]
    assert (row["what"], row["ratios"], row["met"], row["target"]) == ("speed", [2.0, 4.0, 3.0], True, 2.5)
    assert result["machine"]["cores"] >= 1
    page = out.read_text()
    assert "| one | speed | the other | 3.00 (2.00–4.00, n = 3) | ≥ 2.5 ✓ | a/b |" in page
    assert ("mean little" in page) == bool(flags)
    assert main(["bench", "--folder", str(folder), "--only", "one"]) == 0
    assert "speed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("flags", "said"),
    [(["--only", "broken"], "ended with 3"), (["--only", "other"], "one of: broken, one"), ([], "broken.py")],
)
def test_what_is_wrong_with_a_benchmark_is_said(folder, flags, said, capsys):
    assert main(["bench", "--folder", str(folder), *flags]) == 2
    assert said in capsys.readouterr().err
    assert main(["bench", "--folder", str(folder / "nowhere")]) == 2
    assert "no benchmarks here" in capsys.readouterr().err


def test_scripts_without_ratios_and_parts_are_left_out(folder):
    assert [path.stem for path in chosen(folder)] == ["broken", "one"]
    assert ratios_of("s", {"loss": 1.0}) == []


def test_a_missed_target_shows():
    row = Ratio("s", "w", "a", (0.5, 0.7), 0.8, "")
    assert not row.met
    assert "≥ 0.8 ✗" in markdown([row], "here", quick=False)


def test_the_doctor_describes_and_measures(capsys, monkeypatch):
    monkeypatch.setattr(machine, "gemm_gflops", lambda: [1.0, 2.0, 3.0])
    assert main(["doctor", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["cores"] >= 1
    assert result["memory_gb"] > 0
    assert result["gemm_gflops"] == {"median": 2.0, "low": 1.0, "high": 3.0}
    assert result["best_threads"] in {int(count) for count in result["probe_ms"]}
    assert {"lab", "web", "hf"} <= result["extras"].keys()
    assert main(["doctor"]) == 0
    assert "products" in capsys.readouterr().out


def test_numbers_too_small_for_fp32_count_as_zero_where_the_processor_can():
    tiny = torch.full((64,), 1e-40)
    with machine.denormals_flushed() as able:
        if not able:
            pytest.skip("this processor cannot")
        assert not (tiny * 1.0).any()
        with machine.denormals_flushed():
            pass
        assert not (tiny * 1.0).any()  # as before
    assert (tiny * 1.0).all()


def some_machine(**changes):
    about: dict[str, Any] = {
        "cpu": "c",
        "cores": 4,
        "memory_gb": 16.0,
        "free_gb": 8.0,
        "load": 0.5,
        "blas": "MKL",
        "simd": "AVX2",
    }
    about |= {"threads": 4, "gpus": (), "system": "s", "python": "3", "torch": "2", "loci": "0", **changes}
    return Machine(**about)


@pytest.mark.parametrize(
    ("changes", "best", "keeps", "said"),
    [
        ({}, 4, True, []),
        ({"load": 9.0}, 4, True, ["share 4 cores"]),
        ({}, 1, True, ["faster than 4"]),
        ({"threads": 1}, 4, True, ["only 1 of 4"]),
        ({"free_gb": 0.5}, 4, True, ["accumulate"]),
        ({}, 4, False, ["C library"]),
    ],
)
def test_advice_names_what_to_do(changes, best, keeps, said):
    lines = advise(some_machine(**changes), Probe(((1, 1.0),), best), [], keeps_memory=keeps, flushes=True)
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))


def test_missing_parts_come_with_their_remedy():
    extra = Extra("tensorboard", "curves", ("tensorboard",))
    (line,) = advise(some_machine(), Probe(((1, 1.0),), 4), [extra], keeps_memory=True, flushes=True)
    (slow,) = advise(some_machine(), Probe(((1, 1.0),), 4), [], keeps_memory=True, flushes=False)
    assert "taken as zero" in slow
    assert line == "tensorboard missing (curves): pip install 'loci-lab[tensorboard]'"


def test_the_fewest_threads_that_are_nearly_best():
    assert best_of([(1, 1.0), (2, 0.6), (4, 0.59)]) == 2
    assert best_of([(1, 1.0), (2, 1.4)]) == 1


def test_threads_are_put_back():
    import torch

    before = torch.get_num_threads()
    with machine.threads(before + 1):
        assert torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    assert len(machine.gemm_gflops(64, seconds=0.0)) == 3
    assert machine.peak_memory_mb() > 10
