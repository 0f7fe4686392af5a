"""From the base, the course's jars and the files in `context` to the image."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from python_on_whales import DockerClient

from authoring.image import base
from kafkalab.engine.tools import CLASSES
from kafkalab.java.jars import jars, locked

CONTEXT = Path(__file__).with_name("context")
LABEL = "kafkalab.stand-in"
SCRIPT = """#!/usr/bin/env bash
exec "$(dirname "$0")/kafka-run-class.sh" {main_class} "$@"
"""


def inputs(image: str) -> str:
    """A digest of everything that the image is made of."""
    files = {
        str(path.relative_to(CONTEXT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(CONTEXT.rglob("*"))
        if path.is_file()
    }
    sums = [jar.sha256 for jar in locked("kafka")]
    text = json.dumps([image, base.tag(), files, sums, SCRIPT, CLASSES])
    return hashlib.sha256(text.encode()).hexdigest()


def build(docker: DockerClient, image: str, base_image: str) -> None:
    """Build the image and give it the name of the official one."""
    with tempfile.TemporaryDirectory(prefix="kafkalab-image-") as scratch:
        context = Path(scratch) / "context"
        shutil.copytree(CONTEXT, context)
        (context / "libs").mkdir()
        for jar in jars("kafka"):
            shutil.copy2(jar, context / "libs")
        for script, main_class in CLASSES.items():
            path = context / "bin" / f"{script}.sh"
            path.write_text(SCRIPT.format(main_class=main_class))
            path.chmod(0o755)
        docker.legacy_build(
            context,
            build_args={"BASE": base_image},
            labels={LABEL: inputs(image)},
            tags=image,
        )
