"""The one error a user meets is one line, whatever it quotes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError


@given(st.text())
def test_an_error_is_one_line_whatever_it_quotes(quoted):
    said = str(LociError(f"holds a {quoted}, a run is wanted here", path="run", line=3, remedy="train again"))
    assert said.splitlines() == [said]
    assert said.startswith("run:3: holds a ")
    assert said.endswith(" (train again)")
