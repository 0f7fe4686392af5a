"""The tiny lab: three tasks, no cluster, every file that a lab has."""

import json
from pathlib import Path

from grading.define.place import Place
from grading.judge.checks import Result
from grading.judge.outcome import Outcome
from grading.keep.evidence import Evidence

NAME = "lab90_tiny"
MASTER = """\
# %% [markdown]
# # Lab 90 Tiny
#
# Three tasks.

# %% tags=["parameters"]
count = 3

# %%
import os
from pathlib import Path

from grading.define import definition, seed

lab = definition.load("lab90_tiny", Path(ROOT))
p = seed.parameters(lab.make, os.environ["KAFKALAB_LAB_SEED"])

# %% [markdown]
# ## Task 1: double the number

# %% tags=["task-1"]
# Task 1
# BEGIN SOLUTION
double = 2 * p.number
# END SOLUTION

# %% tags=["check-1"]
print("the check cell of task 1 ran")

# %% tags=["demo"]
shown = os.environ.get("KAFKALAB_CLUSTER", "no cluster")
print("the demo cell ran with", shown)

# %% [markdown]
# ## Task 2: write a function

# %% tags=["task-2"]
# Task 2
def reverse(text: str) -> str:
    # BEGIN SOLUTION
    return text[::-1]
    # END SOLUTION

# %%
reversed_words = [reverse(word) for word in ["ab", "cde"] * count]

# %% tags=["check-2"]
print("the check cell of task 2 ran")

# %% [markdown]
# ## Task 3: say the name

# %% tags=["task-3"]
# Task 3
# BEGIN SOLUTION
said = p.name
# END SOLUTION

# %% tags=["check-3"]
print("the check cell of task 3 ran")

# %%
done = True
"""
TOML = """\
title = "Tiny"
version = 1
profile = "none"
[parameters]
count = 2
[limits]
cell = 3
run = 20
output = 1000000
[tasks.1]
title = "Double the number"
points = 2
[tasks.2]
title = "Write a function"
points = 4
hidden = 1
[tasks.3]
title = "Say the name"
points = 2
"""
PARAMETERS = """\
def make(rng):
    return {"number": rng.randrange(10, 1000), "name": rng.name("tiny")}
"""
CHECKS = """\
from grading.judge.checks import check, equal

@check(1, points=2, title="The number is doubled")
def doubled(x):
    yield equal("double", x.value("double", int), 2 * x.p.number)

@check(2, points=2, title="Words are reversed")
def words_reversed(x):
    words = x.value("reversed_words", list[str])
    yield equal("number of words", len(words), 4, must=True)
    yield equal("first word", words[0], "ba")
    yield equal("last word", words[-1], "edc")

@check(3, points=2, title="The name is said")
def name_said(x):
    yield equal("said", x.value("said", str), x.p.name)
"""
HIDDEN = """\
from grading.judge.checks import check, equal

@check(2, points=2, title="Any word is reversed", needs="words_reversed")
def any_word_reversed(x):
    word = "".join(x.rng.choices("abcdefg", k=9))
    yield equal(f"reverse of {word}", x.value(f"reverse({word!r})", str), word[::-1])
"""
HINTS = "## task-1\nTwice.\n\n## task-2\nSlices have a step.\n\n## task-3\nIt is p.name.\n"
WRONG = {
    "1_triple": """\
task = 1
why = "Triples"
fails = ["doubled"]
replace = { "2 * p.number" = "3 * p.number" }
""",
    "2_only_short_words": """\
task = 2
why = "Returns a reversed word for short words alone"
fails = ["any_word_reversed"]
replace = { "return text[::-1]" = "return text[::-1] if len(text) < 4 else text" }
""",
    "2_as_it_is": """\
task = 2
why = "Returns the word"
fails = ["words_reversed"]
also = ["any_word_reversed"]
replace = { "[::-1]" = "" }
""",
    "3_another_name": """\
task = 3
why = "Says another name"
fails = ["name_said"]
answer = 'said = "somebody"'
""",
}


def write_course(root: Path) -> Path:
    """A folder of a course that holds the tiny lab."""
    place = Place(root, "90_tiny")
    for folder in (place.student, place.teacher / "wrong"):
        folder.mkdir(parents=True)
    place.master.write_text(MASTER.replace("ROOT", repr(str(root))))
    (place.student / "lab.toml").write_text(TOML)
    (place.student / "parameters.py").write_text(PARAMETERS)
    (place.student / "checks.py").write_text(CHECKS)
    (place.student / "hints.md").write_text(HINTS)
    (place.teacher / "hidden.py").write_text(HIDDEN)
    for name, text in WRONG.items():
        (place.teacher / "wrong" / f"{name}.toml").write_text(text)
    return root


def forged() -> str:
    """A cell that writes full marks to wherever the process that grades writes."""
    names = ("doubled", "words_reversed", "any_word_reversed", "name_said")
    marks = [Result(name, Outcome.PASS) for name in names]
    evidence = Evidence(NAME, "anna", "a seed", results=marks, is_complete=True)
    line = json.dumps({"event": "done", "evidence": evidence.to_json(), "notebook": None}) + "\n"
    return f"""
import glob, os
for path in glob.glob(f"/proc/{{os.getppid()}}/fd/*"):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), {line.encode()!r})
    except OSError:
        pass
"""
