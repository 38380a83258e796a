"""One idiom for every extension point, and plugins from outside the package."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest

from loci.errors import LociError
from loci.model.variants import VARIANTS
from loci.registry import PLUGIN_GROUP, Registry, import_file, load_plugins

PLUGIN = """
from loci.model.variants import VARIANTS, Variant
VARIANTS.add("toy-plugin", Variant("from a file"))
"""


def test_names_are_found_in_the_order_they_were_added():
    table: Registry[int] = Registry("number")
    assert table.add("two", 2) == 2
    table.add("one", 1)
    assert list(table) == ["two", "one"]
    assert table.items() == [("two", 2), ("one", 1)]
    assert len(table) == 2
    assert table["one"] == 1
    assert "one" in table
    assert "three" not in table
    assert repr(table) == "Registry('number': two, one)"


def test_add_without_an_entry_is_a_decorator():
    table: Registry[Callable[[], int]] = Registry("function")

    @table.add("mine")
    def mine() -> int:
        return 3

    assert table["mine"] is mine
    assert mine() == 3


def test_unknown_names_list_the_known_ones_and_the_nearest():
    table: Registry[int] = Registry("recipe")
    table.add("demo", 1)
    table.add("char", 2)
    with pytest.raises(LociError, match=r"unknown recipe 'dmo' \(did you mean 'demo'\? one of: demo, char\)"):
        table["dmo"]
    with pytest.raises(LociError, match=r"unknown recipe 'zzz' \(one of: demo, char\)"):
        table["zzz"]


def test_a_name_is_registered_once():
    table: Registry[int] = Registry("recipe")
    table.add("demo", 1)
    with pytest.raises(LociError, match="recipe 'demo' is registered already"):
        table.add("demo", 2)
    table.remove("demo")
    assert table.add("demo", 2) == 2


def test_a_plugin_file_adds_to_a_registry_once(tmp_path: Path):
    file = tmp_path / "my.py"
    file.write_text(PLUGIN)
    try:
        assert import_file(file) is import_file(str(file))
        assert VARIANTS["toy-plugin"].summary == "from a file"
    finally:
        VARIANTS.remove("toy-plugin")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [("x = 1\ny = 1 / 0\n", 2, "ZeroDivisionError"), ("x = 1\n\ny = (\n", 3, "SyntaxError")],
)
def test_a_broken_plugin_file_is_named_with_its_line(tmp_path: Path, text: str, line: int, said: str):
    file = tmp_path / "broken.py"
    file.write_text(text)
    for _ in range(2):  # a failed import leaves nothing behind
        with pytest.raises(LociError, match=said) as caught:
            import_file(file)
        assert (caught.value.path, caught.value.line) == (file, line)


@pytest.mark.parametrize("name", ["absent.py", "notes.txt"])
def test_what_is_no_python_file_is_refused(tmp_path: Path, name: str):
    (tmp_path / "notes.txt").write_text("x = 1\n")
    with pytest.raises(LociError, match="no such Python file"):
        import_file(tmp_path / name)


def test_installed_packages_are_loaded_by_their_entry_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "loci_toy_package.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    points = EntryPoints([EntryPoint("toy", "loci_toy_package", PLUGIN_GROUP)])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.select(group=group))
    try:
        load_plugins()
        assert "toy-plugin" in VARIANTS
    finally:
        VARIANTS.remove("toy-plugin")
        del sys.modules["loci_toy_package"]


def test_a_broken_package_is_named(monkeypatch: pytest.MonkeyPatch):
    points = EntryPoints([EntryPoint("gone", "loci_no_such_package", PLUGIN_GROUP)])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points)
    with pytest.raises(LociError, match=r"plugin 'gone'.*ModuleNotFoundError"):
        load_plugins()
