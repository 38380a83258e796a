"""A compiled corpus is the corpus read in memory, line by line and subject by subject; it is made anew when needed."""

import hashlib
import json

import numpy as np
import pytest

from loci.data.batches import BatchStream, Source
from loci.data.objectives import make_objective
from loci.errors import LociError
from loci.text import compiled
from loci.text.corpus import Corpus, parse_corpus
from loci.text.diagnosis import diagnose
from loci.text.figures import corpus_figures, mapped_figures
from loci.text.source import load
from loci.text.vocab import Vocab

HEADED = "Ana Lima. Ana Lima was born in Porto.\nRui Paz. Rui Paz was born in Faro .\n\nAna Lima. She died in Évora.\n"
PROSE = "The Delta Desk is made of oak.\nIt was designed by Rui Paz.\nThe Epsilon Lamp is blue.\nNobody knows.\n"
ARTICLES = "The Delta Desk. It is made in Lund .\nThe Comet Lamp. It is blue .\nThe Delta Desk. It is old .\n"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Both ways of reading the same text."""

    def both(text):
        file = tmp_path / "wiki.txt"
        file.write_bytes(text.encode())
        parsed = parse_corpus(load(file))
        plain = Corpus(parsed.path, parsed.lines, parsed.raw, parsed.findings)
        monkeypatch.setattr(compiled, "LARGE", 1)
        return plain, Corpus.read(file)

    return both


@pytest.mark.parametrize(
    "text", [HEADED, HEADED.removesuffix("\n"), PROSE, ARTICLES, "one\n", "the Ana Lima. born\n" + HEADED]
)
def test_it_is_the_corpus_that_is_read_in_memory(read, text):
    plain, mapped = read(text)
    assert isinstance(mapped, compiled.CompiledCorpus)
    assert [*mapped] == [*plain.lines]
    assert [*mapped.lines[1:3]] == [*plain.lines[1:3]]
    assert mapped.raw == plain.raw
    assert mapped.hash == plain.hash
    assert mapped.vocab == plain.vocab
    assert [*mapped.filled] == [*plain.filled]
    assert dict(mapped.by_subject) == dict(plain.by_subject)
    assert [*mapped.by_subject] == [*plain.by_subject]
    for name in [*plain.by_subject, "ana lima", "The Rui Paz", "nobody", ""]:
        assert mapped.about(name) == plain.about(name)
        assert (name in mapped.by_subject) == (name in plain.by_subject)
    assert mapped.tells("Ana Lima", ["Porto"]) == plain.tells("Ana Lima", ["Porto"])
    other = plain.vocab.with_characters("§?")
    assert [line.ids(other).tolist() for line in mapped] == [other.encode(line.text).tolist() for line in plain]
    assert [line.length for line in mapped] == [line.length for line in plain]
    assert mapped_figures(mapped) == corpus_figures(plain.lines, plain.raw)
    assert dict(mapped.repeated) == dict(plain.repeated)
    for name in ("Nobody", "Delta Desk"):
        known, knowing = plain.knowing([name]), mapped.knowing([name])
        assert [*knowing] == [*known.lines]
        assert knowing.about(name) == known.about(name)
        assert dict(knowing.by_subject) == dict(known.by_subject)


def test_it_is_compiled_again_when_the_text_or_an_array_is_another(read, tmp_path):
    plain, _ = read(HEADED)
    folder = tmp_path / "wiki.txt.compiled"
    made = (folder / "manifest.json").stat().st_mtime_ns
    read(HEADED)
    assert (folder / "manifest.json").stat().st_mtime_ns == made
    (folder / "offsets.npy").write_bytes(b"damaged")
    assert [*read(HEADED)[1]] == [*plain.lines]
    assert [line.text for line in read(PROSE)[1]] == PROSE.splitlines()


def test_an_array_whose_header_is_no_python_is_made_again_also_where_the_manifest_vouches_for_it(read, tmp_path):
    plain, _ = read(HEADED)
    folder = tmp_path / "wiki.txt.compiled"
    array, manifest = folder / "offsets.npy", folder / "manifest.json"
    array.write_bytes(array.read_bytes().replace(b", }  ", b", ((("))
    said = json.loads(manifest.read_text())
    said["sha256"][array.name] = hashlib.sha256(array.read_bytes()).hexdigest()
    manifest.write_text(json.dumps(said))
    assert [*read(HEADED)[1]] == [*plain.lines]


def test_what_must_be_put_right_is_read_in_memory(read):
    for text in (HEADED.replace("\n", "\r\n"), "\ufeff" + HEADED, HEADED.replace(". ", ".\t")):
        plain, other = read(text)
        assert type(other) is Corpus
        assert other == plain
    with pytest.raises(LociError, match="⁇"):
        read(HEADED.replace("Porto", "⁇"))


def test_a_character_that_the_vocabulary_lacks_is_named(read):
    _, mapped = read(HEADED)
    with pytest.raises(LociError, match="É"):
        mapped.lines[3].ids(Vocab.from_text(HEADED.replace("É", "E")))


@pytest.mark.parametrize("objective", ["corruption-2024", "corruption-2021", "language-model", "memorize"])
@pytest.mark.parametrize(("pool", "shuffle"), [(1, False), (1, True), (3, True)])
def test_processes_make_their_own_rows_of_the_same_batches(read, objective, pool, shuffle):
    """Whoever makes them, from memory or mapped: all rows of a step together are those of one process."""
    plain, mapped = read("".join(f"Ana {n}. {'born in Porto ' * (n % 7 + 1)}.\n" for n in range(11)))
    vocab = plain.vocab

    def stream(corpus, **more):
        source = Source(corpus.filled, make_objective(objective, vocab, 64, {}))
        return BatchStream([source], batch_size=5, seed=(1, 2), pool=pool, shuffle=shuffle, **more)

    def rows(batch):
        return [row[row != -1].tolist() for row in np.where(batch.y == -100, -1, batch.y)]

    whole, three = stream(plain), [stream(mapped, rank=rank, world=3) for rank in range(3)]
    for step in (0, 1, 2, 7):
        expected = rows(whole.batch(step))
        works = [one.parts(step) for one in three]
        found = [[row for part in work.parts for row in rows(part) if row] for work in works]
        assert [found[place % 3][place // 3] for place in range(len(expected))] == expected
        assert {work.rows for work in works} == {len(expected)}
        assert sum(work.targets for work in works) == whole.parts(step).targets


def test_a_large_corpus_is_checked_line_by_line_with_the_same_findings(read, tmp_path, monkeypatch):
    odd = HEADED + "Rui Paz. Rui Paz was born in Faro .\n  Eva Reis. Is it ?? so.\nTé Ó. a\u0085b\n"
    read(odd)
    (tmp_path / "birth_train.tsv").write_text("Where was Ana Lima born?\tPorto\nWhere was X born?\tFaro\n")
    streamed = diagnose(tmp_path, clean=False)
    monkeypatch.setattr(compiled, "LARGE", 1 << 30)
    whole = diagnose(tmp_path)
    assert streamed.findings == whole.findings
    assert streamed.as_dict() == whole.as_dict()
    assert {"duplicate", "typed-mask", "empty-line", "control-character"} <= {found.kind for found in whole.findings}
