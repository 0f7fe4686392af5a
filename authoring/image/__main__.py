"""See the package."""

from __future__ import annotations

import contextlib
import sys

from python_on_whales import DockerClient
from python_on_whales.exceptions import DockerException

from authoring.image import base, build
from kafkalab.engine import compose
from kafkalab.errors import CourseError


def main() -> None:
    image = compose.read("replicated").kafka[0].image
    docker = DockerClient()
    wanted = build.inputs(image)
    outdated = None
    if docker.image.exists(image):
        found = (docker.image.inspect(image).config.labels or {}).get(build.LABEL)
        if found in (None, wanted):
            print(f"{image} is here{' (the stand-in)' if found else ''}.")
            return
        outdated = docker.image.inspect(image).id
    elif _pulled(docker, image):
        print(f"{image} was pulled from its registry.")
        return
    print(f"Building a stand-in for {image} …", flush=True)
    build.build(docker, image, base.image(docker))
    if outdated:
        # Built anew it lost its name, and nobody would ever find it again.
        with contextlib.suppress(DockerException):
            docker.image.remove(outdated)
    size = docker.image.inspect(image).size
    print(f"{image} is here (the stand-in, {size / 1e6:.0f} MB).")


def _pulled(docker: DockerClient, image: str) -> bool:
    try:
        docker.pull(image, quiet=True)
    except DockerException:
        return False
    return True


if __name__ == "__main__":
    try:
        main()
    except CourseError as error:
        sys.exit(str(error))
    except DockerException as error:
        sys.exit(f"The image could not be built.\n{error.stdout or ''}{error.stderr or error}")
