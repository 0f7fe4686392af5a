"""What the sandbox of this machine keeps from code in it: tried, not claimed."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from grading.sandbox import bubblewrap

PROGRAM = """
import ctypes, json, os, socket, sys
port, file, pid = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def can(what):
    try:
        what()
        return True
    except OSError:
        return False
def new_user_namespace():
    if ctypes.CDLL(None).unshare(0x10000000):
        raise OSError
print(json.dumps({
    "reaches servers here": can(lambda: socket.create_connection(("127.0.0.1", port), 3)),
    "has a way to other machines": can(lambda: socket.create_connection(("192.0.2.1", 9), 3)),
    "reads files of yours": can(lambda: open(file).read()),
    "changes files of yours": can(lambda: open(file, "a")),
    "sees other processes": os.path.exists(f"/proc/{pid}/status"),
    "reaches other processes": can(lambda: os.kill(pid, 0)),
    "gets rights in a namespace of its own": can(new_user_namespace),
}))
"""


def leaks() -> list[str]:
    """What code in a sandbox can do here that it must not; a NoSandbox where there is none."""
    program = bubblewrap.require()
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        file = Path(folder, "file")
        file.write_text("of this user")
        shown = [Path(path) for path in ("/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix)]
        done = subprocess.run(
            [
                *(program, *bubblewrap.APART, "--proc", "/proc", "--dev", "/dev"),
                *(part for path in shown for part in ("--ro-bind-try", str(path), str(path))),
                *(sys.executable, "-I", "-S", "-c", PROGRAM),
                *(str(server.getsockname()[1]), str(file), str(os.getpid())),
            ],
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode:
        return [f"runs nothing: {' '.join(done.stderr.split())[-300:]}"]
    return [words for words, is_so in json.loads(done.stdout).items() if is_so]
