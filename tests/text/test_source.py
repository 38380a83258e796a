import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.errors import LociError
from loci.text.source import Source, controls_in, decode, load, specials_in, without_specials


def kinds(source):
    return [found.kind for found in source.findings]


@pytest.mark.parametrize(
    ("data", "text", "found"),
    [
        (b"a\nb\n", "a\nb\n", []),
        (b"a\nb", "a\nb", ["no-final-newline"]),
        (b"\xef\xbb\xbfa\n", "a\n", ["bom"]),
        (b"a\r\nb\r\n", "a\nb\n", ["crlf"]),
        (b"a\rb\r", "a\nb\n", ["lone-cr"]),
        (b"a\rb\r\nc\n", "a\nb\nc\n", ["crlf", "lone-cr"]),
        (b"a\r\r\n", "a\n", ["crlf"]),
        ("é\n".encode("utf-16"), "é\n", ["encoding"]),
        ("é\n".encode("utf-32"), "é\n", ["encoding"]),
        ("a\né\n".encode("cp1252"), "a\né\n", ["encoding"]),
        (b"", "", []),
    ],
)
def test_bytes_become_text_and_every_repair_is_stated(data, text, found):
    source = decode(data)
    assert source.text == text
    assert kinds(source) == found


def test_a_line_that_is_not_utf8_is_an_error_that_names_line_and_byte():
    source = decode("first\nsecond ü\nthird\nMünchen ✓\n".encode("cp1252", errors="replace"))
    assert [(f.line, f.severity, f.repairable) for f in source.findings] == [(2, "error", True), (4, "error", True)]
    assert "0xfc at column 8" in source.findings[0].message
    assert source.findings[0].before == "second \\xfc"
    assert source.findings[0].after == "second ü"


def test_bytes_without_meaning_in_windows_1252_still_become_text():
    assert decode(b"a\x81\xe9\n").text == "a\x81é\n"


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04rest", b"\x1f\x8b\x08", b"%PDF-1.7", b"a\0b", "a".encode("utf-16-le"), bytes(range(1, 256))]
)
def test_what_is_no_text_is_called_binary(data):
    source = decode(data)
    assert source.text == ""
    assert kinds(source) == ["binary"]
    assert source.findings[0].severity == "error"


def test_a_nul_in_a_text_is_named_with_its_line_and_taken_out():
    source = decode("Ada Moss sang in Oslo.\r\nBo\0 L\0ee was born in Málaga.\n".encode())
    assert source.text == "Ada Moss sang in Oslo.\nBo Lee was born in Málaga.\n"
    (nul,) = (found for found in source.findings if found.kind == "control-character")
    assert (nul.line, nul.severity, nul.message) == (2, "error", "contains 2 NUL bytes")
    assert (nul.before, nul.after) == ("Bo\0 L\0ee was born in Málaga.", "Bo Lee was born in Málaga.")


@pytest.mark.parametrize("rest", [b"\xff\xfe\x80 no UTF-8" * 9, b"\x01\x02 controls" * 9])
def test_a_nul_among_what_is_no_text_either_is_binary(rest):
    assert kinds(decode(b"\0" + rest)) == ["binary"]


def test_a_beginning_of_a_text_may_end_within_a_character():
    assert kinds(decode(("a" * 30 + "\0é").encode()[:-1]))[0] == "control-character"


@given(st.binary())
def test_decoding_never_raises_and_leaves_no_carriage_return(data):
    source = decode(data)
    assert "\r" not in source.text
    source.text.encode()


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\ufeff\0", exclude_categories=["Cs"]))))
def test_lines_survive_any_line_end(lines):
    for end in ("\n", "\r\n"):
        data = "".join(line + end for line in lines).encode()
        if data.startswith((b"PK\x03\x04", b"%PDF-")):
            continue
        assert decode(data).lines() == lines


def test_only_the_newline_ends_a_line():
    assert Source(None, "a\u2028b\x0bc\x85d\n").lines() == ["a\u2028b\x0bc\x85d"]


def test_unusable_paths_are_errors_that_help(tmp_path):
    (tmp_path / "birth_dev.tsv").write_text("x")
    with pytest.raises(LociError, match=r"no such file .*birth_dev\.tsv"):
        load(tmp_path / "birth_dvv.tsv")
    with pytest.raises(LociError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(LociError, match="no folder"):
        load(tmp_path / "nowhere" / "x.tsv")
    with pytest.raises(LociError, match=r"no such file|cannot be read"):
        load("a\0b")
    with pytest.raises(LociError, match="cannot be read"):
        load(tmp_path / ("x" * 300))
    with pytest.raises(LociError, match="not a regular file"):
        load("/dev/null")


def test_specials_and_controls_are_told_and_taken_out():
    assert specials_in("a⁇b□c⁇") == "⁇□"
    assert controls_in("a\tb\x0b\u2028") == ["U+000B", "U+2028"]
    assert without_specials("a⁇b\tc\x0bd□") == "ab\tc d"
    assert controls_in("a\u200bb\u2060\u200c") == ["U+200B", "U+2060"]
    assert without_specials("a\u200bb\u2060c\ufeff\u200cd") == "abc\u200cd"
