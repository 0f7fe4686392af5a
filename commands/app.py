"""`./course VERB`: the table of verbs, and what becomes of a failure.

A verb is a function of the same name in the module that the table (verbs.py) names; its
parameters are typer's, its docstring is its help. Only the module of the verb that was called is
imported, so that the command line answers at once.
"""

import importlib
import os
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import typer

from commands import refusals
from commands.verbs import ABOUT, VERBS
from kafkalab import environment, places
from kafkalab.errors import CourseError


def build(arguments: list[str]) -> typer.Typer:
    """The command line: the verb that `arguments` name is whole, the others are listed only."""
    app = typer.Typer(
        help=ABOUT,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    # A callback keeps `./course VERB` a verb even while the table has a single entry.
    @app.callback()
    def course() -> None: ...

    called = next((word for word in arguments if not word.startswith("-")), None)
    for name, verb in VERBS.items():
        function: Callable[..., object] = _listed_only
        if name == called:
            function = getattr(importlib.import_module(f"commands.{verb.module}"), name)
        app.command(
            name,
            short_help=verb.help,
            rich_help_panel=verb.panel,
            context_settings=verb.settings,
        )(function)
    return app


def main(arguments: list[str]) -> int:
    """Run the verb; the exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted."""
    try:
        build(arguments)(args=arguments, prog_name="./course")
    except SystemExit as end:
        if end.code == 130:
            print("\nInterrupted.", file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    except CourseError as error:
        print("\n".join(error.lines()), file=sys.stderr)
        return 1
    except Exception as error:
        if isinstance(error, OSError) and (refusal := refusals.explain(error)):
            print("\n".join(refusal.lines()), file=sys.stderr)
            return 1
        print(
            f"The course failed in a way it did not foresee ({type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}). The details are in {_write_down(arguments)}",
            file=sys.stderr,
        )
        return 1
    return 0


def _write_down(arguments: list[str]) -> Path:
    try:
        folder = places.cache() / "logs"
        folder.mkdir(exist_ok=True)
    except (CourseError, OSError):
        folder = Path(tempfile.mkdtemp(prefix="kafkalab-logs-"))
    log = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    log.write_text(f"./course {' '.join(arguments)}\n\n{traceback.format_exc()}", "utf-8")
    return log


def _listed_only() -> None:
    """Stands for a verb that was not called."""


if __name__ == "__main__":
    environment.clear()
    # Started in the background of a script, we were told to ignore Ctrl-C, and with us all kernels
    # and programs below. Their end by it is part of lessons.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
