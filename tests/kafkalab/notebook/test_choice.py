import pytest

from kafkalab.errors import CourseError
from kafkalab.notebook import kept
from kafkalab.notebook.choice import Choice

WIDGET = "application/vnd.jupyter.widget-view+json"
QUESTION = "Who leads then?"
ANSWERS = ("broker 0", "broker 1", "nobody")
WHY = {"broker 0": "it is dead.", "nobody": "two replicas are in sync.", "broker 1": "It is next."}


def test_without_a_choice_each_wrong_answer_is_explained():
    choice = Choice(QUESTION, *ANSWERS)
    assert repr(choice.against("broker 1", WHY)) == (
        "You did not choose. The answer of this run: broker 1. Not “broker 0”: it is dead. "
        "Not “nobody”: two replicas are in sync. It is next."
    )


def test_what_is_said_against_two_answers_is_said_once():
    why = {"broker 0": "both are dead.", "broker 2": "both are dead."}
    said = Choice("Who leads at last?", "broker 0", "broker 1", "broker 2").against("broker 1", why)
    assert repr(said) == (
        "You did not choose. The answer of this run: broker 1. "
        "Not “broker 0” nor “broker 2”: both are dead."
    )


def test_a_wrong_choice_is_explained_and_a_right_one_is_named():
    choice = Choice("Who leads now?", *ANSWERS)
    choice.keep("nobody")
    assert repr(choice.against("broker 1", WHY)) == (
        "You chose “nobody”: two replicas are in sync. "
        "The answer of this run: broker 1. It is next."
    )
    choice.keep("broker 1")
    assert repr(choice.against("broker 1", WHY)).startswith("You chose broker 1, and so it is.")


def test_each_wrong_answer_has_its_reason():
    with pytest.raises(CourseError, match="Nothing is said against nobody"):
        Choice(QUESTION, *ANSWERS).against("broker 1", {"broker 0": "it is dead"})
    with pytest.raises(CourseError, match="No answer of this choice: broker 7"):
        Choice(QUESTION, *ANSWERS).against("broker 7", WHY)
    with pytest.raises(CourseError, match="two answers or more"):
        Choice(QUESTION, "yes", "yes")


def test_it_is_kept_with_the_page(on_page, work):
    on_page("06_replication")
    choice = Choice(QUESTION, *ANSWERS)
    form = choice.form()
    form.button.click()
    assert form.status == "Choose one of them first."
    form.field.value = "nobody"
    assert form.status == "Kept: nobody. Go on and see."
    choice.against("broker 1", WHY)
    again = Choice(QUESTION, *ANSWERS)
    assert (again.chosen, again.form().field.value) == ("nobody", "nobody")
    assert kept.read(work)["06_replication"]["choices"][QUESTION] == {
        "chosen": "nobody",
        "right": "broker 1",
        "verdict": "off",
    }


def test_an_answer_that_is_gone_from_the_page_is_no_choice(on_page):
    on_page("06_replication")
    Choice(QUESTION, *ANSWERS).keep("nobody")
    assert Choice(QUESTION, "broker 0", "broker 1").chosen is None


def test_it_is_words_where_nobody_can_press():
    choice = Choice(QUESTION, *ANSWERS)
    assert set(choice._repr_mimebundle_()) == {"text/markdown", "text/plain"}
    assert "broker 0 / broker 1 / nobody" in repr(choice)
