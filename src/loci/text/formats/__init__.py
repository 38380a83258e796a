"""Forms of data files: a registry, one line each below. Knows no corpus and no questions, only their rows.

A file's form is told by its content; of the forms that fit, the one registered last is taken, so that special forms
come after the general ones, and a plugin's own after all.
"""

from __future__ import annotations

from loci.registry import Registry
from loci.text.formats import comma, comma_documents, course_tsv, documents, google_re, records, table
from loci.text.formats.base import Format
from loci.text.source import Source

FORMATS: Registry[Format] = Registry("data format")
FORMATS.add("text", course_tsv.TEXT)
FORMATS.add("tsv", course_tsv.TSV)
FORMATS.add("headed tsv", table.TABLE)
FORMATS.add("popqa", table.POPQA)
FORMATS.add("csv", comma.FORMAT)
FORMATS.add("csv documents", comma_documents.FORMAT)
FORMATS.add("json", records.JSON)
FORMATS.add("jsonl", records.JSONL)
FORMATS.add("documents", documents.FORMAT)
FORMATS.add("documents with questions", documents.ASKED)
FORMATS.add("google-re", google_re.FORMAT)


def question_format(source: Source) -> tuple[str, Format]:
    """The form of a question file."""
    return next((name, form) for name, form in reversed(FORMATS.items()) if form.questions and form.fits(source))


def corpus_format(source: Source) -> tuple[str, Format]:
    """The form of a corpus."""
    return next((name, form) for name, form in reversed(FORMATS.items()) if form.passages and form.fits(source))
