"""Reading examples: a train question and the line of the corpus that contains its answer.

What reading is learned from. A model that can memorize its few examples need not learn to read, so an example is
augmented with other names, other answers and other words (`augment`): then only the position in the sentence tells the
answer. New names are put together from those of train people and are nobody else's in the corpus, new answers and words
come from the train answers and the corpus: nobody outside train is ever asked about. Nothing here knows any relation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from loci.text.corpus import Corpus, Line
from loci.text.match import any_stands_in, stands_in
from loci.text.questions import Question, Questions
from loci.text.spans import UNSPACED
from loci.text.subjects import sentences

#: A capitalised word, not the first letter of an abbreviation: what may be swapped for another such word.
_WORD = re.compile(r"(?<![\w.])[^\W\d_a-z][^\W\d_A-Z]{2,}(?!\w)")
_SMALL_WORD = re.compile(r"(?<!\w)[^\W\d_A-Z]{4,}(?!\w)")
_INITIAL = re.compile(r"[^\W\d_a-z]\.")
_UNSPACED_WORD = re.compile(f"[{UNSPACED}]+")
_DRAWS = 20  # for a name that is nobody's; a corpus that has them all leaves train people's own
_SHORT = 2  # name parts of so few letters ("de", "St") mean too much else to be swapped wherever they stand


@dataclass(frozen=True)
class SwapPool:
    """What may be swapped in: names of train people, the relation's train answers, capitalised words of the corpus."""

    subjects: tuple[str, ...]
    answers: tuple[str, ...]
    words: tuple[str, ...]
    small: tuple[str, ...] = ()
    """Longer words of the corpus in lower case."""
    others: frozenset[str] = frozenset()
    """Subjects of the corpus that no train question asks about: a made-up name must not be theirs."""
    fillers: tuple[tuple[str, str], ...] = ()
    """Sentences about train people that do not tell the relation, each behind its subject."""


@dataclass(frozen=True)
class ReadingExample:
    """A question, and a line that holds its answer."""

    question: Question
    line: Line
    answer: str
    """The first accepted answer that stands in the line."""
    pool: SwapPool
    others: tuple[Line, ...] = ()
    """Other lines about the subject, which contain no accepted answer."""


@dataclass(frozen=True)
class Augmented:
    """A reading example as it is read: perhaps about somebody else, born elsewhere."""

    question: str
    subject: str
    text: str
    """What the line says behind `Subject. `."""
    answer: str


@dataclass(frozen=True)
class EntitySwap:
    """How often what is swapped when an example is augmented; all zero leaves it as it stands."""

    subject: float = 0.8
    answer: float = 0.6
    word: float = 0.1
    from_answers: float = 0.7
    """How many of the new answers are other train answers; the rest are other words of the same shape: a reader that
    meets few answers could know them by heart instead of reading."""
    sentences: float = 0.0
    """How often the sentences that do not tell are swapped for such sentences about others, in any order: a reader of
    few lines could know each line, and where its answer stands, by what else it says."""


def find_reading_examples(corpus: Corpus, questions: Questions) -> list[ReadingExample]:
    """Every answered question with each line of its subject that contains the answer; some have nothing to read."""
    words = tuple(sorted({word for line in corpus for word in capitalised(line.body)}))
    small = tuple(sorted({word for line in corpus for word in _SMALL_WORD.findall(line.body) if word.islower()}))
    asked = dict.fromkeys(_spelled(corpus, subject) for subject in questions.subjects)
    others = frozenset(line.subject for line in corpus) - asked.keys()
    told = [list(_telling(corpus, question)) for question in questions.answered]
    answers: dict[str, set[str]] = {}
    for question, lines in zip(questions.answered, told, strict=True):
        spelled = {answer for _, answer in lines if answer}
        answers.setdefault(question.relation, set()).update(spelled or question.answers[:1])
    fillers: dict[str, dict[tuple[str, str], None]] = {}
    for question, lines in zip(questions.answered, told, strict=True):
        own = fillers.setdefault(question.relation, {})
        own.update(dict.fromkeys((line.subject, one) for line, _ in lines for one in _silent(line, question.answers)))
    pools = {
        name: SwapPool(tuple(asked), tuple(sorted(own)), words, small, others, tuple(fillers[name]))
        for name, own in answers.items()
    }
    examples = []
    for question, lines in zip(questions.answered, told, strict=True):
        without = tuple(line for line, answer in lines if not answer)
        pool = pools[question.relation]
        examples += [ReadingExample(question, line, answer, pool, without) for line, answer in lines if answer]
    return examples


def _silent(line: Line, answers: Sequence[str]) -> list[str]:
    """The sentences of a line of several that hold none of the answers."""
    said = sentences(line.body)
    return [one for one in said if not any_stands_in([one], answers)] if len(said) > 1 else []


def _spelled(corpus: Corpus, subject: str) -> str:
    """A subject as its lines spell it: questions may be in lower case."""
    lines = corpus.about(subject)
    return lines[0].subject if lines else subject


def _telling(corpus: Corpus, question: Question) -> Iterator[tuple[Line, str]]:
    """The lines about a question's subject, each with the first accepted answer that stands in it; "" for none."""
    for line in corpus.about(question.subject) if question.subject is not None else ():
        body = line.body
        yield line, next((answer for answer in question.answers if stands_in(body, answer, whole=True)), "")


def capitalised(text: str) -> list[str]:
    """The capitalised words of a text, in its order."""
    return [word for word in _WORD.findall(text) if word[0].isupper()]  # é begins no name, and no range says so


def augment(example: ReadingExample, swaps: EntitySwap, rng: np.random.Generator) -> Augmented:
    """The example with some of its names, answers and words swapped for others."""
    pool, line, answer = example.pool, example.line, example.answer
    new: dict[str, str] = {}
    subject = line.subject
    if rng.random() < swaps.subject:
        subject = _name(pool, rng)
        new |= _renamed(line.subject, subject, answer)
    told_answer = answer
    if rng.random() < swaps.answer:
        other = rng.random() < swaps.from_answers
        told_answer = _drawn(pool.answers, rng) if other else _alike(answer, pool, rng)
        new[answer] = told_answer
    mixed = swaps.sentences > 0 and rng.random() < swaps.sentences
    text = _among_others(example, rng) if mixed else line.body
    for word in dict.fromkeys(capitalised(text)):
        # The first word of a sentence is no name, and the answer's own words stay with the answer.
        if word not in new and word not in answer.split() and not text.startswith(word) and rng.random() < swaps.word:
            new[word] = _drawn(pool.words, rng)
    question = example.question.text
    if subject != line.subject:
        own = example.question.subject or line.subject  # as the question spells it
        question = question.replace(own, subject.lower() if own.islower() else subject)
    return Augmented(question, subject, _swapped(text, new), told_answer)


def _among_others(example: ReadingExample, rng: np.random.Generator) -> str:
    """The line's telling sentences between as many others about others, which then say it of the line's subject."""
    line, pool = example.line, example.pool
    said = sentences(line.body)
    if len(said) < 2 or not pool.fillers:
        return line.body
    telling = [one for one in said if stands_in(one, example.answer)]
    for _ in range(len(said) - len(telling)):
        subject, sentence = pool.fillers[int(rng.integers(len(pool.fillers)))]
        renamed = _renamed(subject, line.subject, example.answer)
        if not stands_in(sentence, example.answer):
            telling.insert(int(rng.integers(len(telling) + 1)), _swapped(sentence, renamed))
    return " ".join(telling)


def _name(pool: SwapPool, rng: np.random.Generator) -> str:
    """A train person's name, or the first names of one with the surname of another, if nobody else bears it."""
    for _ in range(_DRAWS):
        first, last = _drawn(pool.subjects, rng), _drawn(pool.subjects, rng)
        before, space, _ = first.rpartition(" ")
        name = f"{before} {last.rpartition(' ')[2]}" if space else last
        if name not in pool.others:
            return name
    return last


def _renamed(old: str, new: str, answer: str) -> dict[str, str]:
    """The whole name, and its parts wherever they stand alone: "Stephen became" as much as "John Stephen"."""
    renamed = {old: new}
    parts, others = old.split(), new.split()
    for position, part in enumerate(parts):
        if len(part) > _SHORT and part[0].isupper() and part not in answer.split():
            renamed[part] = others[-1] if position == len(parts) - 1 else others[min(position, len(others) - 1)]
    return renamed


def _swapped(text: str, new: Mapping[str, str]) -> str:
    return _whole(new).sub(lambda match: new[match.group()], text) if new else text


def _whole(phrases: Mapping[str, str] | list[str]) -> re.Pattern[str]:
    """Finds the phrases as whole words, the longest first."""
    longest_first = sorted(phrases, key=len, reverse=True)
    return re.compile(rf"(?<![^\W{UNSPACED}])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W{UNSPACED}])")


def _alike(answer: str, pool: SwapPool, rng: np.random.Generator) -> str:
    """Words of the corpus in place of the answer's: names for names, initials for initials, digits for digits, small
    words for small ones.

    In a script without spaces between words, characters of other names and answers.
    """
    words = []
    for word in answer.split(" "):
        if any(character.isdigit() for character in word):
            word = "".join(str(rng.integers(10)) if character.isdigit() else character for character in word)
        elif _INITIAL.fullmatch(word) and pool.words:
            word = f"{_drawn(pool.words, rng)[0]}."
        elif word[:1].isupper() and pool.words:
            word = _drawn(pool.words, rng)
        elif _SMALL_WORD.fullmatch(word) and pool.small:
            word = _drawn(pool.small, rng)
        elif _UNSPACED_WORD.fullmatch(word):
            names = pool.subjects + pool.answers
            word = "".join(_drawn(tuple(_drawn(names, rng)), rng) for _ in word)
        words.append(word)
    return " ".join(words)


def _drawn(pool: tuple[str, ...], rng: np.random.Generator) -> str:
    return pool[int(rng.integers(len(pool)))]
