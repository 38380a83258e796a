"""From bytes on disk to text, with everything stated that had to be put right on the way.

Knows encodings, byte-order marks and line ends; knows nothing of what the lines mean.
"""

from __future__ import annotations

import codecs
import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from loci.errors import LociError
from loci.text.findings import Finding, finding
from loci.text.vocab import MASK, PAD

_MAGIC = (
    (b"PK\x03\x04", "a zip archive or a spreadsheet"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"%PDF-", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)
# The longer mark first: UTF-32's begins with UTF-16's.
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Line ends and tabs are not here: a line has no line end in it, and the tab has a meaning.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
_SPECIAL = re.compile(f"[{PAD}{MASK}]")


@dataclass(frozen=True)
class Source:
    """The text of one file, line ends `\\n`, and what was found on the way to it."""

    path: Path | None
    text: str
    findings: tuple[Finding, ...] = ()

    def lines(self) -> list[str]:
        """The lines without their ends. Only `\\n` ends a line: Unicode's other separators stay inside."""
        lines = self.text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return lines


def load(path: str | Path) -> Source:
    """Read a file. A missing or unreadable one is a `LociError`; what is wrong with its bytes is in the findings."""
    path = Path(path)
    try:
        if path.is_dir():
            raise LociError("is a folder, a file is wanted here", path=path, remedy="name one file of it")
        if not path.exists():
            raise LociError("no such file", path=path, remedy=_likely_names(path))
        if not path.is_file():
            raise LociError("is no regular file", path=path)
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise LociError(f"cannot be read: {reason}", path=path) from None
    return decode(data, path)


def _likely_names(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent} either"
    near = difflib.get_close_matches(path.name, [entry.name for entry in path.parent.iterdir()], n=3)
    return f"there is {', '.join(near)}" if near else "check the name"


def decode(data: bytes, path: Path | None = None) -> Source:
    """Bytes to text with `\\n` line ends and no byte-order mark; a line that is not UTF-8 is read as Windows-1252."""
    findings: list[Finding] = []
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return Source(path, "", (finding("binary", "error", f"is {name}, not text", path),))
    text = _decode_wide(data, path, findings)
    if text is None:
        if b"\0" in data:
            message = "holds NUL bytes: not text, or UTF-16 without a byte-order mark"
            return Source(path, "", (finding("binary", "error", message, path),))
        text = _decode_utf8(data, path, findings)
    if findings and findings[-1].kind == "binary":
        return Source(path, "", tuple(findings))
    return Source(path, _line_ends(text, path, findings), tuple(findings))


def _decode_wide(data: bytes, path: Path | None, findings: list[Finding]) -> str | None:
    for mark, codec in _WIDE_MARKS:
        if data.startswith(mark):
            try:
                text = data.decode(codec)
            except UnicodeDecodeError:
                continue
            if "\0" in text:
                continue
            name = codec.upper()
            message = f"is {name}, read as such"
            findings.append(finding("encoding", "warning", message, path, 1, repaired=True, before=name, after="UTF-8"))
            return text
    return None


def _decode_utf8(data: bytes, path: Path | None, findings: list[Finding]) -> str:
    if data.startswith(codecs.BOM_UTF8):
        data = data.removeprefix(codecs.BOM_UTF8)
        message = "begins with a byte-order mark"
        findings.append(finding("bom", "warning", message, path, 1, repaired=True, before="\\ufeff", after=""))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    head = data[: 1 << 16]
    if sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) * 20 > len(head):
        findings.append(finding("binary", "error", "holds mostly bytes that are no text", path))
        return ""
    lines = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        try:
            lines.append(line.decode("utf-8"))
        except UnicodeDecodeError as error:
            guess = _windows(line)
            lines.append(guess)
            message = f"byte 0x{line[error.start]:02x} at column {error.start + 1} is not UTF-8"
            before = line.decode("utf-8", errors="backslashreplace")
            findings.append(
                finding("encoding", "error", message, path, number, repairable=True, before=before, after=guess)
            )
    return "\n".join(lines)


def _windows(line: bytes) -> str:
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:  # five bytes have no meaning in Windows-1252; Latin-1 gives every byte one
        return line.decode("latin-1")


def _line_ends(text: str, path: Path | None, findings: list[Finding]) -> str:
    if "\r" in text:
        windows = re.compile("\r+\n")
        for kind, ends, name in (
            ("crlf", list(windows.finditer(text)), "Windows line ends (\\r\\n)"),
            ("lone-cr", list(re.finditer("\r+(?![\r\n])", text)), "lines ended by \\r alone"),
        ):
            if ends:
                line = text.count("\n", 0, ends[0].start()) + 1
                before = "\\r\\n" if kind == "crlf" else "\\r"
                message = f"{len(ends):,} {name}"
                findings.append(
                    finding(kind, "warning", message, path, line, repaired=True, before=before, after="\\n")
                )
        text = windows.sub("\n", text).replace("\r", "\n")
    if text and not text.endswith("\n"):
        message = "the last line has no newline"
        line = text.count("\n") + 1
        findings.append(
            finding("no-final-newline", "note", message, path, line, repairable=True, before="", after="\\n")
        )
    return text


def specials_in(text: str) -> str:
    """The pad and mask symbols that stand in `text`, each once."""
    return "".join(sorted(set(_SPECIAL.findall(text))))


def controls_in(text: str) -> list[str]:
    """The control characters in `text`, each once, as their code points."""
    return [f"U+{ord(character):04X}" for character in sorted(set(_CONTROL.findall(text)))]


def without_specials(text: str) -> str:
    """`text` without special symbols; control characters become spaces. Tabs and line ends stay."""
    return _CONTROL.sub(" ", _SPECIAL.sub("", text))


def special_finding(path: Path | None, number: int, symbols: str, before: str, after: str) -> Finding:
    """The finding for a line that holds `symbols` of the model's own."""
    message = f"holds {' and '.join(symbols)}, which {'is' if len(symbols) == 1 else 'are'} the model's own"
    return finding("special-symbol", "error", message, path, number, repairable=True, before=before, after=after)
