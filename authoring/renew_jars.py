"""Write kafkalab/java/jars.json anew from the roots that it names.

    python -m authoring.renew_jars [SET ...]

Each root is resolved with all that it needs at run time. Review the difference: it is what every
learner's machine will run.
"""

import hashlib
import json
import re
import sys
import tempfile
from operator import itemgetter
from pathlib import Path

import pyspark

from kafkalab.java import ivy
from kafkalab.java.jars import LOCK_FILE


def renew(chosen: list[str]) -> None:
    """Resolve the sets named, or all."""
    sets = json.loads(LOCK_FILE.read_text("utf-8"))
    for name in chosen or list(sets):
        roots = [ivy.Artifact.parse(root) for root in sets[name]["roots"]]
        with tempfile.TemporaryDirectory() as work:
            paths = ivy.fetch(roots, Path(work), transitive=True)
            if sets[name].get("beside") == "pyspark":
                paths = [path for path in paths if not in_pyspark(ivy.cached(path).name)]
            files = sorted((entry(path) for path in paths), key=itemgetter("coordinate"))
            size = sum(path.stat().st_size for path in paths)
        sets[name]["files"] = files
        print(f"{name}: {len(files)} files, {size / 1e6:.1f} MB")
    LOCK_FILE.write_text(json.dumps(sets, indent=1) + "\n", "utf-8")


def in_pyspark(name: str) -> bool:
    """Whether PySpark has the artifact, in whichever version, on the class path of its driver."""
    jars = (Path(pyspark.__file__).parent / "jars").iterdir()
    return any(re.match(rf"{re.escape(name)}-\d", jar.name) for jar in jars)


def entry(path: Path) -> dict[str, str | int]:
    content = path.read_bytes()
    return {
        "coordinate": str(ivy.cached(path)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
    }


if __name__ == "__main__":
    renew(sys.argv[1:])
