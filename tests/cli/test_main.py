import os
import resource
import subprocess
import sys

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


def test_an_unknown_command_is_answered_with_the_nearest(capsys):
    assert main(["trian"]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'train'?" in error
    assert error.count("\n") == 1


def test_a_plugin_file_adds_a_command(tmp_path, capsys):
    (tmp_path / "greeting.py").write_text(
        "from loci.cli.commands import COMMANDS, Command\n"
        "COMMANDS.add('greet', Command('plugins', 'say hello', module=__name__))\n"
        "def greet(name: str = 'you') -> int:\n    print('hello', name)\n    return 0\n"
    )
    try:
        assert main(["--import", str(tmp_path / "greeting.py"), "greet", "--name", "Ann"]) == 0
        assert capsys.readouterr().out == "hello Ann\n"
    finally:
        COMMANDS.remove("greet")
    assert main(["--import", str(tmp_path / "nowhere.py"), "check"]) == 2
    assert "no such Python file" in capsys.readouterr().err


def test_control_characters_of_bad_input_do_not_reach_the_terminal(tmp_path, capsys):
    assert main(["check", str(tmp_path / "a\x1b[2Jb.txt")]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert "\\x1b[2Jb.txt" in error


@pytest.mark.parametrize("env", [{"COLUMNS": "3"}, {"PYTHONIOENCODING": "ascii"}])
def test_odd_terminals_get_the_help(env):
    result = subprocess.run(
        [sys.executable, "-m", "loci", "world", "--help"],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
    )
    assert result.returncode == 0
    assert "loci world" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_with_an_example(name, capsys):
    try:
        code: object = main([name, "--help"])
    except SystemExit as done:  # tyro leaves this way
        code = done.code
    assert code == 0
    assert f"loci {name}" in capsys.readouterr().out


def test_help_loads_neither_torch_nor_tyro_and_answers_at_once():
    """The half second is a promise to a person; processor time holds it on a busy machine too."""
    heavy = "{'torch', 'tyro', 'numpy'} & set(sys.modules)"
    code = f"import sys; from loci.cli.main import main; main(['--help']); print({heavy})"
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
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
