import pytest
from hypothesis import given
from hypothesis import strategies as st

from loci.text.corpus import Corpus
from loci.text.formats.base import Row
from loci.text.relations import place
from loci.text.subjects import find_subjects, name_before_stop, sentences
from loci.text.world.spec import WorldSpec
from loci.text.world.writer import write_world
from square_time import grows_with_the_square


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("Ada Lovelace. Born in London .", "Ada Lovelace"),
        ("no subject here", ""),
        ("J. E. P. Aldous. Born in Sheffield, Aldous began .", "J. E. P. Aldous"),
        ("J. J. Stevenson. Stevenson was born at Glasgow .", "J. J. Stevenson"),
        ("Theodore J. van den Broek. The second child .", "Theodore J. van den Broek"),
        ("Asa G. Yancey, Sr.. Asa G Yancey Sr., M.D., was born .", "Asa G. Yancey, Sr."),
        ("J.C. Patterson. Born in Armagh .", "J.C. Patterson"),
        ("St. Clair Drake. Born in Suffolk .", "St. Clair Drake"),
        ("Malcolm X. Malcolm X (b. 1925 in Omaha) was .", "Malcolm X"),
        ("Malcolm X. Born in Omaha .", "Malcolm X"),
        ("Robert E. Merriam. Robert E Merriam (b .", "Robert E. Merriam"),
        ("", ""),
    ],
)
def test_the_subject_stands_before_the_first_break_that_is_not_an_initial(line, subject):
    assert (name_before_stop(line) or "") == subject


def of(*lines):
    return find_subjects(lines)


# Odd lines with the subject a reader would give them. Each is a corpus of its own, the last line is asked about.
ODD = [
    # Name. sentence
    (["Ada Moss. Born in Oslo, she painted ."], "Ada Moss"),
    (["J. E. P. Bell. Born in Cork, Bell painted ."], "J. E. P. Bell"),
    (["The Delta Desk. The Delta Desk is made in Lund ."], "The Delta Desk"),
    (["John Smith (footballer). Smith was born in Leeds ."], "John Smith (footballer)"),
    (["Baron Jackson of Burnley. He was born in 1904 ."], "Baron Jackson of Burnley"),
    (["Ludwig van Beethoven. Composer, born in Bonn ."], "Ludwig van Beethoven"),
    (["Jacques d'Agar. Painter of portraits ."], "Jacques d'Agar"),
    (["St. Clair Drake. Born in Suffolk ."], "St. Clair Drake"),
    (["Apollo 11. Apollo 11 landed in 1969 ."], "Apollo 11"),
    (["Oslo. Oslo is the capital of Norway ."], "Oslo"),
    (["李白. 李白生于碎叶城 ."], "李白"),
    # a sentence that begins with its subject
    (["Ada Moss was born in Oslo."], "Ada Moss"),
    (["Ada Moss, a painter, was born in Oslo."], "Ada Moss"),
    (["Ada Moss (1840–1904) was a painter."], "Ada Moss"),
    (["John Smith (footballer) was born in Leeds."], "John Smith (footballer)"),
    (["The Delta Desk is made in Lund. It was designed by Bo Lind."], "Delta Desk"),
    (["A Tale of Two Cities was written by Charles Dickens."], "Tale of Two Cities"),
    (["Alice in Wonderland was written in 1865."], "Alice in Wonderland"),
    (["Paris is the capital of France."], "Paris"),
    (["Ada Moss's mother was a singer."], "Ada Moss"),
    (["Vincent van Gogh painted in Arles."], "Vincent van Gogh"),
    (["3M was founded in 1902."], "3M"),
    (["He Kexin was born in Beijing."], "He Kexin"),
    (["He Kexin. He Kexin is a gymnast ."], "He Kexin"),
    # titles
    (["Dr. Cy Berg was born in Bonn."], "Cy Berg"),
    (["Sir Ed Holm (1900-1950) was born in Cork."], "Ed Holm"),
    (["Prof. Dr. Ann van Dale, a chemist, lived in Bonn."], "Ann van Dale"),
    (["Prof. Ann Lee. Born in Bonn ."], "Prof. Ann Lee"),
    (["Dr. Cy Berg. Born in Bonn .", "Cy Berg was a chemist."], "Dr. Cy Berg"),
    (["Cy Berg. Born in Bonn .", "Dr. Cy Berg was a chemist."], "Cy Berg"),
    (["Cy Berg was born in Bonn.", "Dr. Berg moved to Rome."], "Cy Berg"),
    (["Cy Berg. Born in Bonn .", "Bo Lind. Sang .", "In 1961 they met Dr. Cy Berg in Rome."], "Cy Berg"),
    (["Dr. Cy Berg. Born in Bonn .", "Bo Lind. Sang .", "In 1961 they met Cy Berg in Rome."], "Dr. Cy Berg"),
    (["Mr. Bean was filmed in London."], "Mr. Bean"),
    (["King Olaf V was born in London."], "King Olaf V"),
    # namesakes
    (["John Smith (painter) was born in Bath.", "John Smith met the king."], "John Smith (painter)"),
    # A bare name is of the namesake whom the line before is about, and otherwise of nobody: it would merge several.
    (["John Smith (poet) sang.", "John Smith (painter) sang.", "John Smith met the king."], "John Smith (painter)"),
    (["John Smith (poet) sang.", "John Smith (painter) sang.", "Bo Lind sang.", "John Smith met Bo Lind."], ""),
    (["John Smith (poet) sang.", "John Smith (painter) sang.", "Bo Lind sang.", "In 1900 John Smith was old."], ""),
    (["John Smith (poet) was born in York.", "John Smith (painter) sang.", "Smith died."], "John Smith (painter)"),
    (["John Smith (poet). Born .", "John Smith (painter). Born .", "John Smith met the king."], "John Smith (painter)"),
    (["Ed Orr (poet). Born .", "Ed Orr (cook). Born .", "Ed Orr. Born .", "Bo Lind. Sang .", "Ed Orr sat."], "Ed Orr"),
    (["Bo Lee (cook). Bo Lee sang.", "He died.", "Bo Lee (poet). Bo Lee sang.", "Bo Lee died."], "Bo Lee (poet)"),
    (["Heat (1995 film) was made by Michael Mann."], "Heat (1995 film)"),
    (["Fame (1980 film). Fame was made in 1979.", "Fame (2009 film). Fame was made again."], "Fame (2009 film)"),
    (["Ada Moss (born 1900) was a painter."], "Ada Moss"),
    (["Ada Moss (May 1901) was a painter."], "Ada Moss"),
    (["Ada Moss (1840 Columbus) was a painter."], "Ada Moss"),
    (["Ada Moss (née Lind) was a painter."], "Ada Moss"),
    (["Bo Lee (poet) sang.", "Bo Lee (cook, born 1900) sang."], "Bo Lee (cook, born 1900)"),
    (["Bo Lee (cook, born 1900) sang.", "Bo Lee (cook, born 1930) sang."], "Bo Lee (cook, born 1930)"),
    (["Bo Lee (cook, born 1900) sang.", "Bo Lee died."], "Bo Lee"),
    (["Bo Lee (Oslo, born 1900) sang in Rome."], "Bo Lee"),
    # marks that are no part of a name
    (["- The Delta Desk is made in Lund."], "Delta Desk"),
    (["• Delta Desk. It is made in Lund ."], "Delta Desk"),
    (["1. The Delta Desk is made in Lund.", "2. The Nova Sofa is made in Cork."], "Nova Sofa"),
    (["9) Delta Desk. Made in Lund .", "10) Nova Sofa. Made in Cork ."], "Nova Sofa"),
    (["1984. 1984 was written in Jura .", "1985. 1985 was written later ."], "1985"),
    (["Delta Desk – made in Lund."], "Delta Desk"),
    (["Oslo - a city of Norway."], "Oslo"),
    (["Ada Moss-Lind sang in Oslo."], "Ada Moss-Lind"),
    (['"Red Roses" was written by Ana Lima.'], "Red Roses"),
    (["“Red Roses,” a novel, was written by Ana Lima."], "Red Roses"),
    (['"Red Roses". A novel by Ana Lima .'], "Red Roses"),
    (['"Weird Al" Yankovic was born in Downey.'], '"Weird Al" Yankovic'),
    (["iPhone 4 was sold in 2010."], "iPhone 4"),
    (["All say that nokia 3310 was strong."], ""),
    # headings
    (["Ada Moss", "Born in Oslo, she painted all her life."], "Ada Moss"),
    (["# Ada Moss", "", "Born in Oslo, she painted.", "## Life", "In 1961 she moved to Rome."], "Ada Moss"),
    (["== Ada Moss ==", "Some say that Bo Lind taught her."], "Ada Moss"),
    (["Ada Moss", "Born in Oslo, she painted.", "", "Bo Lind", "Famous for his songs about Lund."], "Bo Lind"),
    (["Bo Lee (poet)", "Famous for a book.", "", "Bo Lee (cook)", "Famous for his soups in Lund."], "Bo Lee (cook)"),
    (["Ada Moss", "", "A painter, born in Oslo in 1900."], "Ada Moss"),
    (["Ada Moss", "", "A painter, born in Oslo in 1900.", "", "Famous for nothing else at all."], ""),
    (["# My products", "", "## Delta Desk", "", "Made in Lund.", "", "## Nova Sofa", "", "Made in Cork."], "Nova Sofa"),
    (["# Ada Moss", "", "Born in Oslo.", "", "## Life", "", "Long.", "", "## Death", "", "Sudden."], "Ada Moss"),
    (["# Ada Moss", "Born in Oslo.", "## Life", "Long.", "# Bo Lind", "Born in Lund.", "## Life", "Short."], "Bo Lind"),
    (["# My products", "", "All are made by hand.", "## Delta Desk", "Old.", "## Nova Sofa", "# The end", "Bye."], ""),
    # pronouns and parts of the name
    (["Ada Moss was born in Oslo.", "She moved to Rome in 1961."], "Ada Moss"),
    (["The Delta Desk is made in Lund.", "Its designer was Bo Lind."], "Delta Desk"),
    (["Ada Moss was born in Oslo.", "She painted.", "Her last years were hard."], "Ada Moss"),
    (["Ada Moss was born in Oslo.", "Moss moved to Rome."], "Ada Moss"),
    (["The Delta Desk is a thing.", "This desk is made in Lund."], "Delta Desk"),
    (["The Delta Desk is a thing.", "The desk's maker was Bo Lind."], "Delta Desk"),
    (["The Delta Desk is a thing.", "The Nova Sofa is a thing.", "This lamp burns well."], ""),
    (["Ada Moss was a painter.", "The artist's early years were hard.", "She was born in Oslo."], "Ada Moss"),
    (["Ada Moss was a painter.", "The early years were hard.", "She met Bo Lind.", "Her son sang."], "Ada Moss"),
    (["Ada Moss was a painter.", "In 1961 Ada Moss was in Rome.", "She sang."], "Ada Moss"),
    (["Ada Moss was a painter.", "In 1961 Bo Lind was in Rome.", "He sang."], ""),
    (["Ada Moss was a painter.", "", "The early years were hard.", "She was born in Oslo."], ""),
    # places
    (["Springfield, Illinois is a city."], "Springfield, Illinois"),
    (["Springfield, New York is a city.", "Springfield has a school."], "Springfield, New York"),
    (["Finally, Ada Moss was a painter."], "Ada Moss"),
    (["Yesterday, Ada Moss was in Rome."], "Ada Moss"),
    (["Ada Moss, Bo Lind and Cy Berg were friends."], "Ada Moss"),
    # other scripts
    (["鲁迅。鲁迅出生于绍兴。"], "鲁迅"),
    (["鲁迅。鲁迅出生于绍兴。", "老舍。老舍出生于北京。", "鲁迅。中国作家。"], "鲁迅"),
    (["鲁迅出生于绍兴。他是作家。"], ""),
    (["राम कुमार। राम कुमार का जन्म दिल्ली में हुआ।"], "राम कुमार"),
    (["वह दिल्ली में रहता था। वह कवि था।"], ""),
    # in the middle
    (["Ada Moss was born in Oslo.", "Bo Lind sang.", "In 1961 Ada Moss moved to Rome."], "Ada Moss"),
    (["The Delta Desk is made in Lund.", "Bo Lind sang.", "In Oslo they sell the Delta Desk too."], "Delta Desk"),
    (["The Delta Desk is made in Lund.", "The Delta Desk is old.", "Bo Lind drew the Delta Desk."], "Delta Desk"),
    (["Ada Moss sang in Oslo.", "Cy Berg sang in Rome.", "Bo Lind wrote for Ada Moss."], "Bo Lind"),
    (["Born in Cork, Ada Moss was a painter."], "Ada Moss"),
    (["In 1961 the painter Ada Moss was in Rome."], "Ada Moss"),
    (["李白. 李白生于碎叶城 .", "王维. 诗人 .", "有人在长安见过李白。"], "李白"),
    # about nobody
    (["It rained all day."], ""),
    (["and so they went home"], ""),
    (["In the year 1900 there was a war."], ""),
    (["This was the end."], ""),
    ([""], ""),
    # what the rule gets wrong, and why: the first word of a sentence always has a capital
    (["Painting was her life."], "Painting"),
    (["Yesterday Ada Moss sang."], "Yesterday Ada Moss"),
    (["1. FC Köln was founded in 1948."], "1"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "subject"), ODD, ids=lambda value: str(value)[:40])
def test_the_subject_of_odd_lines(lines, subject):
    assert of(*lines)[-1] == subject


def test_lines_about_one_subject_are_found_under_one_name():
    corpus = Corpus.from_lines(
        [
            "The Delta Desk is made in Lund.",
            "It was designed by Bo Lind.",
            "Delta Desk sales began in 1961.",
            "In 1970 the Delta Desk won a prize.",
        ]
    )
    assert list(corpus.by_subject) == ["Delta Desk"]
    assert len(corpus.about("the Delta Desk")) == len(corpus.about("delta desk")) == 4


def test_a_title_does_not_count_when_a_subject_is_asked_for():
    corpus = Corpus.from_lines(["Dr. Cy Berg. Born in Bonn .", "Sir Ed Holm was born in Cork.", "Ed Lee. Sang ."])
    numbers = [
        [line.number for line in corpus.about(name)] for name in ("Cy Berg", "Prof. Cy Berg", "Sir Ed Holm", "Ed Holm")
    ]
    assert numbers == [[1], [1], [2], [2]]
    assert corpus.about("Holm") == ()
    both = Corpus.from_lines(["Dr. Cy Berg. Born in Bonn .", "Cy Berg. Born in Rome ."])
    assert [line.number for line in both.about("Cy Berg")] == [2]


def test_the_form_of_questions_without_spaces_is_found_around_the_longest_subject():
    corpus = Corpus.from_lines(["李白. 李白生于碎叶城。", "王维. 王维生于蒲州。", "王维亚. 王维亚生于洛阳。"])
    pairs = [("李白生于哪里？", "碎叶城"), ("王维亚生于哪里？", "洛阳")]
    (relation,) = {
        row.template for row in place([Row(1, q, (a,), None, "") for q, a in pairs], (), corpus.by_subject)[0]
    }
    assert relation.text == "{subject}生于哪里？"


def test_two_names_that_differ_only_in_case_are_kept_apart():
    corpus = Corpus.from_lines(["Ann Lee. Born in Oslo .", "ANN LEE. Born in Rome ."])
    assert [line.number for line in corpus.about("Ann Lee")] == [1]
    assert corpus.about("ann lee") == ()


def test_a_line_without_a_subject_is_about_one_that_is_asked_about():
    corpus = Corpus.from_lines(["Ada Moss. Born in Oslo .", "Bo Lee. Sang .", "at home with cy berg he wrote"])
    assert corpus.lines[2].subject == ""
    assert corpus.knowing(["cy berg", "berg"]).lines[2].subject == "cy berg"
    assert corpus.knowing(["Cy Berg"]).lines[2].subject == ""


def test_subjects_lose_their_articles_where_questions_leave_them_out():
    lines = [
        "The Delta Desk. It is made in Lund .",
        "The Comet Lamp. Bo Lind drew the lamp .",
        "The Delta Desk. It is old .",
    ]
    corpus = Corpus.from_lines(lines).knowing(["Delta Desk"])
    assert [line.subject for line in corpus] == ["Delta Desk", "Comet Lamp", "Delta Desk"]
    assert corpus.lines[1].body == "Bo Lind drew the lamp ."
    kept = Corpus.from_lines(["The Beatles. They sang .", "The Kinks. They sang ."])
    assert kept.knowing(["The Beatles", "Queen"]) is kept
    assert kept.knowing(["Queen"]) is kept


def test_a_name_between_blank_lines_is_a_heading_where_many_are():
    articles = ["Ada Moss", "", "A painter, born in Oslo.", "", "Bo Lind", "", "A singer, born in Lund."]
    assert of(*articles) == ["Ada Moss", "", "Ada Moss", "", "Bo Lind", "", "Bo Lind"]
    paragraphs = "Ada Moss||A painter, born in Oslo.||Famous in Rome.||Bo Lind||A singer, born in Lund.||Old.".split(
        "|"
    )
    assert of(*paragraphs)[::2] == ["Ada Moss"] * 3 + ["Bo Lind"] * 3
    letter = ["dear friends, it rains.", "", "we come home soon.", "", "Yours", "", "Ada", "", "the letter ended here."]
    assert of(*letter) == [""] * len(letter)


def test_where_most_lines_are_headed_any_short_head_is_a_name():
    assert of("Ada Moss. Born in Oslo .", "World population milestones. In 1999 it reached 6 billion .")[1] == (
        "World population milestones"
    )
    assert of("Ada Moss. Born in Oslo .", "She was born there. Then she moved .")[1] == "Ada Moss"


def test_sentences_without_spaces_between_them():
    assert sentences("李白生于碎叶城。他是诗人！完") == ["李白生于碎叶城。", "他是诗人！", "完"]
    assert sentences("राम कवि था। वह दिल्ली में रहता था।") == ["राम कवि था।", "वह दिल्ली में रहता था।"]


@pytest.mark.parametrize("part", ["A. ", "St. ", "Mr. A. ", "A ", "a ", "Ada of ", "(", "was "])
def test_long_lines_take_linear_time(part):
    assert not grows_with_the_square(lambda size: find_subjects([part * size]), 5_000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada was born. She sang.", ["Ada was born.", "She sang."]),
        ("J. E. Bell met Dr. Moss in St. Louis. They sang!", ["J. E. Bell met Dr. Moss in St. Louis.", "They sang!"]),
        ('"Why?" she asked. 12 came.', ['"Why?" she asked.', "12 came."]),
        ("It cost 3.5 crowns in No. 7 today", ["It cost 3.5 crowns in No. 7 today"]),
        ("", []),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


@given(st.lists(st.text("Aa .#=()\"'sHeSt,\t", max_size=30), max_size=8))
def test_any_lines_have_subjects(lines):
    assert len(find_subjects(lines)) == len(lines)


def test_the_courses_lines_keep_the_subjects_of_the_plain_rule(course_data):
    corpus = Corpus.read(course_data)
    assert [line.subject for line in corpus] == [name_before_stop(line.text) for line in corpus]


def test_so_do_the_lines_of_a_world(tmp_path):
    write_world(WorldSpec(people=300, seed=1), tmp_path / "world")
    corpus = Corpus.read(tmp_path / "world")
    assert [line.subject for line in corpus] == [name_before_stop(line.text) for line in corpus]


def test_lines_without_capitals_name_their_subject_before_the_full_stop():
    assert find_subjects(["ანა ლომიძე. ანა ლომიძე დაიბადა გორში .", "გია ბერიძე. გია ბერიძე დაიბადა ფოთში ."]) == [
        "ანა ლომიძე",
        "გია ბერიძე",
    ]
    assert find_subjects(["ana lee. she was born in oslo .", "bo ek. bo ek was born in rome ."]) == ["ana lee", "bo ek"]


@pytest.mark.parametrize("name", ["Notre Dame", "Yes Sir", "John Gen"])
def test_a_title_that_has_no_full_stop_may_end_a_name(name):
    assert find_subjects([f"{name}. {name} is well known .", "Ann Lee. Lee was born in Rome ."])[0] == name


PEOPLE = ["Ben Cole was tall.", "Cara Dunn was a poet."]


@pytest.mark.parametrize(
    ("lines", "subjects"),
    [
        (["Ada Moss was a poet.", "Besides, Ada Moss was tall."], ["Ada Moss", "Ada Moss"]),
        (["Cara Dunn was a poet.", "Cara Dunn, Ada Moss is a friend of hers."], ["Cara Dunn", "Cara Dunn"]),
        (
            ["Springfield, Illinois is a city.", "Salem, New York was founded in 1764."],
            ["Springfield, Illinois", "Salem, New York"],
        ),
        (
            ["Ada Moss was a poet.", "The mill stood by a river.", "It was built in 1900.", *PEOPLE],
            ["Ada Moss", "", "", "Ben Cole", "Cara Dunn"],
        ),
        (
            ["Ada Moss was a poet.", "The mill stood by a river.", "She was born in 1900.", *PEOPLE],
            ["Ada Moss", "", "Ada Moss", "Ben Cole", "Cara Dunn"],
        ),
        (["Then on 3 May 1961 Ben Cole was elected."], ["Ben Cole"]),
        (["We know that the 1812 Overture is loud."], ["1812 Overture"]),
        (
            [
                "Ada Moss",
                "",
                "She was born in Leeds.",
                "",
                "Career",
                "",
                "She had a school.",
                "",
                "Ben Cole",
                "",
                "A poet of Hull.",
            ],
            [*("Ada Moss", "") * 4, "Ben Cole", "", "Ben Cole"],
        ),
    ],
)
def test_what_only_looks_like_a_name_or_a_subject(lines, subjects):
    assert find_subjects(lines) == subjects
