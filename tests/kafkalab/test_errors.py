"""A course error is told in plain lines, and survives a trip between processes."""

import pickle

from IPython.core.interactiveshell import InteractiveShell

from kafkalab.errors import CourseError

ERROR = CourseError("The broker is gone.", "It was killed.", "Start it: cluster.restart(1)")


def test_the_lines_leave_out_what_is_empty():
    assert CourseError("One.", mend="Three.").lines() == ["One.", "Three."]
    assert str(ERROR) == "The broker is gone.\nIt was killed.\nStart it: cluster.restart(1)"


def test_it_can_be_pickled():
    copy = pickle.loads(pickle.dumps(ERROR))

    assert (copy.what, copy.why, copy.mend) == (ERROR.what, ERROR.why, ERROR.mend)


def test_a_notebook_shows_the_lines_and_no_traceback(capsys):
    shell = InteractiveShell()
    shell.user_ns["error"] = ERROR

    shell.run_cell("raise error")

    assert capsys.readouterr().out.strip() == str(ERROR)
