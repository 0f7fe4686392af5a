"""`python -m delivery`: the programs and the care of their logs, in a terminal."""

from __future__ import annotations

import dataclasses
import inspect
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from kafka.errors import KafkaError

from delivery import payload
from delivery.options import ConsumerOptions, Options, ProducerOptions, defaults, flag
from delivery.programs import OWNED
from kafkalab.errors import CourseError

app = typer.Typer(
    help="The client programs of lab 05.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
TRUTH = {"true": True, "false": False}


def truth(text: str | bool) -> bool:
    """`true` or `false`: a lab says `auto-commit=false`, and so does the command line."""
    if str(text).lower() not in TRUTH:
        raise typer.BadParameter("say true or false")
    return TRUTH[str(text).lower()]


def program(kind: type[Options], run: Callable[[Any], int], help_text: str) -> Callable[..., None]:
    """A command with the options of a class."""

    def command(print_defaults: bool, **chosen: Any) -> None:
        if print_defaults:
            typer.echo(json.dumps(defaults(kind), indent=1))
            return
        raise typer.Exit(run(kind(**chosen)))

    parameters = [
        inspect.Parameter(
            "print_defaults",
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[
                bool, typer.Option("--print-defaults", help="Print the defaults as JSON, and end.")
            ],
        ),
        *(
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=_annotation(each),
            )
            for each in dataclasses.fields(kind)
        ),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__doc__ = help_text
    return command


def _annotation(each: dataclasses.Field[Any]) -> Any:
    unit = each.metadata["unit"]
    words = {"help": each.metadata["help"] + (f" ({unit})" if unit else "")}
    if "bool" in str(each.type):
        return Annotated[
            str | None, typer.Option(flag(each.name), parser=truth, metavar="true|false", **words)
        ]
    if choices := each.metadata.get("choices"):
        return Annotated[Literal[choices], typer.Option(flag(each.name), **words)]
    plain = int if "int" in str(each.type) else str
    return Annotated[plain | None, typer.Option(flag(each.name), **words)]


def _produce(options: ProducerOptions) -> int:
    from delivery.producing import produce

    return produce(options)


def _consume(options: ConsumerOptions) -> int:
    from delivery.consuming import consume

    return consume(options)


app.command("producer")(program(ProducerOptions, _produce, "Send numbered records, and log them."))
app.command("consumer")(program(ConsumerOptions, _consume, "Read records, and log them."))

Directory = Annotated[Path, typer.Argument(help="The folder of the run.")]


@app.command()
def collect(
    directory: Directory = Path("run"),
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Do not ask; replace what is there.")
    ] = False,
) -> None:
    """Merge the payload logs of each role into one sorted file."""
    try:
        taken = payload.collect(directory, overwrite)
    except CourseError as error:
        typer.echo(error.what)
        typer.confirm("Replace them?", abort=True)
        taken = payload.collect(directory, overwrite=True)
    for target, sources in taken.items():
        typer.echo(f"{target} from {', '.join(map(str, sources))}")


@app.command()
def remove(directory: Directory = Path("run")) -> None:
    """Delete the payload logs of both roles."""
    for path in payload.remove(directory):
        typer.echo(f"deleted {path}")


@app.command()
def control(
    word: Annotated[str, typer.Argument(help="quit, crash or wait")],
    topic: Annotated[str, typer.Option()] = "test-topic",
    bootstrap: Annotated[str | None, typer.Option()] = None,
) -> None:
    """Send a control record: the consumer that reads it ends, crashes or waits."""
    from kafka import KafkaProducer

    from delivery.settings import brokers
    from kafkalab import quick

    address = brokers(Options(topic=topic, bootstrap=bootstrap))
    producer = KafkaProducer(bootstrap_servers=address, **quick.producer)
    sent = producer.send(topic, word.encode()).get(timeout=10)
    typer.echo(f"{word} is record {sent.offset} of {topic} {sent.partition}")


def _end_with_owner() -> None:
    """A line to the owner that closes means that the owner is gone."""
    # Unbuffered: a thread that waits in a buffer would keep the interpreter from ending.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(1)


def main() -> None:
    # Ctrl-C ends a program as SIGTERM does: at once, with nothing tidied up.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.environ.get(OWNED):
        threading.Thread(target=_end_with_owner, daemon=True).start()
    try:
        app()
    except CourseError as error:
        print("\n".join(error.lines()), file=sys.stderr)
        sys.exit(1)
    except KafkaError as error:
        said = [str(error) or type(error).__name__, getattr(error, "description", None)]
        print(*filter(None, said), sep=": ", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
