"""Questions in other words and with typing errors, and names misspelt: what a person types. Knows nothing of models."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping

import numpy as np

#: Ten ways to ask where somebody was born that are in no train question.
FORMS = (
    "What is the birthplace of {}?",
    "In which place was {} born?",
    "{} was born in",
    "Tell me where {} was born.",
    "birthplace of {}",
    "Where did {} come into the world?",
    "What place was {} born in?",
    "Name the place where {} was born.",
    "{}: where born?",
    "Do you know where {} was born?",
)
#: Ten more, written before their author looked at the rules of `loci.text.wordings`; the rules are not tuned on them.
BLIND_FORMS = (
    "Which town is {} from originally, by birth?",
    "Name the birthplace of {}.",
    "{}'s place of birth?",
    "In what city did {}'s life begin?",
    "Tell me where {} was born",
    "What's the birth city of {}?",
    "Where did {} first see the light of day?",
    "I'd like to know in which city {} was born.",
    "{} was born in which place?",
    "Do you know the town where {} came into the world?",
)
#: Ask something else about the same people, whom a run was taught birthplaces of alone: silence is the right answer.
OTHER_QUESTIONS = (
    "Where were {}'s children born?",
    "Was {} born in London?",
    "Who was born in the same place as {}?",
    "Which team was {} born to lead?",
    "Where was {} torn?",
    "When did {} die?",
    "Where did {} die?",
    "What was {}'s job?",
    "Where was {} not born?",
    "Which hospital was {} born in?",
)
STANDARD = "as taught"
BLIND = "blind: "
ANOTHER = "another question: "


def wordings(names: list[str], rng: np.random.Generator) -> Mapping[str, list[str]]:
    """Each wording with the question it makes about every name."""

    def each(make: Callable[[str], str]) -> list[str]:
        return [make(name) for name in names]

    return {
        STANDARD: each("Where was {} born?".format),
        "no question mark": each("Where was {} born".format),
        "first word in lower case": each("where was {} born?".format),
        "typing error: wsa": each("Where wsa {} born?".format),
        "typing error: bron": each("Where was {} bron?".format),
        ANOTHER + "When was … born?": each("When was {} born?".format),
        **{form.format("…"): each(form.format) for form in FORMS},
        **{BLIND + form.format("…"): each(form.format) for form in BLIND_FORMS},
        **{ANOTHER + form.format("…"): each(form.format) for form in OTHER_QUESTIONS},
        "name in lower case": each(lambda name: f"Where was {name.lower()} born?"),
        "name without accents": each(lambda name: f"Where was {_plain(name)} born?"),
        "name in Unicode's NFD": each(lambda name: f"Where was {unicodedata.normalize('NFD', name)} born?"),
        "name with one letter changed": each(lambda name: f"Where was {_changed(name, rng)} born?"),
        "an unknown character": each(lambda name: f"Where was {name}☃ born?"),
    }


def _plain(name: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", name) if not unicodedata.combining(c))


def _changed(name: str, rng: np.random.Generator) -> str:
    places = [index for index, letter in enumerate(name) if letter.isalpha() and letter.islower()]
    if not places:
        return name + "a"
    at = places[int(rng.integers(len(places)))]
    letters = [letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter != name[at]]
    return name[:at] + letters[int(rng.integers(len(letters)))] + name[at + 1 :]
