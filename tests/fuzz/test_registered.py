"""The fuzzer knows every data format, every command and every module that reads files; a new one without a target fails."""

import re
from pathlib import Path

from fuzz_commands import LINES
from fuzz_home import FORMAT_SAMPLES
from fuzz_kinds import Reader
from fuzz_targets import TARGETS

import loci
from loci.cli.commands import COMMANDS
from loci.cli.course import SUBCOMMANDS
from loci.text.formats import FORMATS

SOURCE = Path(loci.__file__).parent
#: What makes a module a reader of files that others wrote.
READS = re.compile(
    r"\bread_struct\(|\bjson\.loads\(|\bparse_json\(|\btomllib\.|\btorch\.load\(|\bnp\.load\(|\bload_file\(|zipfile\."
    r"|\bmsgspec\.json\.decode\(|\bnumbered_lines\(|\.read_text\(|\.read_bytes\("
)
#: They read what this very process wrote, files of the package or the system, or data formats, which have targets.
OTHERWISE = {
    "loci.files",
    "loci.report.page",
    "loci.cli.bench",
    "loci.text.formats.json_text",
    "loci.text.formats.records",
    "loci.text.formats.table",
    "loci.text.source",
    "loci.machine",
    "loci.model.matmul",
    "loci.interop.model_source",
    "loci.interop.course_commands",
    "loci.report.attention.look_page",
    "loci.text.world.tables",
}


def test_every_data_format_has_targets():
    assert set(FORMATS) <= set(FORMAT_SAMPLES)


def test_every_command_has_a_line():
    words = [line.split() for line in LINES.strip().splitlines()]
    assert {own[own[0].isdigit()] for own in words} == set(COMMANDS)


def test_every_subcommand_of_the_course_has_a_line():
    words = [line.split() for line in LINES.strip().splitlines()]
    named = {own[own[0].isdigit() + 1] for own in words if own[own[0].isdigit()] == "course"}
    assert set(SUBCOMMANDS) <= named


def test_every_module_that_reads_files_is_covered():
    covered = {module for _, target in TARGETS.items() if isinstance(target, Reader) for module in target.covers}
    modules = {
        "loci." + ".".join(file.relative_to(SOURCE).with_suffix("").parts): file.read_text(encoding="utf-8")
        for file in SOURCE.rglob("*.py")
    }
    reading = {name for name, text in modules.items() if READS.search(text)} - OTHERWISE
    assert sorted(reading - covered) == [], "add a Reader to tests/fuzz/fuzz_targets.py that covers it"
