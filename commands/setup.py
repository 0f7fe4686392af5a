"""`./course setup`: everything that would otherwise be fetched or recorded on first use."""

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from kafkalab import places
from kafkalab.java import aot, bundle, jars
from kafkalab.java.runtime import java
from kafkalab.progress import told


def setup(
    from_bundle: Annotated[
        Path | None,
        typer.Option("--bundle", metavar="FILE", help="Take the Java packages from this file."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the Java packages to this file."),
    ] = None,
) -> None:
    """Fetch the Java packages and prepare their quick start, now rather than on first use.

    For rooms without a network: make a file with --export where there is one, carry it there, and
    take it in with --bundle.
    """
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"Java {java().version} in {java().home}")
    if from_bundle:
        console.print(f"{bundle.read(from_bundle)} Java packages taken from {from_bundle}")
    for name in jars.names():
        files = jars.jars(name)
        size = sum(file.stat().st_size for file in files) / 1e6
        console.print(f"{name}: {len(files)} Java packages, {size:.0f} MB, verified")
    if export:
        console.print(f"{bundle.write(export)} Java packages written to {export}")
    for name in aot.ARCHIVES:
        began = time.monotonic()
        with told(partial(str, f"recording the quick start of {name} (about half a minute)")):
            archive = aot.record(name)
        took = time.monotonic() - began
        size = archive.stat().st_size / 1e6
        console.print(f"{name}: quick start of {size:.0f} MB, prepared in {took:.0f} s")
    console.print(f"All of it lies in {places.cache()}. Open the course: ./course lab")
