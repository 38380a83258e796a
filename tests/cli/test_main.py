import subprocess
import sys
import time

import pytest

from loci import __version__
from loci.cli.commands import COMMANDS
from loci.cli.main import main


def test_help_names_every_command_and_version_is_printed(capsys):
    assert main([]) == 0
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"loci {__version__}"


def test_an_unknown_command_lists_the_known(capsys):
    assert main(["trian"]) == 2
    assert "train" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name, capsys):
    try:
        code = main([name, "--help"])
    except SystemExit as done:  # tyro leaves this way
        code = done.code
    assert code == 0
    assert f"loci {name}" in capsys.readouterr().out


def test_help_loads_neither_torch_nor_tyro_and_answers_at_once():
    """The half second is a promise to a person; here the best of three guards against a busy machine."""
    heavy = "{'torch', 'tyro', 'numpy'} & set(sys.modules)"
    code = f"import sys; from loci.cli.main import main; main(['--help']); print({heavy})"
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - start)
        assert result.stdout.rstrip().endswith("set()")
    assert min(times) < 0.5


def test_python_dash_m_works():
    result = subprocess.run([sys.executable, "-m", "loci", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.startswith("loci ")


def test_what_the_system_refuses_is_said_in_one_line(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["world", "--people", "20", "--out", str(tmp_path / "file" / "below")]) == 2
    error = capsys.readouterr().err
    assert "file" in error
    assert error.count("\n") == 1
