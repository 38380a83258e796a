from __future__ import annotations

import json

import pytest

from loci.cli.cost import _bytes, _flops
from loci.cli.main import main


def test_one_variant_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "synthesizer", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["variant"] == "synthesizer"
    assert data["length"] == 127
    assert data["layers"][-1]["parameters"] == 3_076_988


def test_all_variants_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "--length", "2048", "--n-embd", "64"]) == 0
    out = capsys.readouterr().out
    for name in ("vanilla", "synthesizer-mixed", "perceiver-course", "growth"):
        assert name in out


def test_a_longer_text_grows_the_block(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cost", "vanilla", "--length", "500", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["config"]["block_size"] == 501


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["vanila"], "unknown variant 'vanila' (did you mean 'vanilla'? one of: vanilla, rope"),
        (["vanilla", "--n-head", "7"], "n_embd 256 is not divisible by n_head 7"),
        (["perceiver", "--bottleneck-dim", "129"], "longer than the block of 128"),
        (["vanilla", "--length", "0"], "--length must be from 1"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cost", *args]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_sizes_are_written_with_three_digits() -> None:
    assert [_flops(n) for n in (0, 999, 999_499, 999_500, 12_345_678)] == ["0", "999", "999 k", "1 M", "12.3 M"]
    assert _bytes(4096) == "4.1 kB"
