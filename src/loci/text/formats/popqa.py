"""PopQA: a table with the columns subj, prop, obj, question and possible_answers (a JSON list), and others not used."""

from __future__ import annotations

from loci.text.formats.base import Format
from loci.text.formats.table import has_header, questions
from loci.text.source import Source


def _fits(source: Source) -> bool:
    return has_header(source) and "possible_answers" in source.text.lstrip("\n").partition("\n")[0].lower()


FORMAT = Format("PopQA's table: subj, prop, obj, question, possible_answers", (".tsv",), _fits, questions)
