from __future__ import annotations

import os
import pickle
import random
import zipfile
from pathlib import Path
from typing import IO

import pytest
import torch

from loci.errors import LociError
from loci.interop.params_file import read_params, write_params

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "b": torch.ones(4)}


class RunsWhenRead:
    """What an attacker would put into a weights file."""

    def __init__(self, proof: Path):
        self.proof = proof

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"touch {self.proof}",)


def test_written_files_read_back_and_are_plain_torch(tmp_path: Path) -> None:
    file = tmp_path / "new" / "model.params"
    write_params(file, STATE)
    assert {name: tensor.tolist() for name, tensor in read_params(file).items()} == {
        name: tensor.tolist() for name, tensor in STATE.items()
    }
    loaded = torch.load(file, weights_only=True)
    assert list(loaded) == list(STATE)
    assert [entry.name for entry in file.parent.iterdir()] == ["model.params"]


def test_files_of_old_torch_are_read(tmp_path: Path) -> None:
    file = tmp_path / "old.params"
    torch.save(STATE, file, _use_new_zipfile_serialization=False)
    assert torch.equal(read_params(file)["b"], STATE["b"])


@pytest.mark.parametrize("form", ["torch", "torch-legacy", "pickle-2", "pickle-4", "pickle-5"])
def test_a_file_that_would_run_code_is_refused_and_does_not_run(tmp_path: Path, form: str) -> None:
    file, proof = tmp_path / "evil.params", tmp_path / "proof"
    poisoned = {**STATE, "c": RunsWhenRead(proof)}
    if form.startswith("pickle"):
        with open(file, "wb") as handle:
            pickle.dump({"c": RunsWhenRead(proof)}, handle, protocol=int(form[-1]))
    else:
        torch.save(poisoned, file, _use_new_zipfile_serialization=form == "torch")
    with pytest.raises(
        LociError, match=r"refused: it holds more than weights, reading it would run posix\.system"
    ) as e:
        read_params(file)
    assert not proof.exists()
    assert "\n" not in str(e.value)
    assert str(e.value).startswith(str(file))


def test_a_whole_model_is_refused_by_name(tmp_path: Path) -> None:
    torch.save(torch.nn.Linear(2, 2), tmp_path / "model.params")
    with pytest.raises(LociError, match=r"would run torch\.nn\.modules\.linear\.Linear"):
        read_params(tmp_path / "model.params")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([1, 2], "holds no state dict"),
        ({}, "holds no state dict"),
        ({"model": STATE}, "entry 'model' is dict"),
        ({"epoch": 3, **STATE}, "entry 'epoch' is int"),
        ({0: torch.ones(1)}, "entry 0 is Tensor"),
    ],
)
def test_other_contents_are_named(tmp_path: Path, value: object, said: str) -> None:
    torch.save(value, tmp_path / "x.params")
    with pytest.raises(LociError, match=said):
        read_params(tmp_path / "x.params")


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(LociError, match="no such file"):
        read_params(tmp_path / "nothing.params")
    with pytest.raises(LociError, match=r"is a folder.*export"):
        read_params(tmp_path)
    with pytest.raises(LociError, match="is a folder"):
        write_params(tmp_path, STATE)


def test_files_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("Where was Ada born?\tLondon\n" * 20)
    with zipfile.ZipFile(tmp_path / "zip", "w") as archive:
        archive.writestr("x", "y")
    for name in ("empty", "text", "zip"):
        with pytest.raises(LociError, match=r"is damaged, or no \.params file"):
            read_params(tmp_path / name)


@pytest.mark.parametrize("legacy", [False, True])
def test_damage_never_ends_in_a_traceback(tmp_path: Path, legacy: bool) -> None:
    file = tmp_path / "x.params"
    torch.save(STATE, file, _use_new_zipfile_serialization=not legacy)
    whole, rng = file.read_bytes(), random.Random(0)
    said: list[str] = []
    for _ in range(200):
        data = bytearray(whole)
        for _ in range(rng.choice((1, 3, 20))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        file.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)
        try:
            read_params(file)
        except LociError as error:
            said.append(str(error))
    assert len(said) > 60
    assert not any("\n" in line for line in said)


def test_a_flipped_bit_is_found_or_changes_nothing(tmp_path: Path) -> None:
    """The archive's checksums cover all that is read; what they do not cover is padding between records."""
    file = tmp_path / "x.params"
    torch.save(STATE, file)
    whole, rng, found = file.read_bytes(), random.Random(7), 0
    for _ in range(200):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)
        try:
            state = read_params(file)
        except LociError:
            found += 1
        else:
            assert state.keys() == STATE.keys()
            assert all(torch.equal(state[name], tensor) for name, tensor in STATE.items())
    assert found > 40


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
def test_a_truncated_download_is_named(tmp_path: Path, part: float) -> None:
    file = tmp_path / "x.params"
    torch.save({"w": torch.randn(100, 100)}, file)
    whole = file.read_bytes()
    file.write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(LociError, match=r"is cut short or damaged: its [\d,]+ bytes .*download or copy it again"):
        read_params(file)


def test_a_small_file_that_inflates_is_refused_before_it_does(tmp_path: Path) -> None:
    file, bomb = tmp_path / "x.params", tmp_path / "bomb.params"
    torch.save({"w": torch.zeros(1_000_000)}, file)
    with zipfile.ZipFile(file) as stored, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as small:
        for entry in stored.infolist():
            small.writestr(entry.filename, stored.read(entry))
    assert bomb.stat().st_size < 20_000
    with pytest.raises(LociError, match="holds compressed records"):
        read_params(bomb)


@pytest.mark.parametrize(
    ("tensor", "said"),
    [
        (torch.eye(3).to_sparse(), "w is a sparse tensor"),
        (torch.empty(3, device="meta"), "w is a meta tensor"),
        (torch.ones(1).expand(1000, 1000), "w says it is larger than its data"),
    ],
)
def test_other_kinds_of_tensors_are_refused_by_name(tmp_path: Path, tensor: torch.Tensor, said: str) -> None:
    torch.save({"w": tensor}, tmp_path / "x.params")
    with pytest.raises(LociError, match=said):
        read_params(tmp_path / "x.params")


@pytest.mark.filterwarnings("ignore")
def test_quantised_tensors_are_refused_by_name(tmp_path: Path) -> None:
    torch.save({"w": torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)}, tmp_path / "x.params")
    with pytest.raises(LociError, match="w is a quantised tensor"):
        read_params(tmp_path / "x.params")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.params"
    write_params(file, STATE)
    before = file.read_bytes()

    def half(state: object, handle: IO[bytes]) -> None:
        handle.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(LociError, match="cannot be written: No space left"):
        write_params(file, {"b": torch.zeros(4)})
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]
