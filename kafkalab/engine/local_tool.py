"""A program of the Kafka distribution as a process of this machine."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from kafkalab import environment
from kafkalab.engine import ToolResult, java_command, tools
from kafkalab.wait import WaitTimeout


def run(
    script: str,
    arguments: Sequence[str],
    bootstrap: str,
    folder: Path,
    stdin: bytes | None,
    timeout: float,
) -> ToolResult:
    """Run it to its end, in the folder of a slot; WaitTimeout at the deadline.

    bootstrap: what takes the place of `{bootstrap}`.
    """
    command = [
        *java_command.tool(tools.main_class(script), folder),
        *(argument.replace("{bootstrap}", bootstrap) for argument in arguments),
    ]
    try:
        done = subprocess.run(
            command,
            input=stdin if stdin is not None else b"",
            capture_output=True,
            timeout=timeout,
            cwd=folder,
            env=environment.for_java(),
        )
    except subprocess.TimeoutExpired as late:
        written = (late.stdout or b"") + (late.stderr or b"")
        raise WaitTimeout(
            f"Waited {timeout:g} s for {script} to end.",
            f"It wrote: {written.decode(errors='replace')[-500:] or 'nothing'}",
        ) from None
    return ToolResult(
        done.returncode,
        done.stdout.decode(errors="replace"),
        done.stderr.decode(errors="replace"),
    )
