"""What commands print as JSON."""

import pytest

from loci.cli.output import print_json, print_json_list


@pytest.mark.parametrize(
    "items", [[], [{"text": "a\n[]", "rest": []}], [{"n": 1.5}, {"n": float("nan"), "of": [1, {"x": []}]}, "b"]]
)
def test_a_list_printed_item_by_item_is_the_list(items, capsys):
    about = {"run": "[]", "remarks": []}
    print_json({**about, "answers": items})
    whole = capsys.readouterr().out
    print_json_list(about, "answers", iter(items))
    assert capsys.readouterr().out == whole
