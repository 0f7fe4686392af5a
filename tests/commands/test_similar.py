"""`./course similar`: a list to look at, of what two share and few others have."""

from commands import app

LOOP = """
found = {}
for record in consumer.poll(timeout_ms=500).values():
    for one in record:
        found.setdefault(one.partition, []).append((one.offset, one.value.decode()))
best = max(found, key=lambda p: len(found[p]))
"""
RENAMED = """
# my own work
seen={}
for batch in reader.poll(timeout_ms=500).values():

    for r in batch:  # each
        seen.setdefault(r.partition, []).append((r.offset, r.value.decode()))
top = max(seen, key=lambda n: len(seen[n]))
"""
OTHER = """
import collections
by_partition = collections.defaultdict(list)
while len(by_partition) < 3:
    polled = consumer.poll(1000)
    if not polled:
        break
    for partition, records in polled.items():
        by_partition[partition.partition] += [r.value for r in records]
"""


def similar(classroom, capsys, *words: str) -> str:
    capsys.readouterr()
    assert app.main(["similar", "90", *words, "--out", str(classroom.folder)]) == 0
    return capsys.readouterr().out


def test_other_names_and_comments_hide_nothing_and_marks_stay(classroom, capsys):
    classroom.hand_in("Ada", "1", text="1", answers={1: "x = 1", 2: LOOP})
    classroom.hand_in("Ben", "2", text="2", answers={1: "y = 2", 2: RENAMED})
    classroom.hand_in("Cem", "3", text="3", answers={1: "z = 3", 2: OTHER})
    before = {file: file.read_bytes() for file in classroom.folder.rglob("*.json")}
    said = similar(classroom, capsys)
    assert said.startswith("100%  Ada [1] and Ben [2]: tasks 2\n1 pair to look at.")
    hidden = similar(classroom, capsys, "--hide-names")
    assert "student 1 and student 2" in hidden
    assert "Ada" not in hidden
    assert {file: file.read_bytes() for file in classroom.folder.rglob("*.json")} == before


def test_three_of_a_small_class_who_share_are_seen(classroom, capsys):
    for name in ("Ada", "Ben", "Cem"):
        classroom.hand_in(name, name, text=name, answers={2: LOOP})
    assert "3 pairs to look at." in similar(classroom, capsys)


def test_given_code_and_own_values_are_nobodys_likeness(classroom, course, capsys):
    from authoring.build import student_notebook

    given = "\n".join(
        cell.source for cell in student_notebook("lab90", course).cells if cell.cell_type == "code"
    )
    for number, topic in enumerate(("tiny-a1", "tiny-b2")):
        mine = f"send({topic!r}, 1)\n{'flush(1)' if number else 'close(now, 2, 3, 4)'}\n"
        classroom.hand_in(
            f"student {number}", str(number), text=topic, answers={2: given + mine},
            parameters={"names": [topic]},
        )  # fmt: skip
    assert "0 pairs" in similar(classroom, capsys, "--least", "0.1")


def test_what_many_wrote_is_the_usual_way(classroom, capsys):
    for number in range(10):
        extra = OTHER if number < 2 else f"total_{number} = {number}"
        answers = {2: LOOP, 3: extra}
        classroom.hand_in(f"s{number}", str(number), text=str(number), answers=answers)
    said = similar(classroom, capsys)
    assert "s0 [0] and s1 [1]: tasks 3" in said
    assert "1 pair to look at" in said


def test_a_broken_answer_breaks_nothing(classroom, capsys):
    classroom.hand_in("Ada", "1", text="1", answers={2: "def broken(:\n  '''"})
    classroom.hand_in("Ben", "2", text="2")
    assert "0 pairs" in similar(classroom, capsys)
