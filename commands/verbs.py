"""The verbs of `./course`, by name: where each is found and what it is for.

A verb is there if its module is: the student edition comes without those of teachers and authors.
Standard library alone: the list is told before anything is installed.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ABOUT = "A course on Apache Kafka in JupyterLab that proves what it says."
LEARN, TEACH, WRITE, CARE = "Learn", "Teach", "Write lessons and labs", "Look after this machine"


@dataclass(frozen=True)
class Verb:
    module: str
    panel: str
    help: str
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        return Path(__file__).with_name(f"{self.module}.py").exists()


# Arguments that are not ours go on to the program that the verb runs.
PASS_ON = {"ignore_unknown_options": True, "allow_extra_args": True}

# What stands behind the first word that is no option is for another program.
REST_IS_PASSED_ON = {"allow_interspersed_args": False}

ALL = {
    "lab": Verb("lab", LEARN, "Open JupyterLab on the first lesson."),
    "check": Verb("check", LEARN, "Check your own lab: a fresh run, the public checks, hints."),
    "progress": Verb("progress", LEARN, "Show how far you are, and what comes next."),
    "reset": Verb("reset", LEARN, "Give a lesson or a lab a fresh page; keep yours aside."),
    "run": Verb("run", LEARN, "Run lessons without a browser; write HTML and a summary."),
    "up": Verb("cluster", LEARN, "Start a cluster without a notebook."),
    "down": Verb("cluster", LEARN, "Stop a cluster and forget its data."),
    "status": Verb("cluster", LEARN, "Show the clusters that run."),
    "logs": Verb("cluster", LEARN, "Show what a node of a cluster wrote."),
    "grade": Verb("grading", TEACH, "Grade a folder or an archive of hand-ins."),
    "report": Verb("grading", TEACH, "Write the pages of students and the class table anew."),
    "rescore": Verb("rescore", TEACH, "Make points anew from what was seen, without a run."),
    "release": Verb("release", TEACH, "Write the edition that students get, without solutions."),
    "review": Verb("review", TEACH, "Set a mark, a comment or an excuse by hand, with its reason."),
    "export": Verb("exporting", TEACH, "Write the marks for Moodle, Canvas or Gradescope."),
    "book": Verb("exporting", TEACH, "Show all labs of the class in one table."),
    "similar": Verb("exporting", TEACH, "List similar answers, to look at."),
    "verify": Verb("grading", TEACH, "Prove that the checks of a lab judge rightly."),
    "new": Verb("new", WRITE, "Begin a lesson or a lab from the template."),
    "build": Verb("build", WRITE, "Build the notebooks and labs from their sources."),
    "site": Verb("site", WRITE, "Write the executed lessons as a static site with a search."),
    "pictures": Verb("pictures", WRITE, "Make the pictures of the README anew from real runs."),
    "test": Verb("test", WRITE, "Run the tests.", PASS_ON),
    "bench": Verb(
        "bench", WRITE, "Measure the ratios that the course promises.", REST_IS_PASSED_ON
    ),
    "setup": Verb("setup", CARE, "Fetch and prepare everything now, or from a bundle."),
    "doctor": Verb("doctor", CARE, "Find out what is wrong here, and what mends it."),
}

VERBS = {name: verb for name, verb in ALL.items() if verb.is_there}
