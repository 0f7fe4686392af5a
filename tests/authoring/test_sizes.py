from authoring import percent, sizes
from authoring.sizes import Sizes

PAGE = """# %% [markdown]
# # 05 Title
#
# Six words stand **in** here, really?

# %% [markdown]
# You will
#
# **Needs** nothing; 5 minutes.

# %% tags=["parameters"]
a, b = 1, 2

# %% [markdown]
# ## An idea
#
# A **term**, the same **Term** and a **second one**.

# %%
long = [
    a,

    b,
]
c, d = long

# %% tags=["proof", "A7"]
assert (a, b) == (1, 2), "one"
assert a in (1, 2), "not this one"
e, f = 3, 4
e
f
e

# %% [markdown]
# ## When it goes wrong
#
# ## Your turn
#
# ## What you saw
"""


def test_a_page_is_measured_without_its_proofs() -> None:
    assert sizes.measure(percent.read(PAGE, "lessons/05_title.py")) == Sizes(
        page="05_title",
        words=34,
        cells=2,
        longest_cell=5,
        ideas=1,
        terms=2,
        parallel_assignments=2,
        tuple_asserts=1,
    )


def test_what_is_above_is_named() -> None:
    page = Sizes("x", 1_201, 20, 21, 5, 7, 3, 4)
    assert page.above(sizes.FIGURES) == ["words", "longest_cell", "terms", "tuple_asserts"]
    assert page.above(sizes.LIMITS) == ["longest_cell"]


def test_a_lab_is_as_long_as_its_blank_form() -> None:
    """Its tasks are no ideas, its check cells are all alike, its solutions are the student's."""
    task = '# %% tags=["task-{0}"]\n# Task {0}\n# BEGIN SOLUTION\n' + "x = 1\n" * 30
    lab = "".join(
        f"# %% [markdown]\n# ## Task {number}: x\n\n{task.format(number)}# END SOLUTION\n\n"
        f'# %% tags=["check-{number}"]\nlab.check({number})\n\n'
        for number in range(1, 8)
    )
    measured = sizes.measure(percent.read(lab, "grading/labs/02_x/lab.py"))
    assert (measured.page, measured.cells, measured.longest_cell) == ("lab02_x", 7, 2)
    assert measured.ideas == 0
