"""Questions in parts: the same answers for any number of processes, and what was answered is not asked again."""

from types import SimpleNamespace
from typing import Any

import pytest

from loci.answering import parts
from loci.answering.answer import UNSURE, Alternative, Answer
from loci.answering.parts import InParts
from loci.text.questions import Questions
from loci.training.distributed import Group


def model(hash="weights") -> Any:
    """Stands for a loaded model: nothing but its hash is asked for."""
    return SimpleNamespace(hash=hash)


class Counting:
    """Answers with the question's own text, and says how often it was asked."""

    confidence = 0.5

    def __init__(self, stop_after=None):
        self.asked, self.stop_after = [], stop_after

    def answer(self, questions, *, n=1, candidates=None):
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked.append([row.text for row in questions])
        return [
            Answer(
                row.text, "s", None, row.text[::-1], 0.25, 0.1 + 0.2, False, 0.5, (Alternative("b", 0.1, 0.3),),
                silence=UNSURE, declined=len(row.text) % 2 == 0, reason_probabilities={UNSURE: 0.5},
            )
            for row in questions
        ]  # fmt: skip


class Together(Group):
    """Processes that run one after the other: the last one has everybody's answers."""

    def __init__(self, rank, world, told):
        super().__init__(rank, world)
        self.told = told

    def gathered(self, value):
        self.told.append(value)
        return self.told if len(self.told) == self.world else [{}] * self.world

    def wait(self):
        pass


@pytest.fixture
def questions(monkeypatch):
    monkeypatch.setattr(parts, "PART", 4)
    return Questions.from_pairs([(f"Where was {'x' * n} born?", None) for n in range(1, 19)])


def test_the_answers_are_those_of_one_process(questions):
    whole = Counting().answer(questions)
    assert InParts(Counting(), model()).answer(questions) == whole
    told = []
    for rank in range(3):
        asker = InParts(Counting(), model(), group=Together(rank, 3, told))
        if rank < 2:
            with pytest.raises(KeyError):  # the others are not there yet
                asker.answer(questions)
        else:
            assert asker.answer(questions) == whole


def test_finished_parts_are_not_asked_again(questions, tmp_path):
    folder, heard = tmp_path / "parts", []
    with pytest.raises(KeyboardInterrupt), InParts(Counting(stop_after=3), model(), folder=folder) as asker:
        asker.answer(questions)
    assert len(list(folder.iterdir())) == 3
    next(folder.iterdir()).write_text("{damaged", encoding="utf-8")
    again = Counting()
    with InParts(again, model(), folder=folder, told=lambda done, total: heard.append((done, total))) as asker:
        assert asker.answer(questions) == Counting().answer(questions)
    assert len(again.asked) == 3  # the damaged one and the two that were missing
    assert heard == [(4, 18), (8, 18), (12, 18), (16, 18), (18, 18)]
    assert not folder.exists()


def test_parts_of_other_weights_or_questions_are_not_used(questions, tmp_path):
    folder = tmp_path / "parts"
    InParts(Counting(), model(), folder=folder).answer(questions)
    for other, asked, n in ((model("others"), questions, 1), (model(), questions[1:], 1), (model(), questions, 2)):
        counting = Counting()
        InParts(counting, other, folder=folder).answer(asked, n=n)
        assert len(counting.asked) == 5
    counting = Counting()
    InParts(counting, model(), folder=folder).answer(questions)
    assert not counting.asked
